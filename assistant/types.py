"""What the steps of the chain hand to each other, and what a caller gets."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from textwrap import shorten
from typing import Any, Literal

from assistant.blocks import Opens, markdown_of
from vectorstore.filters import PaperFilter
from vectorstore.markup import as_markdown
from vectorstore.types import Paper, Passage, Span
from vectorstore.visible import visible

Kind = Literal["fact", "list", "count", "compare", "overview", "smalltalk"]
Status = Literal["answered", "not_stated", "not_covered"]
Verdict = Literal["quoted", "supported", "unsupported", "program"]
_LONGEST_REPR = 200
"""Characters of the text of an answer."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One item of the conversation so far."""

    role: Literal["user", "assistant"]
    content: str
    citations: tuple[Mapping[str, Any], ...] = ()
    """Of an answer: its citations as in `Answer.to_dict()`, if the caller kept them."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question that needs no history, and what kind of answer it asks for."""

    text: str
    kind: Kind
    topic: str
    """The question without the words that only ask ("Which papers are on ...?"); empty when it is about all papers."""
    parts: tuple[str, ...]
    """Its sentences, and the questions joined by "and", one by one; most questions have one part."""
    names: tuple[str, ...]
    """The names in it, of systems, models, people or places."""
    foreign: str | None = None
    """As it was asked, when `text` is but the English words of it, whose grammar tells nothing."""
    within: PaperFilter | None = None
    """What confines the search; its words are no longer in `text`."""
    standalone: str = ""
    """The whole question, where `text` is a part of it."""
    usage: "Usage | None" = None
    """What a model used to make it standalone."""
    compared: tuple[str, ...] = ()
    """Ids of the papers to be compared by the topic, where the caller chose them."""

    @property
    def is_on_content(self) -> bool:
        """Whether papers have to be read to answer it."""
        return self.kind != "smalltalk" and not (self.kind == "overview" and not self.topic)


@dataclass(frozen=True, kw_only=True)
class ScoredSentence:
    """A sentence of an abstract, judged against a question."""

    paper: Paper
    span: Span
    relevance: float
    """Cross-encoder logit, the highest over the parts of the question."""
    worth: float = 0.0
    """How much the sentence is worth quoting, beside others of its paper."""

    @property
    def quote(self) -> str:
        """The sentence to the letter."""
        return self.span.of(self.paper.abstract)


@dataclass(frozen=True)
class ComparedBy:
    """What the compared papers say to one thing, in the order of the papers."""

    thing: str
    """Empty when it is what the whole question asks."""
    cells: tuple[tuple[ScoredSentence, ...], ...]
    """The sentences of each paper; none where its abstract does not state it."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What the papers have to say to a question, and whether it is enough."""

    status: Status
    passages: tuple[Passage, ...]
    """What was retrieved, most relevant first."""
    sentences: tuple[ScoredSentence, ...] = ()
    """Of the papers that may be quoted, most worth quoting first; empty when the status is not_covered."""
    weight: float | None = None
    """How much speaks for the papers being about the question; None where that was not weighed."""
    listed: tuple[str, ...] = ()
    """Ids of all papers on a list, best first; the sentences are of the first ones only."""
    compared_by: tuple[ComparedBy, ...] = ()
    """Of a comparison: the rows of a table whose columns are the papers."""
    looked_at: int | None = None
    """How many papers a list was made from, when not all could be looked at."""

    @property
    def papers(self) -> list[Paper]:
        """The papers that may be quoted, best first."""
        return list({sentence.paper.paper_id: sentence.paper for sentence in self.sentences}.values())


