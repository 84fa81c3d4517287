"""Whether a paper, whose sentences have been read, states what a question asks for."""

from collections.abc import Sequence

from assistant.evidence.asked import is_stated
from assistant.own_names import own_names
from assistant.types import Question, ScoredSentence
from vectorstore.markup import readable
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper

_LOOKED_AT = 3
"""Sentences, the best, in which the kind of thing asked for is looked for."""


def is_stated_by(question: Question, paper: Paper, sentences: Sequence[ScoredSentence]) -> bool:
    """Whether `paper` answers a part of `question`; its `sentences` are given best first."""
    asked = [part for part in question.parts if not part.endswith(".")] or question.parts
    texts = [readable(span.of(paper.abstract)) for span in sentence_spans(paper.abstract)]
    best = [readable(sentence.quote) for sentence in sentences[:_LOOKED_AT]]
    own = own_names(paper)
    return any(is_stated(part, texts, best, own) for part in asked)
