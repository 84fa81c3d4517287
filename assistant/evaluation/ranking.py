"""Measures of a ranking of papers, with binary relevance. Rank 1 is the best; `ranked` holds no paper twice."""

import math
from collections.abc import Collection, Sequence


def recall_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """The share of the relevant papers that stand among the first `k`; `relevant` must not be empty."""
    return len(set(ranked[:k]) & set(relevant)) / len(set(relevant))


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """1 / rank of the first relevant paper, 0 when none was found (Voorhees 1999)."""
    return next((1 / rank for rank, paper_id in enumerate(ranked, start=1) if paper_id in relevant), 0.0)


def ndcg_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Discounted gain of the first `k` over that of the best order; `relevant` must not be empty.

    The discount is log2(rank + 1) (Järvelin and Kekäläinen 2002).
    """
    gained = sum(_discount(rank) for rank, paper_id in enumerate(ranked[:k], start=1) if paper_id in relevant)
    return gained / sum(_discount(rank) for rank in range(1, min(k, len(set(relevant))) + 1))


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)
