"""Nothing is told of an answer unless the setting says so; then it reaches a real (loopback) collector."""

import gzip
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent import futures
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.fakes import KEY, MODEL, ModelServer, _OnLoopback
from tests.test_cli import ROOT, run

QUESTION = "Which GPU does LiftQuant fit on?"
_INGEST = {
    "use_multipart_endpoint": False,
    "size_limit": 100,
    "size_limit_bytes": 20_000_000,
    "scale_up_qsize_trigger": 1000,
    "scale_up_nthreads_limit": 16,
    "scale_down_nempty_trigger": 4,
}
SAID = "LiftQuant fits a 70B LLM on a 24GB GPU [1]."


@dataclass
class LangSmithServer(_OnLoopback):
    """Takes what a client of LangSmith sends."""

    bodies: list[str] = field(default_factory=list)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                server.bodies.append(self.path)
                self._reply({"version": "1", "batch_ingest_config": _INGEST})

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                plain = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
                server.bodies.append(plain.decode("utf-8", "replace"))
                self._reply({})

            def _reply(self, value: object) -> None:
                data = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        return Handler

    def runs(self) -> dict[str, dict[str, Any]]:
        """What is known of each run at last, by its name."""
        by_id: dict[str, dict[str, Any]] = {}
        for body in self.bodies:
            batch = json.loads(body) if body.startswith("{") else {}
            for part in [*batch.get("post", []), *batch.get("patch", [])]:
                known = {name: value for name, value in part.items() if value is not None}
                by_id.setdefault(part["id"], {}).update(known)
        return {found["name"]: found for found in by_id.values()}


