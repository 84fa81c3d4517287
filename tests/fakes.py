"""Servers on loopback: a fake for a paid service whose replies a test writes, and a proxy that breaks what is real.

The fake speaks the OpenAI protocol and discriminates: it checks the key and the model's name, remembers each request,
and notices a client that leaves. The proxy stands before a real server and does to a reply what a network does.
"""

import base64
import hashlib
import json
import math
import re
import select
import socket
import struct
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

KEY = "sk-canary-5f2a91"
MODEL = "scripted-1"


@dataclass
class Reply:
    """What the server does with one chat request."""

    text: str = ""
    status: int = 200
    finish_reason: str | None = "stop"
    """None cuts the stream: no finish reason, no final marker."""
    seconds_between_words: float = 0.0
    silent_seconds: float = 0.0
    """How long nothing at all is sent."""


class _OnLoopback:
    """Listens on a free port inside its `with` block."""

    def __enter__(self) -> Self:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        raise NotImplementedError


@dataclass
class ModelServer(_OnLoopback):
    """`with ModelServer() as server: server.replies.append(Reply("..."))`; the last reply is repeated."""

    replies: list[Reply] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    model: str | None = MODEL
    """The one that it knows; None knows all."""
    client_left: threading.Event = field(default_factory=threading.Event)
    sent_all: threading.Event = field(default_factory=threading.Event)

    @property
    def settings(self) -> dict[str, Any]:
        """Keywords for `build_assistant`."""
        return {"model": f"openai:{MODEL}", "openai_api_key": KEY, "openai_base_url": self.url}

    def says(self, text: str, **how: Any) -> None:
        self.replies.append(Reply(text, **how))

    def next_reply(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def prompt(self, request: int = -1) -> str:
        """All the text that the model was sent."""
        return "\n".join(str(message["content"]) for message in self.requests[request]["messages"])

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        return _handler(self)


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:  # noqa: C901  # one class, many short methods
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.requests.append(body)
            if self.headers["Authorization"] != f"Bearer {KEY}":
                return self._fail(401, f"Incorrect API key provided: {self.headers['Authorization']}")
            if self.path == "/v1/embeddings":
                return self._json(_embeddings(body))
            if server.model not in (None, body["model"]):
                return self._fail(404, f"The model {body['model']} does not exist")
            reply = server.next_reply()
            try:
                self._wait(reply.silent_seconds)
                if reply.status != 200:
                    return self._fail(reply.status, "as told")
                self._stream(reply) if body.get("stream") else self._json(_completion(reply))
            except (BrokenPipeError, ConnectionResetError):
                server.client_left.set()

        def _fail(self, status: int, message: str) -> None:
            self._json({"error": {"message": message, "type": "error", "code": status}}, status)

        def _json(self, value: object, status: int = 200) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, reply: Reply) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for word in re.findall(r"\S+\s*|\s+", reply.text):
                self._event({"delta": {"content": word}, "index": 0, "finish_reason": None})
                self._wait(reply.seconds_between_words)
            if reply.finish_reason is not None:
                self._event({"delta": {}, "index": 0, "finish_reason": reply.finish_reason})
                self._write({**_frame([]), "usage": _usage(reply)})
                self.wfile.write(b"data: [DONE]\n\n")
            self.close_connection = True
            server.sent_all.set()

        def _wait(self, seconds: float) -> None:
            """Sends nothing for so long; a client that leaves meanwhile is noticed at once."""
            readable, _, _ = select.select([self.connection], [], [], seconds)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                raise ConnectionResetError

        def _event(self, choice: dict[str, Any]) -> None:
            self._write(_frame([choice]))

        def _write(self, frame: dict[str, Any]) -> None:
            self.wfile.write(f"data: {json.dumps(frame)}\n\n".encode())
            self.wfile.flush()

    return Handler


def _frame(choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": choices}


def _usage(reply: Reply) -> dict[str, int]:
    words = len(reply.text.split())
    return {"prompt_tokens": 100, "completion_tokens": words, "total_tokens": 100 + words}


def _completion(reply: Reply) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
        "usage": _usage(reply),
    }


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """Vectors that differ with the words of a text, so that ranking by them means something."""
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    data = [{"object": "embedding", "index": row, "embedding": word_vector(text)} for row, text in enumerate(texts)]
    return {"object": "list", "data": data, "model": body["model"], "usage": {"prompt_tokens": 1, "total_tokens": 1}}


