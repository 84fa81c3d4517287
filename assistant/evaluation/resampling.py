"""Intervals and tests by resampling questions. Values are one number per question; every function is deterministic."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_RESAMPLES = 10_000
_BLOCK = 1000  # resamples drawn at a time, so that large sets need little memory
Values = NDArray[np.float64]
Summary = Callable[[Values], Values]
"""From resamples (one per row) to one figure each."""


def mean(samples: Values) -> Values:
    """The mean of each row."""
    return np.asarray(samples.mean(axis=-1))


def percentile(q: float) -> Summary:
    """A summary that gives the `q`-th percentile of each row."""
    return lambda samples: np.asarray(np.percentile(samples, q, axis=-1))


@dataclass(frozen=True)
class Estimate:
    """A figure over `n` questions, with its 95 % interval."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Difference:
    """New minus old over the `n` questions that both have, with its 95 % interval and two-sided p."""

    value: float
    low: float
    high: float
    p: float
    n: int


def estimate(values: Sequence[float], summary: Summary = mean) -> Estimate | None:
    """`summary` of the values with its bootstrap interval (percentile method; Efron and Tibshirani 1993).

    None when there is no value.
    """
    if not values:
        return None
    sample = np.array(values, dtype=np.float64)
    low, high = _interval(sample, summary)
    return Estimate(float(summary(sample)), low, high, len(sample))


def paired_difference(new: Sequence[float], old: Sequence[float]) -> Difference | None:
    """Mean difference of paired values, with its bootstrap interval; None when there is no pair.

    p is that of the randomisation test, which swaps the two of a pair at random (Smucker, Allan and Carterette 2007).
    """
    if not new:
        return None
    differences = np.array(new, dtype=np.float64) - np.array(old, dtype=np.float64)
    low, high = _interval(differences, mean)
    return Difference(float(differences.mean()), low, high, _p_of_swapping(differences), len(differences))


def _interval(sample: Values, summary: Summary) -> tuple[float, float]:
    if sample.min() == sample.max():
        return float(sample[0]), float(sample[0])
    random = np.random.default_rng(0)
    figures = [summary(random.choice(sample, (_BLOCK, len(sample)))) for _ in range(_RESAMPLES // _BLOCK)]
    low, high = np.percentile(np.concatenate(figures), [2.5, 97.5])
    return float(low), float(high)


def _p_of_swapping(differences: Values) -> float:
    """The observed assignment counts as one of them, so that p is never 0."""
    random = np.random.default_rng(0)
    observed = abs(differences.sum())
    as_extreme = 1
    for _ in range(_RESAMPLES // _BLOCK):
        signs = random.choice([-1.0, 1.0], (_BLOCK, len(differences)))
        as_extreme += int((np.abs(signs @ differences) >= observed - 1e-12).sum())
    return as_extreme / (_RESAMPLES + 1)
