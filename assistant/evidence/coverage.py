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
much nearer the nearest paper is than the next ones, minus `_UNKNOWN_NAME` for each name that no paper holds: a
regression, rounded, on 453 development questions that name no paper. Of those on no paper 3 % have more; at as many,
the relevance and a count of shared words would refuse twice as many that can be answered."""
_HELD_WORDS = 23.0
_STANDS_OUT = 170.0
_UNKNOWN_NAME = 9.0
_NEXT = 5
"""Papers that the nearest one is compared with."""
_SMALL_COLLECTION = 1000
"""Papers; in a larger collection some are near to each other and to everything, and none needs to stand out."""
USUAL_LEAD = 0.05
"""How much nearer than the next ones the right paper usually is; also for a paper that is named."""
ASKING = stems(
    "paper method approach work show propose called name find found tell know describe use which what study model "
    "system question anyone anybody somebody someone people way kind exactly new"
)
"""Words that questions have whatever they are about."""


def weight_of_evidence(retriever: Retriever, question: Question, paper: Paper, relevance: float, lead: float) -> float:
    """For `paper` being about the question, to be held against `COVERED`.

    `relevance` is the cross-encoder logit of its best sentence, `lead` how far the nearest paper stands out.
    """
    rarities = retriever.rarities(sorted(content_stems(question.text) - ASKING))
    held = sum(rarities[stem] for stem in content_stems(readable(paper.abstract)) & rarities.keys())
    share = held / sum(rarities.values()) if held else 0.0
    unknown = len(retriever.unknown_names(question.names))
    return relevance + _HELD_WORDS * share + _STANDS_OUT * lead - _UNKNOWN_NAME * unknown


def lead_of_nearest(retriever: Retriever, passages: Sequence[Passage]) -> float:
    """How much more similar (cosine) to the question the most similar paper is than the mean of the next ones."""
    similar = sorted((p.similarity for p in passages if p.similarity is not None), reverse=True)
    if retriever.paper_count() > _SMALL_COLLECTION or len(similar) <= _NEXT:
        return USUAL_LEAD
    return similar[0] - sum(similar[1 : _NEXT + 1]) / _NEXT