@dataclass
class EmbeddingServer(_OnLoopback):
    """Speaks the OpenAI protocol for embeddings, and counts words as tokens.

    `faults` make of the right reply to a request another one, or a status, or a pause in seconds; each is used once.
    """

    faults: list[Callable[[dict[str, Any]], dict[str, Any] | int | float]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """All that were embedded, in order."""
    asked: int = 0

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.asked += 1
                reply: dict[str, Any] | int | float = server.reply_to(body)
                if self.headers["Authorization"] != f"Bearer {KEY}" or self.path != "/v1/embeddings":
                    reply = 401
                elif server.faults:
                    reply = server.faults.pop(0)(server.reply_to(body))
                if isinstance(reply, float):
                    return time.sleep(reply)
                if isinstance(reply, dict):
                    server.texts += body["input"]
                self.send_response(reply if isinstance(reply, int) else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Retry-After-Ms", "10")
                self.end_headers()
                self.wfile.write(json.dumps(reply).encode())

        return Handler

    def reply_to(self, body: dict[str, Any]) -> dict[str, Any]:
        reply = _embeddings(body)
        if body.get("encoding_format") == "base64":
            for vector in reply["data"]:
                packed = struct.pack(f"<{len(vector['embedding'])}f", *vector["embedding"])
                vector["embedding"] = base64.b64encode(packed).decode()
        words = sum(len(text.split()) for text in body["input"])
        return {**reply, "usage": {"prompt_tokens": words, "total_tokens": words}}


def word_vector(text: str, dimensions: int = 64) -> list[float]:
    """Counts of the words of `text`, each in a place of its own, at unit length."""
    vector = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()):
        vector[int(hashlib.md5(word.encode()).hexdigest(), 16) % dimensions] += 1.0
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]


@dataclass
class Fault:
    """What goes wrong with one chat request on its way to a real server and back; by itself, nothing."""

    status: int = 200
    """Another one is the proxy's own answer."""
    retry_after: str | None = None
    changes: dict[str, Any] = field(default_factory=dict)
    """Of the request's fields; None takes one out."""
    silent_seconds: float = 0.0
    """How long nothing at all is sent before the line is closed."""
    comments: int = 0
    """How many of them, ten a second, keep the line open instead of a reply."""
    replaced: dict[int, bytes] = field(default_factory=dict)
    """What is sent for the event of that number."""
    cut_after: int | None = None
    """How many events are sent before the reply just ends."""
    torn: bool = False
    """At its end, the reply is shorter than was announced."""
    gate: threading.Event | None = None
    """The end of the reply is held back until it is set."""

    def changed(self, body: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in {**body, **self.changes}.items() if value is not None}


@dataclass
class Exchange:
    """One request that reached the real server, and what it answered."""

    body: dict[str, Any]
    frames: list[dict[str, Any]] = field(default_factory=list)
    client_left: threading.Event = field(default_factory=threading.Event)
    end_sent: threading.Event = field(default_factory=threading.Event)

    @property
    def text(self) -> str:
        return "".join(choice["delta"].get("content") or "" for frame in self.frames for choice in frame["choices"])

    @property
    def usage(self) -> dict[str, int]:
        return next(frame["usage"] for frame in self.frames if frame.get("usage"))


@dataclass
class FaultyProxy(_OnLoopback):
    """`with FaultyProxy(url) as proxy: proxy.faults.append(Fault(...))`; a request takes one, the last is repeated."""

    target: str
    faults: list[Fault] = field(default_factory=list)
    asked_at: list[float] = field(default_factory=list)
    """When each request came."""
    exchanges: list[Exchange] = field(default_factory=list)

    def forget(self) -> None:
        self.faults, self.asked_at, self.exchanges = [], [], []

    def next_fault(self) -> Fault:
        return self.faults.pop(0) if len(self.faults) > 1 else next(iter(self.faults), Fault())

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        return _proxy_handler(self)


def _proxy_handler(proxy: FaultyProxy) -> type[BaseHTTPRequestHandler]:  # noqa: C901  # as above
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            proxy.asked_at.append(time.time())
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fault = proxy.next_fault()
            if fault.silent_seconds:
                return time.sleep(fault.silent_seconds)
            if fault.status != 200:
                return self._begin(fault)
            exchange = Exchange(fault.changed(body))
            proxy.exchanges.append(exchange)
            try:
                self._begin(fault)
                self._comment(fault) if fault.comments else self._pass_on(exchange, fault)
            except (BrokenPipeError, ConnectionResetError):
                exchange.client_left.set()

        def _begin(self, fault: Fault) -> None:
            self.send_response(fault.status)
            self.send_header("Content-Type", "text/event-stream")
            if fault.retry_after:
                self.send_header("Retry-After", fault.retry_after)
            if fault.torn:
                self.send_header("Content-Length", "1000000")
            self.end_headers()

        def _comment(self, fault: Fault) -> None:
            for _ in range(fault.comments):
                self.wfile.write(b": still here\n\n")
                time.sleep(0.1)

        def _pass_on(self, exchange: Exchange, fault: Fault) -> None:
            for number, event in enumerate(_events(proxy.target, exchange)):
                if number == fault.cut_after:
                    return
                if fault.gate:
                    self._hold_back_the_end(exchange, fault.gate)
                self.wfile.write(fault.replaced.get(number, event))

        def _hold_back_the_end(self, exchange: Exchange, gate: threading.Event) -> None:
            if any(choice["finish_reason"] for choice in exchange.frames[-1]["choices"]):
                gate.wait(10)
                exchange.end_sent.set()

    return Handler


def _events(target: str, exchange: Exchange) -> Iterator[bytes]:
    """The events that the server at `target` streams in reply; leaving off ends the request."""
    request = urllib.request.Request(
        f"{target}/chat/completions", json.dumps(exchange.body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        for line in response:
            if line.startswith(b"data: {"):
                exchange.frames.append(json.loads(line.removeprefix(b"data: ")))
            if line.startswith(b"data: "):
                yield line + b"\n"
