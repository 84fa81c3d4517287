"""Sentences of abstracts, read with a question by the cross-encoder."""

from collections.abc import Sequence
from dataclasses import replace

from assistant.types import ScoredSentence
from vectorstore.markup import readable
from vectorstore.relevance import CrossEncoder
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper, Passage, Span

_FOUND_LATER = 1.0
"""Taken off for each paper that was found before: search orders papers better than the cross-encoder alone."""
_LONGEST_READ = 20
"""Sentences of one passage; abstracts have five to ten."""


def read_spans(
    cross_encoder: CrossEncoder, question: str, read: Sequence[tuple[Passage, list[Span]]]
) -> list[ScoredSentence]:
    """Those sentences of those passages, judged against the question."""
    places = [(passage.paper, span) for passage, spans in read for span in spans]
    logits = cross_encoder.relevance(question, [text_to_read(paper, span) for paper, span in places])
    return [
        ScoredSentence(paper=paper, span=span, relevance=logit)
        for (paper, span), logit in zip(places, logits, strict=True)
    ]


def read_passages(cross_encoder: CrossEncoder, question: str, passages: Sequence[Passage]) -> list[ScoredSentence]:
    """All sentences of the passages, judged against the question."""
    return read_spans(cross_encoder, question, [(passage, spans_of(passage)) for passage in passages])


def text_to_read(paper: Paper, span: Span) -> str:
    """A sentence with its paper's name before it: few sentences of an abstract say whose they are."""
    return f"{paper.label}: {readable(span.of(paper.abstract))}"


def spans_of(passage: Passage) -> list[Span]:
    """The sentences of a passage, as spans of the abstract."""
    start = passage.span.start
    return [Span(start + span.start, start + span.end) for span in sentence_spans(passage.text)][:_LONGEST_READ]


def best_paper(scored: Sequence[ScoredSentence]) -> Paper:
    """The paper with the most relevant sentence, those found first before those found later."""
    rank = {paper_id: at for at, paper_id in enumerate(dict.fromkeys(sentence.paper.paper_id for sentence in scored))}
    return max(scored, key=lambda sentence: sentence.relevance - _FOUND_LATER * rank[sentence.paper.paper_id]).paper


def best_of_each_paper(scored: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    """The most relevant sentence of each paper, most relevant first."""
    best: dict[str, ScoredSentence] = {}
    for sentence in sorted(scored, key=lambda sentence: -sentence.relevance):
        best.setdefault(sentence.paper.paper_id, sentence)
    return list(best.values())


def ranked(passages: Sequence[Passage], scored: Sequence[ScoredSentence]) -> tuple[Passage, ...]:
    """The passages with their relevance, the judged ones first, most relevant first."""
    relevance = {sentence.paper.paper_id: sentence.relevance for sentence in reversed(best_of_each_paper(scored))}
    judged = [replace(passage, relevance=relevance.get(passage.paper.paper_id)) for passage in passages]
    return tuple(sorted(judged, key=lambda p: (not p.named, p.relevance is None, -(p.relevance or 0.0))))