@dataclass(frozen=True, kw_only=True)
class Citation:
    """A source number and the quotation it stands for."""

    citation_id: str
    number: int
    paper: Paper
    span: Span

    @property
    def quote(self) -> str:
        """The quotation, to the letter."""
        return self.span.of(self.paper.abstract)

    def to_dict(self) -> dict[str, Any]:
        """As in `Answer.to_dict()["citations"]`."""
        return {
            "id": self.citation_id,
            "number": self.number,
            "paper_id": self.paper.paper_id,
            "label": self.paper.label,
            "title": self.paper.title,
            "authors": list(self.paper.authors),
            "venue": self.paper.venue,
            "year": self.paper.year,
            "url": self.paper.urls[0] if self.paper.urls else None,
            "quote": self.quote,
            "start": self.span.start,
            "end": self.span.end,
        }


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """One sentence of an answer, with what checking it gave."""

    text: str
    """Readable: without LaTeX, Markdown or source numbers."""
    verdict: Verdict
    citations: tuple[Citation, ...] = ()
    reasons: tuple[str, ...] = ()
    """Why the verdict is what it is; empty for quotations and for the program's own words."""
    shown: bool = True
    opens: Opens = ""
    """What begins with this sentence; nothing when it goes on after the one before."""

    @property
    def markdown(self) -> str:
        """The text with its source numbers."""
        numbers = dict.fromkeys(citation.number for citation in self.citations)
        return " ".join([as_markdown(self.text), *(f"[{number}]" for number in numbers)])

    def to_dict(self) -> dict[str, Any]:
        """As in `Answer.to_dict()["sentences"]`."""
        return {
            "text": self.text,
            "citations": [citation.citation_id for citation in self.citations],
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "shown": self.shown,
        }


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens of a model call, as the server reported them."""

    input_tokens: int
    output_tokens: int

    def __add__(self, other: "Usage | None") -> "Usage":
        """Of both calls together."""
        if other is None:
            return self
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens, output_tokens=self.output_tokens + other.output_tokens
        )


@dataclass(frozen=True)
class Declined:
    """The model says that its sources do not answer the question."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer to one question."""

    question: str
    standalone_question: str
    kind: Kind
    status: Status
    sentences: tuple[Sentence, ...]
    passages: tuple[Passage, ...]
    writer: str
    timings_ms: Mapping[str, float]
    usage: Usage | None
    fingerprint: str
    evidence: float | None
    """How much speaks for the papers being about the question; None where that was not weighed."""
    model_asked: bool = False
    """Whether a chat model was asked for this answer, be it in vain."""
    model_failure: str | None = None
    """Why the model wrote nothing, or not to the end; the papers are then quoted instead."""

    @property
    def text(self) -> str:
        """The shown sentences as Markdown, with [n] after what source n supports."""
        shown = (sentence for sentence in self.sentences if sentence.shown)
        return markdown_of(shown, lambda sentence: sentence.markdown)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Those of the shown sentences, in order."""
        return tuple(citation for sentence in self.sentences if sentence.shown for citation in sentence.citations)

    def __repr__(self) -> str:
        begun = shorten(visible(self.text), _LONGEST_REPR, placeholder=" …")
        return f"Answer(question={visible(self.question)!r}, status={self.status!r}, text={begun!r})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from assistant.notebook import answer_html  # which few need

        return answer_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; the CLI prints it with `--json`."""
        numbers = {citation.paper.paper_id: citation.number for citation in self.citations}
        return {
            "question": self.question,
            "standalone_question": self.standalone_question,
            "kind": self.kind,
            "status": self.status,
            "answer": self.text,
            "sentences": [sentence.to_dict() for sentence in self.sentences],
            "citations": [citation.to_dict() for sentence in self.sentences for citation in sentence.citations],
            "passages": [passage_dict(passage, numbers.get(passage.paper.paper_id)) for passage in self.passages],
            "writer": self.writer,
            "timings_ms": dict(self.timings_ms),
            "usage": asdict(self.usage) if self.usage else None,
            "fingerprint": self.fingerprint,
        }


def passage_dict(passage: Passage, number: int | None) -> dict[str, Any]:
    """A passage as plain data; `number` is its paper's source number, if the answer cites it."""
    return {
        "number": number,
        "paper_id": passage.paper.paper_id,
        "text": passage.text,
        "start": passage.span.start,
        "end": passage.span.end,
        "dense_rank": passage.dense_rank,
        "keyword_rank": passage.keyword_rank,
        "relevance": passage.relevance,
        "similarity": passage.similarity,
        "words": list(passage.words),
        "why": passage.why,
    }


@dataclass(frozen=True, kw_only=True)
class PassagesFound:
    """The papers have been searched; what comes next is the answer."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True, kw_only=True)
class SentenceChecked:
    """The next sentence of the answer is ready to be shown, or was left out."""

    sentence: Sentence


@dataclass(frozen=True, kw_only=True)
class AnswerFinished:
    """The last event of every stream."""

    answer: Answer


Event = PassagesFound | SentenceChecked | AnswerFinished
