"""A model server as slow as a real one; its reply is made from the question, so that none fits another."""

import hashlib
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from vectorstore.sentences import sentence_spans

NAME = "slow-1"
_SOURCE = re.compile(r"\[(\d)\]\n(=+ \w+ =+)\n.*\n(?P<abstract>.*)\n\2")
_BEFORE_QUESTION = "uestion: "
"""Of all prompts, at its last place; abstracts may have it too."""
_SENTENCES = 2
_CONCURRENT = 256


@contextmanager
def slow_model(seconds_between_words: float) -> Iterator[str]:
    """Its address as `OPENAI_BASE_URL`."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Logs nothing."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            with suppress(ConnectionError):
                for word in re.findall(r"\S+\s*", reply_to(body["messages"][-1]["content"])):
                    self._send({"delta": {"content": word}, "index": 0, "finish_reason": None})
                    time.sleep(seconds_between_words)
                self._send({"delta": {}, "index": 0, "finish_reason": "stop"})
                self.wfile.write(b"data: [DONE]\n\n")

        def _send(self, choice: dict[str, Any]) -> None:
            head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": NAME}
            self.wfile.write(f"data: {json.dumps({**head, 'choices': [choice]})}\n\n".encode())

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = _CONCURRENT

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def reply_to(prompt: str) -> str:
    """Sentences of the first source, chosen by the question; a question that is to be made standalone is repeated."""
    question = prompt.rpartition(_BEFORE_QUESTION)[2].strip()
    source = _SOURCE.search(prompt)
    if source is None:
        return question
    sentences = [span.of(source["abstract"]) for span in sentence_spans(source["abstract"])]
    start = int(hashlib.sha256(question.encode()).hexdigest(), 16)
    chosen = [sentences[(start + at) % len(sentences)] for at in range(min(_SENTENCES, len(sentences)))]
    return " ".join(f"{sentence.rstrip('.')} [{source[1]}]." for sentence in chosen)
