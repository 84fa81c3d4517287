"""The vectors of a collection's chunks in Chroma: built once, then only read.

A store is never written to after it was built (an update builds the next one beside it), so that no reader
sees it change and none of Chroma's records can get lost on the way.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from vectorstore.errors import CollectionDamaged, CollectionError, UserFacingError
from vectorstore.exact import VectorFile, unit
from vectorstore.ranking import best_rows
from vectorstore.types import Chunk

if TYPE_CHECKING:
    from chromadb.api.client import Client

_HNSW: Any = {"space": "cosine", "max_neighbors": 48, "ef_construction": 400, "ef_search": 400}
"""With Chroma's defaults some records could not be found by their own vector; with these, none were lost."""
_LOG = logging.getLogger(__name__)


class Place(Protocol):
    """Where the chunks of one index are; as text, its name for a reader."""

    @property
    def largest_batch(self) -> int:
        """Chunks that are sent at once; Chroma itself may allow fewer."""

    @property
    def collection(self) -> str:
        """The name of Chroma's collection."""

    def exists(self) -> bool:
        """Whether there is something at this place, be it whole or not."""

    def client(self) -> "Client":
        """A client that reaches it."""

    def release(self, client: "Client") -> None:
        """Takes back a client that is no longer used."""

    def unreadable(self, error: Exception, hint: str) -> UserFacingError:
        """What to tell a user of an error that Chroma raised on reading; `hint` mends what is damaged."""

    def unwritable(self, error: Exception) -> UserFacingError:
        """The same of an error on writing."""


@dataclass(frozen=True)
class FolderPlace:
    """A folder of this machine, which Chroma writes to and reads from within the process."""

    folder: Path
    largest_batch: int = 2000
    collection: str = "chunks"

    def __str__(self) -> str:
        return str(self.folder)

    def exists(self) -> bool:
        """Whether Chroma has made its database there."""
        return (self.folder / "chroma.sqlite3").is_file()

    def client(self) -> "Client":
        """A client of its own: Chroma remembers each folder it has opened until all its clients are closed."""
        import chromadb  # here, so that commands that open no index do not wait for it
        from chromadb.config import Settings

        settings = Settings(anonymized_telemetry=False, chroma_otel_granularity="none")
        return cast("Client", chromadb.PersistentClient(str(self.folder), settings=settings))

    def release(self, client: "Client") -> None:
        """Closes it."""
        client.close()

    def unreadable(self, error: Exception, hint: str) -> UserFacingError:
        """Chroma raises errors of many kinds for a damaged folder."""
        return CollectionDamaged(f"The index {self} cannot be read ({type(error).__name__}).", hint)

    def unwritable(self, error: Exception) -> UserFacingError:
        """Here they are of many kinds too; a full disk is the usual one."""
        return not_written(self.folder.parent, error)


def not_written(path: Path, error: Exception) -> CollectionError:
    """What to tell a user when an index could not be written to a folder."""
    return CollectionError(
        f"The index {path} cannot be written ({type(error).__name__}: {error}).",
        "Check disk space and permissions; the collection is as it was before.",
    )


class Nearest(Protocol):
    """The chunks of one index, for search by vector."""

    def nearest(self, vector: NDArray[np.float32], k: int) -> dict[str, float]:
        """Cosine similarity by chunk id of the `k` nearest chunks, nearest first."""

    def close(self) -> None:
        """Ends it; it cannot be used any more."""


class ExactNearest:
    """The same chunks without Chroma, which writes to its folder even when it is only asked."""

    def __init__(self, vectors: VectorFile, chunk_ids: Sequence[str]) -> None:
        self._vectors, self._chunk_ids = vectors, chunk_ids

    def nearest(self, vector: NDArray[np.float32], k: int) -> dict[str, float]:
        """Cosine similarity by chunk id of the `k` nearest chunks, nearest first."""
        similarities = self._vectors.products(unit(vector), np.arange(len(self._chunk_ids)))
        return {self._chunk_ids[row]: float(similarities[row]) for row in best_rows(similarities, k)}

    def close(self) -> None:
        """Nothing is held open."""


