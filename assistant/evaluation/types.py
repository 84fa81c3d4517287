"""What the steps of an evaluation hand to each other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from assistant.types import Kind, Status, Verdict

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Judged = Literal["right", "wrong", "unreadable"]


def _variants(fact: object) -> object:
    return [fact] if isinstance(fact, str) else fact


class GoldQuestion(BaseModel):
    """One line of a question set: a question, and what a right answer to it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Text
    """Names the question in reports; unique in its set."""
    question: Text
    kind: Kind = "fact"
    history: tuple[Text, ...] = ()
    """The questions asked before it in the same conversation, oldest first; the system answers them itself."""
    papers: tuple[Text, ...] = ()
    """Labels or ids of the papers of a right answer: any of them for a fact, all for lists, counts, comparisons."""
    facts: tuple[Annotated[tuple[Text, ...], Field(min_length=1), BeforeValidator(_variants)], ...] = ()
    """What a right answer contains, each as one text or as a list of accepted variants."""
    status: Status = "answered"
    tags: tuple[Text, ...] = ()
    """Slices that are reported apart; "draft" marks what nobody has checked yet."""
    note: str = ""

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> "GoldQuestion":
        if self.status == "not_covered" and self.papers:
            raise ValueError("papers must be empty when the status is not_covered")
        if self.status != "not_covered" and not self.papers and self.kind not in ("overview", "smalltalk"):
            raise ValueError(f"papers must not be empty when the status is {self.status}")
        if self.status != "answered" and self.facts:
            raise ValueError(f"facts must be empty when the status is {self.status}")
        if self.kind == "compare" and self.status == "answered" and len(self.papers) < 2:
            raise ValueError("a comparison needs two papers")
        return self

    @property
    def is_set(self) -> bool:
        """Whether all of `papers` belong to the answer, not any one of them."""
        return self.kind in ("list", "count", "compare")


@dataclass(frozen=True)
class QuestionSet:
    """The questions of one file."""

    name: str
    questions: tuple[GoldQuestion, ...]
    sha256: str
    lines: Mapping[str, int]
    """Where each question stands in its file, by id; from 1."""


@dataclass(frozen=True, kw_only=True)
class AnswerSentence:
    """A sentence of an answer as a report shows it."""

    text: str
    verdict: Verdict
    shown: bool
    paper_ids: tuple[str, ...] = ()
    """Of the papers it cites."""
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Quotation:
    """Words that an answer gives as a paper's own."""

    paper_id: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one system made of one question."""

    question_id: str
    status: Status | None
    """None when the question failed; `error` then says how."""
    sentences: tuple[AnswerSentence, ...] = ()
    retrieved: tuple[str, ...] = ()
    """Ids of the papers found, best first, at most ten."""
    quotations: tuple[Quotation, ...] = ()
    evidence: float | None = None
    """How much speaks for there being an answer, on the system's own scale."""
    seconds: float
    input_tokens: int | None = 0
    """Of the chat model, for the judged question alone; None when its server does not say."""
    output_tokens: int | None = 0
    error: str | None = None
    judged: Judged | None = None

    @property
    def shown(self) -> tuple[AnswerSentence, ...]:
        """The sentences that a reader sees."""
        return tuple(sentence for sentence in self.sentences if sentence.shown)

    @property
    def content(self) -> str:
        """What a reader sees, without the program's own words."""
        return " ".join(sentence.text for sentence in self.shown if sentence.verdict != "program")

    @property
    def cited(self) -> tuple[str, ...]:
        """Ids of the papers cited by what is shown, in order."""
        return tuple(dict.fromkeys(paper_id for sentence in self.shown for paper_id in sentence.paper_ids))
