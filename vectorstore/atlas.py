"""The map of a collection: its papers laid out by meaning, in named topics; computed once for an index."""

import json
import logging
import os
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vectorstore.collection import Collection
from vectorstore.exact import unit
from vectorstore.layout import laid_out
from vectorstore.topics import grouped, topic_names
from vectorstore.types import Paper

_FILE = "atlas.json"
_SCHEMA = 1
"""Of the file: change it whenever papers are laid out, grouped or named in another way."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """Where a paper lies; near papers are of like meaning."""

    paper_id: str
    x: float
    """From 0 to 1."""
    y: float
    """From 0, at the bottom, to 1."""
    topic: int
    """Which of the atlas's topics, from 0."""


@dataclass(frozen=True)
class Topic:
    """Papers that lie together."""

    name: str
    """The words most typical of them; no two topics have the same."""
    x: float
    y: float
    papers: int


@dataclass(frozen=True)
class Atlas:
    """All papers of a collection, in the order in which they were first read, and their topics."""

    places: tuple[Place, ...]
    topics: tuple[Topic, ...]


def atlas_of(collection: Collection) -> Atlas:
    """The atlas kept with the collection's index; when there is none, it is computed, and kept if that can be written.

    Computing takes a second for hundreds of papers, half a minute for ten thousand.
    """
    path = collection.folder.index_path / collection.index.folder / _FILE
    kept = _read(path)
    if kept is not None:
        return kept
    atlas = computed_atlas(collection.library.papers(collection.papers_of_rows.paper_ids), _paper_vectors(collection))
    _keep(path, atlas)
    return atlas


def computed_atlas(papers: Sequence[Paper], vectors: NDArray[np.float32]) -> Atlas:
    """The atlas of `papers`, of each of which `vectors` has the unit vector; the same for the same, in any process."""
    if not papers:
        return Atlas((), ())
    points = laid_out(vectors)
    of_paper = grouped(points)
    places = [
        Place(paper.paper_id, x, y, topic)
        for paper, (x, y), topic in zip(papers, points.tolist(), of_paper.tolist(), strict=True)
    ]
    topics = []
    for number, name in enumerate(topic_names(papers, of_paper.tolist())):
        members = points[of_paper == number]
        x, y = np.median(members, axis=0).round(5).tolist()
        topics.append(Topic(name, x, y, len(members)))
    return Atlas(tuple(places), tuple(topics))


def _paper_vectors(collection: Collection) -> NDArray[np.float32]:
    """Of each paper the mean of its chunks' vectors, with length 1."""
    rows = collection.papers_of_rows
    vectors = collection.vectors.of(np.arange(len(collection.keywords.chunk_ids)))
    sums = np.add.reduceat(vectors, rows.first_rows, axis=0)
    return np.stack([unit(vector) for vector in sums])


def _read(path: Path) -> Atlas | None:
    try:
        kept = json.loads(path.read_text("utf-8"))
        if kept["schema"] != _SCHEMA:
            return None
        places = tuple(Place(*values) for values in kept["places"])
        topics = tuple(Topic(**values) for values in kept["topics"])
    except (OSError, ValueError, TypeError, KeyError):
        return None  # none yet, or one that was damaged: it is made anew
    return Atlas(places, topics)


def _keep(path: Path, atlas: Atlas) -> None:
    """Writes it all or not at all, as two processes may do so at once."""
    places = [[place.paper_id, place.x, place.y, place.topic] for place in atlas.places]
    kept = {"schema": _SCHEMA, "places": places, "topics": [asdict(topic) for topic in atlas.topics]}
    unfinished = path.with_suffix(f".{uuid.uuid4().hex[:8]}")
    try:
        unfinished.write_text(json.dumps(kept, ensure_ascii=False), "utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        _LOG.debug("the atlas is not kept: %s", error)
        unfinished.unlink(missing_ok=True)
