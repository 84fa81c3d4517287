"""What a writer is, and the one that quotes: the abstracts' own sentences, with a few words of the program's."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from threading import Event
from typing import Literal, Protocol

from assistant.conversation import SourceNumbers
from assistant.types import Declined, Evidence, Question, ScoredSentence, Sentence, Usage
from assistant.wording import any_of, pattern
from vectorstore.loading.text import urls_in
from vectorstore.markup import readable, unmarked
from vectorstore.types import Paper

_WORDS = 58
"""Quoted for one fact; the first sentence is quoted whole, whatever its length."""
_WORDS_UNSURE = 90
"""Quoted when it is not clear which sentences answer, or when there are several questions in one."""
_SURE = 0.93
"""Share of the two best sentences in the worth of all, at which it is clear."""
_TEMPERATURE = 2.0
"""What a difference in worth is divided by before the shares are computed."""
_POINTS_BACK = pattern(
    rf"^(?:{any_of('however yet but moreover furthermore additionally thus therefore hence instead finally')},? )?"
    rf"{any_of('it they this these those such its their')}\b(?! {any_of('paper work study article')}\b)"
)
_COLUMNS = 3
"""Papers that a table has room for."""
_SENTENCES = 3
"""Of one paper."""


class Writer(Protocol):
    """Turns evidence into the sentences of an answer."""

    name: str
    """"quotation", or the model's."""

    def write(
        self, question: Question, evidence: Evidence, numbers: SourceNumbers, stop: Event
    ) -> Iterator[Sentence | Usage | Declined]:
        """The sentences in order, each checked; what a model used; or that it declines to answer. Ends at `stop`."""
        ...


class QuotationWriter:
    """Quotes one to three sentences for a fact, one per paper for a list."""

    name = "quotation"

    def write(self, question: Question, evidence: Evidence, numbers: SourceNumbers, stop: Event) -> Iterator[Sentence]:
        """The sentences of the answer, in order; all are there at once, so that there is nothing to stop."""
        if question.kind in ("list", "count", "overview"):
            return _list(question, evidence, numbers)
        if len(evidence.compared_by) == 1 and len(evidence.papers) > _COLUMNS:
            return _one_by_one(evidence, numbers)
        if evidence.compared_by:
            return _comparison(evidence, numbers)
        return _fact(question, evidence, numbers)


def quotation(sentence: ScoredSentence, numbers: SourceNumbers) -> Sentence:
    """A sentence of an abstract as one of an answer."""
    return Sentence(
        text=f"“{unmarked(readable(sentence.quote))}”",
        verdict="quoted",
        citations=(numbers.cite(sentence.paper, sentence.span),),
    )


def _fact(question: Question, evidence: Evidence, numbers: SourceNumbers) -> Iterator[Sentence]:
    paper = evidence.papers[0]
    yield _framing(paper, opens="paragraph")
    sentences = [sentence for sentence in evidence.sentences if sentence.paper == paper]
    sure = len(question.parts) == 1 and _share_of_two_best(sentences) >= _SURE
    for sentence in _within_words(sentences, _WORDS if sure else _WORDS_UNSURE):
        yield quotation(sentence, numbers)


def _share_of_two_best(sentences: list[ScoredSentence]) -> float:
    best = max(sentence.worth for sentence in sentences)
    shares = sorted(math.exp((sentence.worth - best) / _TEMPERATURE) for sentence in sentences)
    return sum(shares[-2:]) / sum(shares)


def _framing(paper: Paper, *, opens: Literal["paragraph", "item"]) -> Sentence:
    return Sentence(text=f"{paper.label}:", verdict="program", opens=opens)


def _within_words(sentences: list[ScoredSentence], most: int) -> list[ScoredSentence]:
    """The best sentences that fit, in the order in which they stand in the abstract, none without what it points to."""
    chosen: list[ScoredSentence] = []
    for sentence in sentences:
        added = [each for each in _with_what_it_points_to(sentence, sentences) if each not in chosen]
        words = sum(len(each.quote.split()) for each in [*chosen, *added])
        fits = len(chosen) < _SENTENCES and words <= most and not urls_in(sentence.quote)
        if not chosen or fits:  # where the code is, is told only to those who ask
            chosen += added
    return sorted(chosen, key=lambda sentence: sentence.span.start)


def _with_what_it_points_to(sentence: ScoredSentence, all_of_paper: list[ScoredSentence]) -> list[ScoredSentence]:
    """With the sentence before it, when it begins with a word that means something there."""
    before = [other for other in all_of_paper if other.span.end <= sentence.span.start]
    if not before or not _POINTS_BACK.match(readable(sentence.quote)):
        return [sentence]
    return [max(before, key=lambda other: other.span.end), sentence]


def _list(question: Question, evidence: Evidence, numbers: SourceNumbers) -> Iterator[Sentence]:
    yield Sentence(text=_heading(question, evidence), verdict="program", opens="paragraph")
    for sentence in evidence.sentences:
        yield _framing(sentence.paper, opens="item")
        yield quotation(sentence, numbers)


def _heading(question: Question, evidence: Evidence) -> str:
    shown = len(evidence.papers)
    found = len(evidence.listed) or shown
    topic = f" on “{question.topic}”" if question.topic else ""
    within = f" {question.within}" if question.within else ""
    of = f" (of the {evidence.looked_at} nearest, which were looked at)" if evidence.looked_at else ""
    first = f" The first {shown}:" if found > shown else ""
    return f"{found} paper{'s' if found != 1 else ''}{topic}{within}{of}{'.' + first if first else ':'}"


def _comparison(evidence: Evidence, numbers: SourceNumbers) -> Iterator[Sentence]:
    """A table: a column for each paper, a row for each thing, which it names unless there is only one."""
    names_rows = any(row.thing for row in evidence.compared_by)
    heading = [*(["Compared by"] if names_rows else []), *(paper.label for paper in evidence.papers)]
    yield from _row(heading)
    for row in evidence.compared_by:
        cells = [*([[_said(row.thing)]] if names_rows else []), *(_cell(cell, numbers) for cell in row.cells)]
        for at, cell in enumerate(cells):
            yield replace(cell[0], opens="cell" if at else "row")
            yield from cell[1:]


def _one_by_one(evidence: Evidence, numbers: SourceNumbers) -> Iterator[Sentence]:
    """An item for each of more papers than a table has room for."""
    for paper, cell in zip(evidence.papers, evidence.compared_by[0].cells, strict=True):
        yield _framing(paper, opens="item")
        yield from _cell(cell, numbers)


def _row(texts: Sequence[str]) -> list[Sentence]:
    return [replace(_said(text), opens="cell" if at else "row") for at, text in enumerate(texts)]


def _cell(sentences: Sequence[ScoredSentence], numbers: SourceNumbers) -> list[Sentence]:
    return [quotation(sentence, numbers) for sentence in sentences] or [_said("not stated in the abstract")]


def _said(text: str) -> Sentence:
    return Sentence(text=text, verdict="program")
