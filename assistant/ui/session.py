"""What one browser session has open: the conversation, and which papers it is about."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from assistant.types import (
    Answer,
    AnswerFinished,
    Citation,
    Event,
    PassagesFound,
    Sentence,
    SentenceChecked,
    Status,
)
from assistant.visitors import Waiting
from vectorstore.filters import PaperFilter
from vectorstore.types import Paper, Passage, Span

Phase = Literal["searching", "writing", "finished", "stopped", "failed"]


@dataclass(frozen=True)
class Notice:
    """Why there is no answer: what happened, and what to do about it."""

    message: str
    hint: str


@dataclass
class Exchange:
    """A question and what has come of it so far."""

    question: str
    phase: Phase = "searching"
    ahead: int = 0
    """How many questions of others are answered before it."""
    passages: tuple[Passage, ...] = ()
    sentences: list[Sentence] = field(default_factory=list)
    answer: Answer | None = None
    notice: Notice | None = None
    suggestions: tuple[str, ...] = ()
    """What could be asked next."""
    judged: Literal["", "up", "down"] = ""
    """The reader's thumb."""
    judged_note: str = ""

    @property
    def is_live(self) -> bool:
        """Whether more is to come."""
        return self.phase in ("searching", "writing")

    @property
    def shown(self) -> list[Sentence]:
        """The sentences a reader sees."""
        return [sentence for sentence in self.sentences if sentence.shown]

    @property
    def citations(self) -> list[Citation]:
        """Those of the shown sentences."""
        return [citation for sentence in self.shown for citation in sentence.citations]

    @property
    def status(self) -> Status:
        """The answer's, once it is finished."""
        return self.answer.status if self.answer else "answered"

    def take(self, event: Event | Waiting) -> None:
        """Adds what `Assistant.stream`, or the line before it, gave next."""
        self.ahead = event.ahead if isinstance(event, Waiting) else 0
        if isinstance(event, PassagesFound):
            self.phase, self.passages = "writing", event.passages
        elif isinstance(event, SentenceChecked):
            self.sentences.append(event.sentence)
        elif isinstance(event, AnswerFinished):
            self.phase, self.answer = "finished", event.answer

    def stop(self) -> None:
        """Ends it as it is; what is finished already stays so."""
        if self.is_live:
            self.phase = "stopped"

    def fail(self, notice: Notice) -> None:
        """Ends it with a notice instead of what would have come."""
        self.phase, self.notice = "failed", notice


@dataclass
class Conversation:
    """The exchanges of one conversation, oldest first."""

    exchanges: list[Exchange] = field(default_factory=list)
    conversation_id: str = ""
    """What the browser keeps it by; empty before the first question."""
    edited: int | None = None
    """Which exchange, from 0, the next question replaces together with all that follow it."""

    @property
    def is_live(self) -> bool:
        """Whether an answer is being written."""
        return any(exchange.is_live for exchange in self.exchanges)

    def begin(self, question: str) -> Exchange:
        """A new exchange at the end. The notice on an empty question before it has been read, and goes."""
        if self.edited is not None:
            del self.exchanges[self.edited :]
        self.edited = None
        if self.exchanges and self.exchanges[-1].notice and not self.exchanges[-1].question.strip():
            self.exchanges.pop()
        self.conversation_id = self.conversation_id or uuid.uuid4().hex
        self.exchanges.append(Exchange(question))
        return self.exchanges[-1]

    def stop(self) -> None:
        """Ends what is being written."""
        for exchange in self.exchanges:
            exchange.stop()

    def history(self) -> list[dict[str, Any]]:
        """For `Assistant.stream`: the exchanges in which a sentence was shown, with their citations."""
        return [item for exchange in self.exchanges[: self.edited] if exchange.shown for item in _items(exchange)]

    def answers(self) -> list[Answer]:
        """The answers that were finished."""
        return [exchange.answer for exchange in self.exchanges if exchange.answer]

    def sources(self) -> list["Source"]:
        """The papers cited so far, by source number."""
        latest = next((exchange for exchange in reversed(self.exchanges) if exchange.shown), None)
        numbers = {c.number: c.paper for exchange in self.exchanges for c in exchange.citations}
        found = {p.paper.paper_id: p.why for exchange in self.exchanges for p in exchange.passages}
        return [
            Source(
                number=number,
                paper=numbers[number],
                quoted=_spans([c for exchange in self.exchanges for c in exchange.citations], number),
                quoted_last=_spans(latest.citations if latest else [], number),
                why=found.get(numbers[number].paper_id, ""),
            )
            for number in sorted(numbers)
        ]


@dataclass(frozen=True, kw_only=True)
class Source:
    """A cited paper and what was quoted of it."""

    number: int
    paper: Paper
    quoted: frozenset[Span]
    """In the whole conversation."""
    quoted_last: frozenset[Span]
    """By the last answer; empty when that does not cite this paper."""
    why: str = ""
    """Why the search found it, in words; empty when it did not, as with all papers of a list."""


@dataclass(frozen=True)
class Scope:
    """What questions are asked of."""

    collections: tuple[str, ...] = ()
    """The configured ones when it is empty."""
    within: PaperFilter | None = None
    named: str = ""
    """What a reader calls the papers that pass `within`."""

    def names(self, configured: Sequence[str]) -> tuple[str, ...]:
        """The names of the collections."""
        return self.collections or tuple(configured)


@dataclass
class Session:
    """One open page. Gradio makes each page its own copy of an empty one."""

    conversation: Conversation = field(default_factory=Conversation)
    scope: Scope = Scope()

    def clear(self) -> None:
        """Begins a new conversation, with its own source numbers. What was being written ends."""
        self.conversation.stop()
        self.conversation = Conversation()


def _spans(citations: Sequence[Citation], number: int) -> frozenset[Span]:
    return frozenset(citation.span for citation in citations if citation.number == number)


def _items(exchange: Exchange) -> list[dict[str, Any]]:
    text = exchange.answer.text if exchange.answer else " ".join(sentence.markdown for sentence in exchange.shown)
    citations = [citation.to_dict() for citation in exchange.citations]
    return [
        {"role": "user", "content": exchange.question},
        {"role": "assistant", "content": text, "citations": citations},
    ]
