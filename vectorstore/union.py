"""Several collections asked as one: a collection made of theirs, and made anew when one of them changes.

Weights of words, labels and ranks mean something within one index only; so papers of several are brought into one. A
paper that two of them hold is one paper. Vectors are taken over: nothing is embedded again.
"""

import hashlib
import json
import threading
from collections.abc import Sequence
from pathlib import Path

from vectorstore.chunking import chunk_papers
from vectorstore.collection import Collection, CollectionReader
from vectorstore.embedding import EmbeddingModel
from vectorstore.errors import CollectionBusy
from vectorstore.folder import CollectionFolder
from vectorstore.indexing import index_sources
from vectorstore.library import Library, record_of
from vectorstore.progress import Progress, silent
from vectorstore.types import Source

_FOLDER = "unions"
_MEMBERS = "members.json"
"""The file of a union that says which indexes it was made of."""


class Union:
    """Keeps the union of collections up to date; `folder` is where it lies."""

    def __init__(
        self,
        members: Sequence[CollectionReader],
        data_dir: Path,
        embedding: EmbeddingModel,
        *,
        progress: Progress = silent,
    ) -> None:
        self._members, self._embedding = members, embedding
        names = [member.current().folder.name for member in members]
        digest = hashlib.sha256(json.dumps(names).encode()).hexdigest()[:16]
        self.folder = CollectionFolder(data_dir / _FOLDER, digest)
        self._lock = threading.Lock()
        self._made_of = self._read_made_of()
        self.refresh(progress=progress)

    def refresh(self, *, progress: Progress = silent) -> None:
        """Brings it up to date, unless another process is doing so; until that is done, the old one is asked."""
        with self._lock:
            collections = [member.current() for member in self._members]
            wanted = [[collection.folder.name, collection.index.folder] for collection in collections]
            if wanted == self._made_of and self.folder.is_published():
                return
            try:
                self._make(collections, progress)
            except CollectionBusy:
                if not self.folder.is_published():
                    raise
                return
            self._members_file.write_text(json.dumps(wanted), "utf-8")
            self._made_of = wanted

    def _make(self, collections: Sequence[Collection], progress: Progress) -> None:
        sources = []
        with self.folder.writing():
            library = Library(self.folder.library_path, create=True)
            try:
                for collection in collections:
                    papers = collection.library.papers()
                    texts = [chunk.embedded_text for chunk in chunk_papers(papers)]
                    held = collection.library.vectors(self._embedding.key, texts)
                    library.keep_vectors(self._embedding.key, held, held.values())
                    records = tuple(record_of(paper, at) for at, paper in enumerate(papers, start=1))
                    sources.append(Source(path=collection.folder.name, papers=records))
            finally:
                library.close()
        index_sources(self.folder, sources, self._embedding, progress=progress)

    @property
    def _members_file(self) -> Path:
        return self.folder.path / _MEMBERS

    def _read_made_of(self) -> list[list[str]] | None:
        try:
            made_of: list[list[str]] = json.loads(self._members_file.read_text("utf-8"))
        except (OSError, ValueError):
            return None
        return made_of
