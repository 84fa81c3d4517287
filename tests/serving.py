"""`assistant serve` for tests: as the program that users start, or as an application in a thread."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import uvicorn
from fastapi import FastAPI

ROOT = Path(__file__).parents[1]


@dataclass
class Program:
    """A running `assistant serve`."""

    process: subprocess.Popen[str]
    url: str
    output: str = ""
    """What it wrote; known once it has ended."""

    def end(self, how: signal.Signals) -> float:
        """Seconds from being told to end until it had."""
        start = time.monotonic()
        self.process.send_signal(how)
        self.output = self.process.communicate(timeout=40)[0]
        return time.monotonic() - start


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def program(*options: str, **environment: str) -> Iterator[Program]:
    """The program, once it answers; at the end it is killed if it still runs."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-c", "from assistant.cli import main; main()", "serve", "--port", str(port), *options],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    running = Program(process, f"http://127.0.0.1:{port}")
    try:
        _wait_for(running)
        yield running
    finally:
        process.kill()
        process.communicate()


def _wait_for(running: Program) -> None:
    for _ in range(600):
        if running.process.poll() is not None:
            raise RuntimeError(running.process.communicate()[0])
        try:
            httpx.get(f"{running.url}/health", timeout=1)
        except httpx.HTTPError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError("the server does not answer")


@contextmanager
def in_thread(build: Callable[[], FastAPI]) -> Iterator[str]:
    """The address of a real HTTP server; the application is built on its event loop, as Gradio would open another."""
    port = free_port()
    server = uvicorn.Server(
        uvicorn.Config(build, factory=True, port=port, log_level="error", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()
