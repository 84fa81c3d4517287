"""The steps of an answer, told to LangSmith or to a collector of OpenTelemetry: only when the setting says so.

A step is told by its name, its time and a few facts: counts, status, names of models. Questions, answers and texts of
papers are in none; but LangSmith also gets each request to a chat model with all that is in it, its purpose.
"""

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from importlib import import_module
from threading import Event as Stop
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, cast

from assistant.chain import Assistant
from assistant.errors import SettingsError
from assistant.evidence import EvidenceJudge
from assistant.quoting import Writer
from assistant.types import AnswerFinished, Declined, Event, Evidence, Question, Sentence, Usage
from vectorstore.retrieval import Retriever
from vectorstore.types import Passage

if TYPE_CHECKING:
    from langsmith.run_trees import RunTree
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span

    from assistant.conversation import SourceNumbers

Target = Literal["langsmith", "opentelemetry"]
Facts = dict[str, str | int]
Item = TypeVar("Item")
_SERVICE = "abstract-assistant"


class Step(Protocol):
    """Something that has begun."""

    def current(self) -> AbstractContextManager[object]:
        """What begins within it is a part of this step."""
        ...

    def end(self, facts: Facts, error: str | None) -> None:
        """It is over; `error` is the kind of error that ended it."""
        ...


class Tracing(Protocol):
    """Where steps are told."""

    def begin(self, name: str) -> Step:
        """A part of the step that is current."""
        ...


def tracing_to(target: Target) -> Tracing:
    """Addresses and keys are in the variables that LangSmith (LANGSMITH_...) and OpenTelemetry (OTEL_...) name."""
    return _LangSmith() if target == "langsmith" else _OpenTelemetry()


class TracedAssistant(Assistant):
    """Tells each answer."""

    def __init__(self, tracing: Tracing, **parts: Any) -> None:
        super().__init__(**parts)
        self._tracing = tracing

    def stream(self, *args: Any, **kwargs: Any) -> Iterator[Event]:
        """As that of an assistant."""
        return _told(self._tracing, "ask", super().stream(*args, **kwargs), _facts_of_event, last=AnswerFinished)

    def compare(self, *args: Any, **kwargs: Any) -> Iterator[Event]:
        """As that of an assistant."""
        return _told(self._tracing, "compare", super().compare(*args, **kwargs), _facts_of_event, last=AnswerFinished)


class TracedJudge(EvidenceJudge):
    """Tells each judgement."""

    def __init__(self, tracing: Tracing, *parts: Any) -> None:
        super().__init__(*parts)
        self._tracing = tracing

    def weigh(self, question: Question) -> Evidence:
        """As that of a judge."""
        with _step(self._tracing, "judge") as facts:
            evidence = super().weigh(question)
            facts |= {"assistant.status": evidence.status, "assistant.papers": len(evidence.papers)}
            return evidence


class TracedRetriever(Retriever):
    """Tells each search."""

    def __init__(self, tracing: Tracing, *parts: Any) -> None:
        super().__init__(*parts)
        self._tracing = tracing

    def search(self, *args: Any, **kwargs: Any) -> list[Passage]:
        """As that of a retriever."""
        with _step(self._tracing, "search") as facts:
            passages = super().search(*args, **kwargs)
            facts["assistant.passages"] = len(passages)
            return passages


class TracedWriter:
    """Tells when another writer writes, and what the model used."""

    def __init__(self, tracing: Tracing, writer: Writer) -> None:
        self.name = writer.name
        self._tracing = tracing
        self._writer = writer

    def write(
        self, question: Question, evidence: Evidence, numbers: "SourceNumbers", stop: Stop
    ) -> Iterator[Sentence | Usage | Declined]:
        """As that of the other."""
        written = self._writer.write(question, evidence, numbers, stop)
        return _told(self._tracing, "write", written, self._facts_of_item)

    def _facts_of_item(self, item: Sentence | Usage | Declined) -> Facts:
        used = Facts()
        if isinstance(item, Usage):
            used = {"gen_ai.usage.input_tokens": item.input_tokens, "gen_ai.usage.output_tokens": item.output_tokens}
        return {"gen_ai.request.model": self.name, **used}


