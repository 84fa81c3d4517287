"""The vectors of a collection's chunks in Chroma: built once, then only read.

A store is never written to after it was built (an update builds the next one beside it), so that no reader
sees it change and none of Chroma's records can get lost on the way.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from vectorstore.errors import CollectionDamaged, UserFacingError
from vectorstore.types import Chunk

if TYPE_CHECKING:
    from chromadb.api.client import Client

_NAME = "chunks"
_HNSW: Any = {"space": "cosine", "max_neighbors": 48, "ef_construction": 400, "ef_search": 400}
"""With Chroma's defaults some records could not be found by their own vector; with these, none were lost."""
_LARGEST_BATCH = 2000
_LOG = logging.getLogger(__name__)


class ChunkStore:
    """The chunks of one index, for search by vector."""

    def __init__(self, folder: Path, *, expected_chunks: int, rebuild_command: str) -> None:
        """Opens a built store. Raises `CollectionDamaged` unless it can be read and holds all its chunks."""
        self._damaged_hint = f"Rebuild it from the library: {rebuild_command}"
        self._folder = folder
        with self._translating_errors():
            if not (folder / "chroma.sqlite3").is_file():
                raise CollectionDamaged(f"The index {folder} is missing.", self._damaged_hint)
            self._client = _client(folder)
            self._collection = self._client.get_collection(_NAME, embedding_function=None)
            found = self._collection.count()
        if found != expected_chunks:
            raise CollectionDamaged(
                f"The index {folder} holds {found} chunks instead of {expected_chunks}.", self._damaged_hint
            )

    def nearest(self, vector: NDArray[np.float32], k: int) -> dict[str, float]:
        """Cosine similarity by chunk id of the `k` nearest chunks, nearest first."""
        with self._translating_errors():
            found = self._collection.query(
                query_embeddings=[vector.tolist()], n_results=min(k, self._collection.count()), include=["distances"]
            )
        distances = found["distances"] or [[]]
        return {chunk_id: 1.0 - distance for chunk_id, distance in zip(found["ids"][0], distances[0], strict=True)}

    def close(self) -> None:
        """Ends the client; the store cannot be used after it."""
        self._client.close()

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        try:
            yield
        except UserFacingError:
            raise
        except Exception as error:  # Chroma raises errors of many kinds for a damaged folder
            _LOG.debug("chroma failed", exc_info=True)
            raise CollectionDamaged(
                f"The index {self._folder} cannot be read ({type(error).__name__}).", self._damaged_hint
            ) from error


def build_store(
    folder: Path,
    chunks: list[Chunk],
    vectors: NDArray[np.float32],
    *,
    progress: Callable[[int], Any] = lambda done: None,
) -> None:
    """Writes a new store into `folder`, which must not exist. `progress` is told how many chunks were added."""
    client = _client(folder)
    try:
        collection = client.create_collection(_NAME, embedding_function=None, configuration={"hnsw": _HNSW})
        size = min(_LARGEST_BATCH, client.get_max_batch_size())
        for start in range(0, len(chunks), size):
            batch = chunks[start : start + size]
            collection.add(
                ids=[chunk.chunk_id for chunk in batch],
                embeddings=vectors[start : start + size],
                metadatas=[{"paper_id": c.paper_id, "start": c.span.start, "end": c.span.end} for c in batch],
            )
            progress(len(batch))
    finally:
        client.close()


def _client(folder: Path) -> "Client":
    import chromadb  # here, so that commands that open no index do not wait for it
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    return cast("Client", chromadb.PersistentClient(str(folder), settings=settings))