class ChunkStore:
    """The chunks of one index in Chroma."""

    def __init__(self, place: Place, *, expected_chunks: int, rebuild_command: str) -> None:
        """Opens a built store. Raises `CollectionDamaged` unless it can be read and holds all its chunks."""
        self._place, self._chunks, self._rebuild_command = place, expected_chunks, rebuild_command
        with reading(place, rebuild_command):
            if not place.exists():
                raise CollectionDamaged(f"The index {place} is missing.", _mending(rebuild_command))
            self._client = place.client()
            self._collection = self._client.get_collection(place.collection, embedding_function=None)
            found = self._collection.count()
        if found != expected_chunks:
            raise CollectionDamaged(
                f"The index {place} holds {found} chunks instead of {expected_chunks}.", _mending(rebuild_command)
            )

    def nearest(self, vector: NDArray[np.float32], k: int) -> dict[str, float]:
        """Cosine similarity by chunk id of the `k` nearest chunks, nearest first."""
        with reading(self._place, self._rebuild_command):
            found = self._collection.query(
                query_embeddings=[vector.tolist()], n_results=min(k, self._chunks), include=["distances"]
            )
        distances = found["distances"] or [[]]
        return {chunk_id: 1.0 - distance for chunk_id, distance in zip(found["ids"][0], distances[0], strict=True)}

    def close(self) -> None:
        """Ends the client; the store cannot be used after it."""
        self._place.release(self._client)


@contextmanager
def reading(place: Place, rebuild_command: str) -> Iterator[None]:
    """Turns what Chroma raises into errors that a user may see; `rebuild_command` mends what is damaged."""
    try:
        yield
    except UserFacingError:
        raise
    except Exception as error:
        _LOG.debug("chroma failed", exc_info=True)
        raise place.unreadable(error, _mending(rebuild_command)) from error


def build_store(
    place: Place,
    chunks: Sequence[Chunk],
    vectors: NDArray[np.float32],
    *,
    extra: Mapping[str, Mapping[str, str | int]] | None = None,
    progress: Callable[[int], Any] = lambda done: None,
) -> None:
    """Writes a new store at `place`, where there must be none.

    `extra` is more metadata by chunk id; `progress` is told how many chunks were added.
    """
    try:
        client = place.client()
        try:
            _fill(client, place, chunks, vectors, extra or {}, progress)
        finally:
            place.release(client)
    except UserFacingError:
        raise
    except Exception as error:
        _LOG.debug("chroma failed", exc_info=True)
        raise place.unwritable(error) from error


def _fill(
    client: "Client",
    place: Place,
    chunks: Sequence[Chunk],
    vectors: NDArray[np.float32],
    extra: Mapping[str, Mapping[str, str | int]],
    progress: Callable[[int], Any],
) -> None:
    collection = client.create_collection(place.collection, embedding_function=None, configuration={"hnsw": _HNSW})
    # `add` builds the embedding function that a server names in this schema: code of somebody else's choice.
    cast("Any", collection)._model.serialized_schema = None
    size = min(place.largest_batch, client.get_max_batch_size())
    for start in range(0, len(chunks), size):
        batch = chunks[start : start + size]
        collection.add(
            ids=[chunk.chunk_id for chunk in batch],
            embeddings=vectors[start : start + size],
            metadatas=[{**_metadata(chunk), **extra.get(chunk.chunk_id, {})} for chunk in batch],
        )
        progress(start + len(batch))


def _metadata(chunk: Chunk) -> dict[str, str | int]:
    return {"paper_id": chunk.paper_id, "start": chunk.span.start, "end": chunk.span.end}


def _mending(rebuild_command: str) -> str:
    return f"Rebuild it from the library: {rebuild_command}"
