"""Every paper of a collection, weighed against one topic: how near it is in meaning and in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vectorstore.chunking import span_of_chunk
from vectorstore.exact import Rows, VectorFile, unit
from vectorstore.keywords import KeywordIndex
from vectorstore.ranking import best_rows, summed

Values = NDArray[np.float32]
"""One for each paper of a survey."""
_FOUND_FIRST = 3
"""Papers whose mean stands for what is on the topic; five are no better."""


class PapersOfRows:
    """The papers that the rows of an index belong to; those of a paper follow each other."""

    def __init__(self, chunk_ids: Sequence[str]) -> None:
        of_rows = [span_of_chunk(chunk_id)[0] for chunk_id in chunk_ids]
        self.paper_ids = list(dict.fromkeys(of_rows))
        starts = [row for row, paper_id in enumerate(of_rows) if row == 0 or of_rows[row - 1] != paper_id]
        self.first_rows = np.array(starts, dtype=np.intp)
        self._paper_of_row = np.repeat(np.arange(len(starts)), np.diff([*starts, len(of_rows)]))

    def highest(self, values: NDArray[np.float32]) -> Values:
        """The highest of the values of each paper's rows."""
        return np.maximum.reduceat(values, self.first_rows)

    def of_rows(self, rows: Rows) -> Rows:
        """The places of the papers that `rows` belong to, in order, each once."""
        return np.unique(self._paper_of_row[rows])


@dataclass(frozen=True)
class Survey:
    """What speaks for each paper being on a topic."""

    paper_ids: Sequence[str]
    similarities: Values
    """Cosine of the topic and the nearest chunk."""
    alike: Values
    """Cosine of the nearest chunk and the mean of the papers that a search finds first, the paper itself left out."""
    weights: Values
    """BM25 weight of the best chunk."""
    held: Values
    """The sum of the rarities of those of the topic's words that the paper holds."""
    rarity: float
    """Of all words of the topic."""


def survey(
    vectors: VectorFile,
    keywords: KeywordIndex,
    papers: PapersOfRows,
    topic: str,
    vector: NDArray[np.float32],
    words: Sequence[Sequence[str]],
    passing: Rows | None,
) -> Survey:
    """Of all papers, or of those of which a row is `passing`."""
    chosen = np.arange(len(papers.paper_ids)) if passing is None else papers.of_rows(passing)

    def similarities(wanted: NDArray[np.float32]) -> Values:
        return papers.highest(vectors.products(unit(wanted), np.arange(len(keywords.chunk_ids))))[chosen]

    near, weights = similarities(vector), papers.highest(keywords.weights(topic))[chosen]
    first = best_rows(summed(near, weights, len(keywords.chunk_ids)), _FOUND_FIRST)
    first_vectors = vectors.of(papers.first_rows[chosen[first]])
    alike = similarities(first_vectors.mean(axis=0)) if len(first) else near
    for at, place in enumerate(first if len(first) > 1 else []):
        others = np.delete(first_vectors, at, axis=0).mean(axis=0)
        alike[place] = first_vectors[at] @ others / np.linalg.norm(others)
    held, rarity = _rarities_held(keywords, papers, words)
    return Survey([papers.paper_ids[at] for at in chosen], near, alike, weights, held[chosen], rarity)


def _rarities_held(
    keywords: KeywordIndex, papers: PapersOfRows, words: Sequence[Sequence[str]]
) -> tuple[Values, float]:
    """For each paper the rarity of the words it holds, and that of all; a word is given in all its forms.

    The rarity of a word is the logarithm of how many times more papers there are than papers that hold it.
    """
    held = np.zeros(len(papers.paper_ids), dtype=np.float32)
    total = 0.0
    for forms in words:
        holding = papers.of_rows(np.concatenate([keywords.rows_holding_stem(form) for form in forms]))
        rarity = math.log((len(held) + 1) / (len(holding) + 1))
        held[holding] += rarity
        total += rarity
    return held, total
