"""One order from two searches: by meaning (cosine) and by words (BM25).

Cosine and BM25 weight are added as they are, but for a constant. Scaling each among what one question found (min-max,
ranks) makes a sum depend on what else was found; docs/decisions.md has what each step earned on which data.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vectorstore.exact import Rows, VectorFile

_KEYWORD = 0.06
"""What the BM25 weight counts beside a cosine, when it is divided by the highest weight that a word can have: a word in
one paper of n weighs about ln(n)."""

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class Ranked:
    """Rows, best first, with what they were ranked by."""

    rows: Rows
    similarities: NDArray[np.float32]
    """Cosine of the question and each row."""
    nearest: Rows
    """The rows that are nearest to the question, nearest first."""
    by_words: Rows
    """The rows with the highest BM25 weights, highest first; none without a shared word."""


def ranked(
    question: Vector, weights: NDArray[np.float32], vectors: VectorFile, by_words: Rows, nearest: Rows
) -> Ranked:
    """The rows found by meaning or by words, ranked by both; `weights` are the BM25 weights of all rows."""
    found = np.union1d(nearest, by_words)
    similarities = vectors.products(question, found)
    order = best_rows(summed(similarities, weights[found], len(weights)), len(found))
    return Ranked(rows=found[order], similarities=similarities[order], nearest=nearest, by_words=by_words)


def summed(similarities: NDArray[np.float32], weights: NDArray[np.float32], chunks: int) -> NDArray[np.float32]:
    """The sum that an index of so many chunks ranks by, of cosines and BM25 weights."""
    return np.asarray(similarities + np.float32(_KEYWORD / np.log(chunks + 1)) * weights, dtype=np.float32)


def best_rows(values: NDArray[np.float32], k: int) -> Rows:
    """Where the `k` highest of the values stand, highest first, of equals the first."""
    if k < len(values):
        found = np.sort(np.argpartition(-values, k)[:k])
        return found[np.argsort(-values[found], kind="stable")]
    return np.argsort(-values, kind="stable")
