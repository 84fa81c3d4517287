"""How much speaks for the papers being about a question."""

from collections.abc import Sequence

from assistant.types import Question
from assistant.wording import content_stems, stems
from vectorstore.markup import readable
from vectorstore.retrieval import Retriever
from vectorstore.types import Paper, Passage

COVERED = 5.5
"""Least weight of evidence for a question that the papers cover. The weight is the relevance of the best sentence, plus
`_HELD_WORDS` times the share of the question's words (by rarity) that its abstract holds, plus `_STANDS_OUT` times how
much nearer the nearest paper is than the next ones, minus `_UNKNOWN` for each name that no paper holds: a regression,
rounded, on 453 development questions that name no paper. Of those on no paper 5 % have more; at as many, the relevance
and a count of shared words would refuse twice as many that can be answered."""
_HELD_WORDS = 23.0
_STANDS_OUT = 170.0
_UNKNOWN = 9.0
_NEXT = 5
"""Papers that the nearest one is compared with."""
_SMALL_COLLECTION = 200
"""Papers. A larger collection has the vocabulary of its field, so that a word no paper holds counts as an unknown name
does; and among many papers some is near to any question, so that `_BY_CHANCE` is taken off."""
_BY_CHANCE = 4.5
_SHORTEST_WORD = 3
"""Letters of a word whose absence counts."""
_USUAL_LEAD = 0.05
"""How much nearer than the next ones the right paper usually is; also for a paper that is named."""
ASKING = stems(
    "paper method approach work show propose called name find found tell know describe use which what study model "
    "system question anyone anybody somebody someone people way kind exactly new wrote"
)
"""Words that questions have whatever they are about."""


def weight_of_named(retriever: Retriever, question: Question, paper: Paper, relevance: float) -> float:
    """For `paper`, which the question names, saying something of it; `relevance` is that of its best sentence."""
    return _weight(retriever, question, paper, relevance, _USUAL_LEAD)


def weight_of_found(
    retriever: Retriever, question: Question, paper: Paper, relevance: float, passages: Sequence[Passage]
) -> float:
    """For `paper`, which was found among `passages`, being about the question; to be held against `COVERED`."""
    weight = _weight(retriever, question, paper, relevance, _lead_of_nearest(passages))
    if retriever.paper_count() <= _SMALL_COLLECTION:
        return weight
    return weight - _BY_CHANCE - _UNKNOWN * len(_unknown_words(retriever, question))


def _weight(retriever: Retriever, question: Question, paper: Paper, relevance: float, lead: float) -> float:
    rarities = retriever.rarities(sorted(content_stems(question.text) - ASKING))
    held = sum(rarities[stem] for stem in content_stems(readable(paper.abstract)) & rarities.keys())
    share = held / sum(rarities.values()) if held else 0.0
    unknown = len(retriever.unknown_names(question.names))
    return relevance + _HELD_WORDS * share + _STANDS_OUT * lead - _UNKNOWN * unknown


def _unknown_words(retriever: Retriever, question: Question) -> list[str]:
    """Stems that no paper holds, other than those of names and of compounds ("methionine-fed")."""
    words = content_stems(question.text) - ASKING - content_stems(" ".join(question.names))
    return retriever.unknown_stems([word for word in words if word.isalpha() and len(word) >= _SHORTEST_WORD])


def _lead_of_nearest(passages: Sequence[Passage]) -> float:
    """How much more similar (cosine) to the question the most similar paper is than the mean of the next ones."""
    similar = sorted((p.similarity for p in passages if p.similarity is not None), reverse=True)
    return similar[0] - sum(similar[1 : _NEXT + 1]) / _NEXT if len(similar) > _NEXT else _USUAL_LEAD
