"""The public conference papers that sizes and speeds are measured with, and their vectors, which are computed once."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings

from benchmarks.common import PUBLIC_DATA, ROOT
from vectorstore.embedding import EmbeddingModel
from vectorstore.library import Library
from vectorstore.types import PaperRecord, Source

PAPERS = PUBLIC_DATA / "papers" / "conferences.jsonl.gz"
DATA = ROOT / "build" / "benchmarks"
"""Collections made by benchmarks are kept here, so that a second run embeds nothing."""


def conference_papers(path: Path, count: int | None = None) -> Source:
    """The first `count` papers of the file, or all, in an order that mixes venues and years."""
    records = list(_records(path))
    step = 7919  # a prime, so that every paper comes once
    mixed = [records[(at * step) % len(records)] for at in range(len(records))][:count]
    return Source(
        path=str(path),
        papers=tuple(
            PaperRecord(
                abstract=paper["abstract"].strip(),
                title=paper["title"] or None,
                authors=tuple(dict.fromkeys(paper["authors"])),
                venue=paper["venue"],
                year=paper["year"],
                urls=(paper["url"],) if paper["url"] else (),
                position=position,
            )
            for position, paper in enumerate(mixed, start=1)
        ),
    )


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from (paper for line in file if ((paper := json.loads(line))["abstract"] or "").strip())


class KnownVectors(Embeddings):
    """Vectors from a library that holds them; others are computed and kept in it."""

    def __init__(self, library: Library, model: EmbeddingModel) -> None:
        self._library = library
        self._model = model

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector per text."""
        known = self._library.vectors(self._model.key, texts)
        missing = [text for text in texts if text not in known]
        if missing:
            vectors = self._model.vectors(missing)
            self._library.keep_vectors(self._model.key, missing, vectors)
            known |= dict(zip(missing, vectors, strict=True))
        return [known[text].tolist() for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        return self._model.embeddings.embed_query(text)