def _facts_of_event(event: Event) -> Facts:
    if not isinstance(event, AnswerFinished):
        return {}
    answer = event.answer
    return {
        "assistant.writer": answer.writer,
        "assistant.kind": answer.kind,
        "assistant.status": answer.status,
        "assistant.citations": len(answer.citations),
    }


@contextmanager
def _step(tracing: Tracing, name: str) -> Iterator[Facts]:
    """Tells what is done within it, with the facts that are put into what it gives."""
    step, facts, error = tracing.begin(name), Facts(), None
    try:
        with step.current():
            yield facts
    except BaseException as raised:
        error = type(raised).__name__
        raise
    finally:
        step.end(facts, error)


def _told(
    tracing: Tracing,
    name: str,
    items: Iterator[Item],
    facts_of: Callable[[Item], Facts],
    *,
    last: type[object] = NoneType,
) -> Generator[Item]:
    """Tells a step whose items come one by one: it is current only while the next one is made, not while it is used.

    With an item of the type `last` it is over: a program may end before it asks for another.
    """
    step, facts, error = tracing.begin(name), Facts(), None
    final: list[Item] = []
    try:
        with closing(cast("Generator[Item]", items)):
            while not final:
                with step.current():
                    item = next(items, _END)
                if item is _END:
                    return
                facts |= facts_of(cast("Item", item))
                if isinstance(item, last):
                    final.append(cast("Item", item))
                else:
                    yield cast("Item", item)
    except GeneratorExit:
        raise  # whoever listened has left, which is no error
    except BaseException as raised:
        error = type(raised).__name__
        raise
    finally:
        step.end(facts, error)
    yield from final


_END = object()


class _LangSmith:
    """Runs of LangSmith, sent by a thread of its client."""

    def begin(self, name: str) -> Step:
        from langsmith.run_helpers import get_current_run_tree
        from langsmith.run_trees import RunTree

        parent = get_current_run_tree()
        run = parent.create_child(name) if parent else RunTree(name=name)
        run.post()
        return _Run(run)


class _Run:
    def __init__(self, run: "RunTree") -> None:
        self._run = run

    def current(self) -> AbstractContextManager[object]:
        from langsmith import tracing_context

        return tracing_context(parent=self._run, enabled=True)

    def end(self, facts: Facts, error: str | None) -> None:
        self._run.end(outputs=dict(facts), error=error)
        self._run.patch()


class _OpenTelemetry:
    """Spans, sent by a thread of their own; they go nowhere else, whatever else in this process uses OpenTelemetry."""

    def __init__(self) -> None:
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        resource = Resource.create({SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME") or _SERVICE})
        provider = TracerProvider(resource=resource)
        provider.add_span_processor(BatchSpanProcessor(_exporter()))
        self._tracer = provider.get_tracer(_SERVICE)

    def begin(self, name: str) -> Step:
        return _Span(self._tracer.start_span(name))


class _Span:
    def __init__(self, span: "Span") -> None:
        self._span = span

    def current(self) -> AbstractContextManager[object]:
        from opentelemetry.trace import use_span

        return use_span(self._span, record_exception=False, set_status_on_exception=False)  # an error's text is no fact

    def end(self, facts: Facts, error: str | None) -> None:
        from opentelemetry.trace import StatusCode

        self._span.set_attributes(facts)
        if error:
            self._span.set_attribute("error.type", error)
            self._span.set_status(StatusCode.ERROR)
        self._span.end()


def _exporter() -> "SpanExporter":
    """By gRPC, which comes with Chroma; by HTTP when the standard variables say so and its package is there."""
    names = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
    protocol = next(filter(None, map(os.environ.get, names)), "grpc")
    if protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter()
    try:
        http = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError:
        raise SettingsError(
            f"The protocol {protocol!r} of OpenTelemetry needs a package that is not installed.",
            "Run: pip install opentelemetry-exporter-otlp-proto-http; or set OTEL_EXPORTER_OTLP_PROTOCOL=grpc.",
        ) from None
    return cast("SpanExporter", http.OTLPSpanExporter())