class Collector(TraceServiceServicer):
    """Takes spans of OpenTelemetry."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.services: set[str] = set()
        self._server = grpc.server(futures.ThreadPoolExecutor(2))
        add_TraceServiceServicer_to_server(self, self._server)
        self.url = f"http://127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def Export(self, request: Any, context: Any) -> Any:
        for resource in request.resource_spans:
            about = resource.resource.attributes
            self.services |= {each.value.string_value for each in about if each.key == "service.name"}
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]
        return ExportTraceServiceResponse()

    def stop(self) -> None:
        self._server.stop(None)

    def facts(self, name: str) -> dict[str, Any]:
        """Of the first step of that name."""
        span = next(span for span in self.spans if span.name == name)
        return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}


@pytest.fixture
def langsmith() -> Iterator[LangSmithServer]:
    with LangSmithServer() as server:
        yield server


@pytest.fixture
def collector() -> Iterator[Collector]:
    running = Collector()
    yield running
    running.stop()


@pytest.fixture
def environment(
    built_in_data: Path, model_server: ModelServer, langsmith: LangSmithServer, collector: Collector
) -> dict[str, str]:
    """All variables by which other programs trace, and a model."""
    model_server.says(SAID)
    at = langsmith.url.removesuffix("/v1")
    return {
        "ASSISTANT_DATA_DIR": str(built_in_data),
        "ASSISTANT_MODEL": f"openai:{MODEL}",
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": model_server.url,
        "LANGSMITH_TRACING": "true",
        **{f"{prefix}_TRACING_V2": "true" for prefix in ("LANGSMITH", "LANGCHAIN")},
        **{f"{prefix}_ENDPOINT": at for prefix in ("LANGSMITH", "LANGCHAIN")},
        **{f"{prefix}_API_KEY": "lsv2-canary" for prefix in ("LANGSMITH", "LANGCHAIN")},
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": collector.url,
        "OTEL_TRACES_EXPORTER": "otlp",
        "CHROMA_OTEL_GRANULARITY": "all",
        "CHROMA_OTEL_COLLECTION_ENDPOINT": collector.url,
    }


@pytest.mark.parametrize(
    "command", [["ask", QUESTION], ["ask", "Hello!"], ["search", "quantization"], ["doctor"]], ids=" ".join
)
def test_no_variable_of_another_program_sends_anything(
    command: list[str], environment: dict[str, str], langsmith: LangSmithServer, collector: Collector
) -> None:
    done = run(*command, LANGCHAIN_TRACING="true", LANGCHAIN_HANDLER="langchain", **environment)
    assert done.returncode == 0, done.stderr
    assert "instead" not in done.stdout  # of what the model says
    assert langsmith.bodies == []
    assert collector.spans == []


def test_neither_does_the_chat_nor_an_evaluation_nor_a_script(
    environment: dict[str, str],
    model_server: ModelServer,
    langsmith: LangSmithServer,
    collector: Collector,
    tmp_path: Path,
) -> None:
    (tmp_path / "set.jsonl").write_text(json.dumps({"id": "a", "question": QUESTION, "papers": ["LiftQuant"]}), "utf-8")
    chat = (
        "import asyncio; from assistant.app import Assistants; from assistant.settings import load_settings;"
        "from assistant.ui.chat import ChatActions; from assistant.ui.session import Session;"
        "actions = ChatActions(Assistants(load_settings()))\n"
        "from gradio import Request; request = Request(username='ada')\n"
        f"async def ask(): return [page async for page in actions.ask({QUESTION!r}, Session(), request)]\n"
        "assert '24GB' in asyncio.run(ask())[-1][0]\n"
        f"from assistant import build_assistant; build_assistant().ask({QUESTION!r})"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run([sys.executable, "-c", chat], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(model_server.requests) == 2
    done = run("evaluate", "set.jsonl", "--judge", f"openai:{MODEL}", **environment)
    assert done.returncode == 0, done.stderr
    assert langsmith.bodies == []
    assert collector.spans == []


def test_langsmith_is_told_of_steps_and_requests_when_the_setting_says_so(
    environment: dict[str, str], langsmith: LangSmithServer, collector: Collector
) -> None:
    wanted = {name: value for name, value in environment.items() if "TRACING" not in name}
    done = run("ask", QUESTION, ASSISTANT_TRACING="langsmith", **wanted)
    assert "[1] LiftQuant" in done.stdout
    assert "Error" not in done.stderr
    runs = langsmith.runs()
    assert runs["ask"]["outputs"]["assistant.status"] == "answered"
    for child, parent in (("judge", "ask"), ("search", "judge"), ("write", "ask"), ("ChatOpenAI", "write")):
        assert runs[child]["parent_run_id"] == runs[parent]["id"], child
    assert QUESTION in json.dumps(runs["ChatOpenAI"]["inputs"])
    assert all(run["end_time"] for run in runs.values())
    assert collector.spans == []
    assert "canary" not in done.stdout + done.stderr


def test_a_collector_is_told_of_steps_without_texts_when_the_setting_says_so(
    environment: dict[str, str], langsmith: LangSmithServer, collector: Collector
) -> None:
    done = run("ask", QUESTION, ASSISTANT_TRACING="opentelemetry", **environment)
    assert "[1] LiftQuant" in done.stdout
    assert langsmith.bodies == []
    by_name = {span.name: span for span in collector.spans}
    assert set(by_name) == {"ask", "judge", "search", "write"}
    assert len({span.trace_id for span in collector.spans}) == 1
    for child, parent in (("judge", "ask"), ("search", "judge"), ("write", "ask")):
        assert by_name[child].parent_span_id == by_name[parent].span_id
    assert collector.facts("ask") == {
        "assistant.writer": f"openai:{MODEL}",
        "assistant.kind": "fact",
        "assistant.status": "answered",
        "assistant.citations": 1,
    }
    assert collector.facts("write")["gen_ai.usage.input_tokens"] == 100
    assert collector.services == {"abstract-assistant"}
    sent = b"".join(span.SerializeToString() for span in collector.spans)
    assert not [text for text in (QUESTION, "LiftQuant", "24GB", KEY) if text.encode() in sent]


def test_a_failing_model_is_a_fact_without_its_text(
    environment: dict[str, str], model_server: ModelServer, collector: Collector
) -> None:
    model_server.replies[:] = []
    model_server.says("", status=403)
    assert run("ask", QUESTION, ASSISTANT_TRACING="opentelemetry", **environment).returncode == 1
    assert collector.facts("write")["error.type"] == "ModelRefused"
    assert collector.facts("ask")["error.type"] == "ModelRefused"


def test_answers_at_the_same_time_are_told_apart(environment: dict[str, str], collector: Collector) -> None:
    code = (
        "import asyncio; from assistant import build_assistant; a = build_assistant()\n"
        "async def main(): await asyncio.gather(*(a.aask('What is LiftQuant?') for _ in range(4)))\n"
        "asyncio.run(main())"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment, "ASSISTANT_TRACING": "opentelemetry"}
    subprocess.run([sys.executable, "-c", code], env=env, check=True, timeout=120)
    roots = {span.trace_id: span.span_id for span in collector.spans if span.name == "ask"}
    assert len(roots) == 4
    for span in collector.spans:
        if span.name in ("judge", "write"):
            assert span.parent_span_id == roots[span.trace_id]


def test_a_collector_that_is_not_there_costs_no_answer(environment: dict[str, str]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        gone = {**environment, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"http://127.0.0.1:{unused.getsockname()[1]}"}
        done = run("ask", QUESTION, ASSISTANT_TRACING="opentelemetry", OTEL_EXPORTER_OTLP_TIMEOUT="1", **gone)
    assert done.returncode == 0
    assert "[1] LiftQuant" in done.stdout
    assert "Traceback" not in done.stderr


def test_a_protocol_without_its_package_is_a_known_error(environment: dict[str, str]) -> None:
    http = {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "ASSISTANT_TRACING": "opentelemetry"}
    done = run("ask", QUESTION, **environment, **http)
    assert done.returncode == 1
    assert "pip install opentelemetry-exporter-otlp-proto-http" in done.stderr
    assert "ASSISTANT_TRACING" in run("ask", "x", ASSISTANT_TRACING="somebody").stderr
