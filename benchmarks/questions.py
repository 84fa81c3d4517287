"""The first question set: its questions, and what our assistant makes of them."""

import json
import time
from dataclasses import dataclass
from pathlib import Path

from assistant.chain import Assistant
from assistant.types import Answer
from benchmarks.common import ROOT
from vectorstore.types import Paper

PaperKey = tuple[str, int]
"""First three characters of the file's name, and the position in it."""


@dataclass(frozen=True, kw_only=True)
class AskedQuestion:
    """One line of a question file."""

    id: str
    kind: str
    question: str
    history: tuple[str, ...]
    papers: frozenset[PaperKey]
    facts: tuple[tuple[str, ...], ...]
    status: str


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a system made of a question."""

    asked: AskedQuestion
    status: str
    papers: tuple[PaperKey, ...]
    text: str
    words_quoted: int
    seconds: float

    @property
    def right_paper_first(self) -> bool:
        """Whether the first paper is one of the right ones."""
        return bool(self.papers) and self.papers[0] in self.asked.papers

    @property
    def facts_found(self) -> list[bool]:
        """For each fact, whether one of its variants stands in the text."""
        return [any(variant.lower() in self.text.lower() for variant in fact) for fact in self.asked.facts]


def read_questions(half: str) -> list[AskedQuestion]:
    """The questions of one half."""
    path = ROOT / "benchmarks" / "data" / f"questions_{half}.jsonl"
    return [_question(json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def _question(row: dict[str, object]) -> AskedQuestion:
    fields = {name: row[name] for name in ("id", "kind", "question", "status")}
    return AskedQuestion(
        **fields,  # type: ignore[arg-type]
        history=tuple(turn["content"] for turn in row.get("history", [])),  # type: ignore[attr-defined]
        papers=frozenset((name, position) for name, position in row["papers"]),  # type: ignore[attr-defined]
        facts=tuple(tuple(fact) for fact in row["facts"]),  # type: ignore[attr-defined]
    )


def ask_ours(assistant: Assistant, asked: AskedQuestion) -> Outcome:
    """Asks the question, after the turns before it, as one conversation."""
    history: list[dict[str, object]] = []
    for turn in asked.history:
        answer = assistant.ask(turn, history)
        history += [
            {"role": "user", "content": turn},
            {"role": "assistant", "content": answer.text, "citations": answer.to_dict()["citations"]},
        ]
    start = time.perf_counter()
    answer = assistant.ask(asked.question, history)
    return _outcome_of(asked, answer, time.perf_counter() - start)


def _outcome_of(asked: AskedQuestion, answer: Answer, seconds: float) -> Outcome:
    papers = dict.fromkeys(paper_key(citation.paper) for citation in answer.citations)
    quotes = {(citation.paper.paper_id, citation.span): citation.quote for citation in answer.citations}
    return Outcome(
        asked=asked,
        status=answer.status,
        papers=tuple(papers),
        text=answer.text,
        words_quoted=sum(len(quote.split()) for quote in quotes.values()),
        seconds=seconds,
    )


def paper_key(paper: Paper) -> PaperKey:
    """What the question files know a paper by."""
    return Path(paper.source).name[:3], paper.position
