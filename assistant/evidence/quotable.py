"""Which sentences of a paper are most worth quoting in answer to a question."""

from collections.abc import Sequence
from dataclasses import replace

from assistant.evidence.reading import text_to_read
from assistant.types import Question, ScoredSentence
from assistant.wording import any_of, pattern
from vectorstore.markup import readable
from vectorstore.relevance import CrossEncoder
from vectorstore.retrieval import Retriever
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper, Span

_SIMILARITY = 20.0
"""What the cosine of question and sentence counts beside relevance in choosing what to quote."""
_BACKGROUND = 3.0
"""Taken off for the sentences of an abstract before the authors speak of their own work."""
OWN_WORK = pattern(
    r"\b(?:we|this (?:paper|work))\b.{0,40}\b"
    + any_of(
        "introduc propos present develop study show find identif analy formulat address investigat demonstrat reveal "
        "tackl bridge"
    )
)
"""How a sentence speaks of the authors' own work."""
_ASKS_BACKGROUND = pattern(
    r"\b"
    + any_of(
        "problem wrong existing prior previous current usual why challenge issue difficult limitation suffer fail bad "
        "tradition"
    )
)


def by_worth(
    retriever: Retriever, cross_encoder: CrossEncoder, question: Question, sentences: Sequence[ScoredSentence]
) -> list[ScoredSentence]:
    """Most worth quoting first: what answers each part, the last part first, then by relevance to the whole."""
    by_whole = sorted(_weighed(retriever, question, sentences), key=lambda sentence: -sentence.worth)
    if len(question.parts) == 1:
        return by_whole
    texts = [text_to_read(sentence.paper, sentence.span) for sentence in by_whole]
    by_part = [cross_encoder.relevance(part, texts) for part in question.parts]
    highest = [
        replace(sentence, relevance=max(sentence.relevance, *logits))
        for sentence, logits in zip(by_whole, zip(*by_part, strict=True), strict=True)
    ]
    first = [max(range(len(highest)), key=logits.__getitem__) for logits in reversed(by_part)]
    return [highest[row] for row in dict.fromkeys([*first, *range(len(highest))])]


def _weighed(retriever: Retriever, question: Question, sentences: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    similarities = retriever.similarities(question.text, [readable(sentence.quote) for sentence in sentences])
    background = _background(question, sentences[0].paper) if sentences else []
    return [
        replace(
            sentence,
            worth=sentence.relevance + _SIMILARITY * similarity - _BACKGROUND * (sentence.span in background),
        )
        for sentence, similarity in zip(sentences, similarities, strict=True)
    ]


def _background(question: Question, paper: Paper) -> list[Span]:
    """The sentences before those on the authors' own work; only the first one when the question asks for the others."""
    spans = sentence_spans(paper.abstract)
    own = next((at for at, span in enumerate(spans) if OWN_WORK.search(readable(span.of(paper.abstract)))), 0)
    return spans[: 1 if _ASKS_BACKGROUND.search(question.text) else max(1, own)]
