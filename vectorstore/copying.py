"""Keeps a copy of a collection that another machine indexes: all that a search needs beside the vectors on the server.

The papers travel as metadata of their first chunks. From them and the vectors the copy is made by the same functions as
the original, in the same layout, so that nothing that searches knows the difference.
"""

import threading
import time
from collections.abc import Iterable, Sequence

import numpy as np
from pydantic import TypeAdapter, ValidationError

from vectorstore.chunking import chunk_papers
from vectorstore.errors import CollectionDamaged, CollectionMissing
from vectorstore.folder import CollectionFolder, refuse_other_settings
from vectorstore.library import Library
from vectorstore.progress import Progress, silent
from vectorstore.server import ChromaServer
from vectorstore.store import Place, reading
from vectorstore.types import Chunk, Fingerprint, Paper, PublishedIndex

_ASK_AGAIN_SECONDS = 1.0
"""How old what the server said may be; a question reads its collection dozens of times."""
_PATIENCE_SECONDS = 10.0
"""How long a question waits for a new copy before it is answered from the old one."""
_PAGE = 1000
_PAPER, _ORDER = "paper", "order"
_PAPERS = TypeAdapter(Paper)


def carried_papers(papers: Sequence[Paper], chunks: Iterable[Chunk]) -> dict[str, dict[str, str | int]]:
    """Metadata that carries the papers, by the id of each one's first chunk."""
    first: dict[str, str] = {}
    for chunk in chunks:
        first.setdefault(chunk.paper_id, chunk.chunk_id)
    return {
        first[paper.paper_id]: {_ORDER: order, _PAPER: _PAPERS.dump_json(paper).decode()}
        for order, paper in enumerate(papers)
    }


class LibraryCopy:
    """The copy of one collection on this machine, and when it was last compared with the server.

    Making it raises `FingerprintMismatch`, `CollectionDamaged` or `ServerUnavailable` when there is nothing to copy
    that could be read here.
    """

    def __init__(
        self,
        original: CollectionFolder,
        server: ChromaServer,
        wanted: Fingerprint,
        model_key: str,
        *,
        progress: Progress = silent,
    ) -> None:
        self.folder = original.copy()
        self._server, self._wanted, self._model_key = server, wanted, model_key
        self._asked_at = 0.0
        self._failure: Exception | None = None
        self._copying: threading.Thread | None = None
        self._copied = self._newest()
        copy_index(self.folder, self._copied, model_key, progress=progress)

    def refresh(self) -> None:
        """Sees to it that the copy is of the newest index, or will be soon. Raises why it cannot be."""
        if self._copying and self._copying.is_alive():
            return
        self._raise_failure()
        if time.monotonic() < self._asked_at + _ASK_AGAIN_SECONDS:
            return
        newest = self._newest()
        if newest != self._copied:
            self._copying = threading.Thread(target=self._copy, args=(newest,), daemon=True)
            self._copying.start()
            self._copying.join(_PATIENCE_SECONDS)
            self._raise_failure()

    def _newest(self) -> PublishedIndex:
        published = self._server.published(self.folder.name)
        self._asked_at = time.monotonic()
        if published is None:
            raise CollectionMissing(
                f"The collection {self.folder.name!r} is no longer on {self._server.url}.",
                f"Index it again: assistant index PATH --collection {self.folder.name}",
            )
        refuse_other_settings(self.folder, published.index.fingerprint, self._wanted)
        return published.index

    def _copy(self, index: PublishedIndex) -> None:
        try:
            copy_index(self.folder, index, self._model_key)
            self._copied = index
        except Exception as error:  # whatever it is, the question that waits for the copy is told
            self._failure = error

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure:
            raise failure


def copy_index(folder: CollectionFolder, index: PublishedIndex, model_key: str, *, progress: Progress = silent) -> None:
    """Makes the copy in `folder` one of that index, unless it is already; waits for another process that does so.

    Papers and vectors that an earlier copy has are not fetched again.
    """
    place = folder.place(index.folder)
    with folder.writing(wait=True):
        library = Library(folder.library_path, create=True)
        try:
            before = library.published()
            if before == index:
                return
            papers = _carried_papers(place, index, folder.rebuild_command, progress)
            chunks = chunk_papers(papers)
            if len(chunks) != index.chunks:
                raise _damaged(place, folder.rebuild_command)
            _fetch_missing(place, library, chunks, model_key, folder.rebuild_command, progress)
            with library.transaction():
                library.replace_papers(papers)
                texts = [chunk.embedded_text for chunk in chunks]
                folder.build_files(index.folder, papers, chunks, library.vector_rows(model_key, texts))
                library.publish(index)
            folder.remove_indexes(except_for=[index.folder, *([before.folder] if before else [])])
        finally:
            library.close()


def _carried_papers(place: Place, index: PublishedIndex, rebuild_command: str, progress: Progress) -> list[Paper]:
    """All papers of an index on a server, in the order of its library."""
    found: dict[int, str] = {}
    with reading(place, rebuild_command):
        collection = place.client().get_collection(place.collection, embedding_function=None)
        for start in range(0, index.chunks, _PAGE):
            page = collection.get(limit=_PAGE, offset=start, include=["metadatas"])["metadatas"] or []
            found |= {int(str(m[_ORDER])): str(m[_PAPER]) for m in page if m and _PAPER in m and _ORDER in m}
            progress("fetching papers", min(start + _PAGE, index.chunks), index.chunks)
    try:
        return [_PAPERS.validate_json(found[order]) for order in sorted(found)]
    except ValidationError:
        raise _damaged(place, rebuild_command) from None


def _fetch_missing(
    place: Place, library: Library, chunks: Sequence[Chunk], model_key: str, rebuild_command: str, progress: Progress
) -> None:
    """Fetches the vectors that the library does not have."""
    known = library.vectors(model_key, [chunk.embedded_text for chunk in chunks])
    missing = [chunk for chunk in chunks if chunk.embedded_text not in known]
    for start in range(0, len(missing), _PAGE):
        batch = {chunk.chunk_id: chunk.embedded_text for chunk in missing[start : start + _PAGE]}
        with reading(place, rebuild_command):
            collection = place.client().get_collection(place.collection, embedding_function=None)
            got = collection.get(ids=list(batch), include=["embeddings"])
        if set(got["ids"]) != set(batch):
            raise _damaged(place, rebuild_command)
        vectors = np.asarray(got["embeddings"], dtype=np.float32)
        library.keep_vectors(model_key, [batch[chunk_id] for chunk_id in got["ids"]], vectors)
        progress("fetching vectors", min(start + _PAGE, len(missing)), len(missing))


def _damaged(place: Place, rebuild_command: str) -> CollectionDamaged:
    return CollectionDamaged(f"The index {place} is not whole.", f"Rebuild it from the library: {rebuild_command}")
