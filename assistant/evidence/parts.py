"""The parts of an abstract: the problem, what is done about it, what comes of it; a sentence of each, if it has one.

Abstracts come in this order. What is done begins where the authors speak of their own work; before it stands the
problem, behind it the result.
"""

from collections.abc import Sequence

from assistant.evidence.quotable import OWN_WORK
from assistant.own_names import own_names
from assistant.types import ScoredSentence
from assistant.wording import any_of, pattern
from vectorstore.markup import readable

_PROBLEM = pattern(
    rf"^{any_of('however yet but despite although')}\b|\b"
    + any_of(
        "challeng problem suffer limit lack fail difficult costly expensive bottleneck struggle unclear remain "
        "underexplored hinder gap issue overlook neglect rel(?:y|ies)_on cannot"
    )
)
_RESULT = pattern(
    r"\b"
    + any_of(
        "results? experiment evaluation outperform achiev improv reduc reach surpass state-of-the-art demonstrat show "
        "reveal find attain exceed yield gain up_to"
    )
)
_WORKS = pattern(rf"\b{any_of('propose introduce present develop design')}")
"""How the sentence begins that says what is done, rather than what is found."""
_NUMBER = pattern(r"(?<![\w-])\d")
"""Not that of a name ("NL2Repo")."""


def problem(sentences: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    """The sentence before the authors' own work that says what is wrong; of several the last."""
    return [s for s in _in_order(sentences)[: _own(sentences)] if _PROBLEM.search(readable(s.quote))][-1:]


def approach(sentences: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    """The first sentence on the authors' own work."""
    return _in_order(sentences)[_own(sentences) :][:1]


def result(sentences: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    """The sentence behind that which says what comes of it; one with a number before others, of equals the last."""
    told = [s for s in _in_order(sentences)[_own(sentences) + 1 :] if _RESULT.search(readable(s.quote))]
    measured = [sentence for sentence in told if _NUMBER.search(readable(sentence.quote))]
    return (measured or told)[-1:]


def _own(sentences: Sequence[ScoredSentence]) -> int:
    """Where the authors' own work begins: where something is proposed, else where they speak of themselves."""
    texts = [readable(sentence.quote) for sentence in _in_order(sentences)]
    names = own_names(sentences[0].paper)
    own = [at for at, text in enumerate(texts) if OWN_WORK.search(text) or any(name in text for name in names)]
    return next((at for at in own if _WORKS.search(texts[at])), next(iter(own), 0))


def _in_order(sentences: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    return sorted(sentences, key=lambda sentence: sentence.span.start)
