"""How probable it is that a paper belongs to a list: by its words and its nearness, and by a sentence that is read."""

from collections.abc import Mapping

import numpy as np

from vectorstore.survey import Survey, Values

BELONGS = 0.22
"""Probability from which a paper is listed. A low one, since most topics have few papers and a paper that is missing
costs as much as a wrong one: the best threshold is half the F1 that is reached (Lipton et al. 2014)."""
_CONSTANT, _FARTHER, _LESS_ALIKE, _HELD, _WEIGHT = -2.7, -9.0, -12.0, 0.5, 3.2
"""A regression, rounded, on four collections of 34 to 3,000 papers: our development lists, Cranfield, keywords of ICLR
2018 and phrases from titles of conference papers, each with the same weight."""
_READ_CONSTANT, _UNREAD, _RELEVANCE = -0.2, 0.95, 0.22
"""Another, on the papers that are read, of the development lists and Cranfield."""
_RELEVANT = -3.0
"""Relevance is held against the mean of what was read, since some topics are put so that no sentence seems relevant;
against no more than this, since on a long list all that was read is."""
_FOR_OTHERS = 0.5
"""Of what the unclear papers gain on average by being read, what is given to those that were not."""
_READ = 16
"""Papers of which a sentence is read."""
_READ_FIRST = 4
"""Of these, the most probable ones; their relevance tells whether any paper is on the topic."""
_NEAREST = 3
"""Papers whose mean likeness the others are held against."""


def weights_unread(survey: Survey) -> Values:
    """The logit of each paper's probability by what is known of it before anything is read."""
    held, weight = _share_of_best(survey.held), _share_of_best(survey.weights)
    farther = survey.similarities.max() - survey.similarities
    less_alike = np.sort(survey.alike)[-_NEAREST:].mean() - survey.alike
    logits = _CONSTANT + _FARTHER * farther + _LESS_ALIKE * less_alike + _HELD * held + _WEIGHT * weight
    return np.asarray(logits, dtype=np.float32)


def places_to_read(weights: Values) -> list[int]:
    """The most probable papers, and those of which it is least clear whether they belong."""
    first = np.argsort(-weights, kind="stable")[:_READ_FIRST]
    unclear = np.argsort(np.abs(weights - logit(BELONGS)), kind="stable")
    return [int(place) for place in dict.fromkeys([*first, *unclear])][:_READ]


def probabilities(weights: Values, relevance: Mapping[int, float]) -> Values:
    """Of each paper; `relevance` is the cross-encoder logit of a sentence, by place as `places_to_read` orders them."""
    usual = min(_RELEVANT, sum(relevance.values()) / max(1, len(relevance)))
    read = {
        place: _READ_CONSTANT + _UNREAD * weights[place] + _RELEVANCE * (value - usual)
        for place, value in relevance.items()
    }
    unclear = list(read)[_READ_FIRST:]
    gained = sum(read[place] - weights[place] for place in unclear) / max(1, len(unclear))
    found = weights + _FOR_OTHERS * max(0.0, gained)
    found[list(read)] = list(read.values())
    return np.asarray(1 / (1 + np.exp(-found)), dtype=np.float32)


def logit(probability: float) -> float:
    """The logarithm of the odds."""
    return float(np.log(probability / (1 - probability)))


def _share_of_best(values: Values) -> Values:
    return np.asarray(values / max(float(values.max()), 1e-9), dtype=np.float32)
