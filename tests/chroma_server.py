"""A real Chroma server on loopback, as `chroma run` starts it, and others that could be met in its place."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_STARTS_IN_SECONDS = 60


@dataclass
class RunningChroma:
    """`chroma run` over one folder, at the same address each time it is started."""

    folder: Path
    port: int = field(init=False)

    def __post_init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        chroma = Path(sys.executable).with_name("chroma")
        command = [str(chroma), "run", "--host", "127.0.0.1", "--port", str(self.port), "--path", str(self.folder)]
        with (self.folder.parent / "chroma.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        until = time.monotonic() + _STARTS_IN_SECONDS
        while not self._answers():
            assert self._process.poll() is None, (self.folder.parent / "chroma.log").read_text("utf-8")
            assert time.monotonic() < until, "the Chroma server does not start"
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        os.kill(self._process.pid, how)
        self._process.wait(timeout=30)

    def pause(self) -> None:
        """It keeps its connections and says nothing."""
        os.kill(self._process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self._process.pid, signal.SIGCONT)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/api/v2/heartbeat", timeout=5) as reply:
                return bool(reply.status == 200)
        except OSError:
            return False


@contextmanager
def running_chroma(folder: Path) -> Iterator[RunningChroma]:
    """A server over `folder`, for as long as the block runs."""
    server = RunningChroma(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop(signal.SIGKILL)


@contextmanager
def token_proxy(target: str, token: str) -> Iterator[str]:
    """The address of a proxy that lets requests with that bearer token through to `target`."""
    with _answering(_proxy_handler(target, token)) as url:
        yield url


@contextmanager
def web_page() -> Iterator[str]:
    """The address of a server that is no Chroma server."""

    class Handler(_Quiet):
        def do_GET(self) -> None:
            self.reply(200, b"<html>Welcome!</html>")

    with _answering(Handler) as url:
        yield url


@contextmanager
def silent_server() -> Iterator[str]:
    """The address of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


class _Quiet(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass

    def reply(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _proxy_handler(target: str, token: str) -> type[BaseHTTPRequestHandler]:
    class Handler(_Quiet):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers["Authorization"] != f"Bearer {token}":
                return self.reply(401, f"Not let in: {self.headers['Authorization']}".encode())
            request = urllib.request.Request(f"{target}{self.path}", body or None, method=self.command)
            request.add_header("Content-Type", "application/json")
            try:
                with urllib.request.urlopen(request, timeout=30) as reply:
                    self.reply(reply.status, reply.read())
            except urllib.error.HTTPError as error:
                with error:
                    self.reply(error.code, error.read())

        do_POST = do_PUT = do_DELETE = do_GET

    return Handler


@contextmanager
def _answering(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    http.daemon_threads = True
    threading.Thread(target=http.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{http.server_port}"
    finally:
        http.shutdown()
        http.server_close()
