"""Papers on a plane so that those of like meaning lie together: t-SNE (van der Maaten and Hinton 2008) by openTSNE.

The same vectors give the same places, whatever the number of threads.
"""

import math

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
"""Shape (papers, 2)."""

_LAID_OUT = 10_000
"""Papers that t-SNE lays out, in about half a minute; of more, evenly chosen ones, and the others among them."""
_FEWEST = 5
"""Of fewer papers t-SNE has nothing to keep; they lie as their two main components say."""
_COMPONENTS = 50
_NEIGHBOURS = 30
_STEPS = 250
"""After as many of early exaggeration; 500 keep no more neighbours."""
_WORTH_GRID = 1000
"""Papers from which on repulsion is computed faster on a grid than on a tree."""
_AROUND = 3
"""Laid out papers that another is put in the middle of."""
_BATCH = 1000
_DIGITS = 5
_WIDTH = 0.004
"""How far from the middle the first of the papers goes that would lie on another."""
_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


def laid_out(vectors: NDArray[np.float32]) -> Points:
    """The place of each of the unit `vectors`, no two the same, both coordinates from 0 to 1 in steps of 0.00001."""
    if len(vectors) <= _LAID_OUT:
        return _apart(_fitted(_by_neighbours(vectors)))
    chosen = np.linspace(0, len(vectors) - 1, _LAID_OUT).astype(np.intp)
    placed = _by_neighbours(vectors[chosen])
    points = _among(vectors, vectors[chosen], placed)
    points[chosen] = placed
    return _apart(_fitted(points))


def _by_neighbours(vectors: NDArray[np.float32]) -> Points:
    main = _main_components(vectors)
    start = _apart(_fitted(main[:, :2]))
    if len(vectors) < _FEWEST:
        return start
    from openTSNE import TSNE  # half a second, which no question waits for

    layout = TSNE(
        perplexity=min(_NEIGHBOURS, (len(vectors) - 1) / 4),
        initialization=(start - start.mean(axis=0)) / start.std() * 1e-4,  # as small as t-SNE wants it
        neighbors="exact",
        negative_gradient_method="fft" if len(vectors) >= _WORTH_GRID else "bh",
        n_iter=_STEPS,
        n_jobs=1,  # the other cores answer questions
        random_state=0,
    ).fit(main)
    return np.asarray(layout, dtype=np.float64)


def _main_components(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """The vectors along their main axes, of which there are two or more; each axis points where it reaches farther."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :_COMPONENTS]
    along = centred @ axes
    along *= np.where(along.max(axis=0) < -along.min(axis=0), -1, 1)
    return np.asarray(np.pad(along, ((0, 0), (0, max(0, 2 - along.shape[1])))))


def _apart(points: Points) -> Points:
    """The points, those that would lie on another moved along a spiral around it: papers of the same text."""
    points = points.round(_DIGITS)
    group = np.unique(points, axis=0, return_inverse=True)[1].reshape(-1)
    if not len(points) or group.max() == len(points) - 1:
        return points
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], group[order])
    at = np.empty(len(points))
    at[order] = np.arange(len(points)) - starts
    radius, angle = _WIDTH * np.sqrt(at), at * _GOLDEN_ANGLE
    moved = points + np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return np.asarray(_fitted(moved).round(_DIGITS))


def _among(vectors: NDArray[np.float32], placed: NDArray[np.float32], places: Points) -> Points:
    """For each of `vectors` the middle of the places of those that are nearest to it."""
    batches = []
    for start in range(0, len(vectors), _BATCH):
        similarities = vectors[start : start + _BATCH] @ placed.T
        nearest = np.argpartition(-similarities, _AROUND, axis=1)[:, :_AROUND]
        batches.append(places[nearest].mean(axis=1))
    return np.concatenate(batches)


def _fitted(points: Points) -> Points:
    """The points, moved and stretched to fill the unit square."""
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    return np.asarray(np.where(size > 0, (points - low) / np.where(size > 0, size, 1), 0.5))
