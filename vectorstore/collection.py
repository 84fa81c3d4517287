"""A collection opened for reading: its library and its index, and when to open the next one."""

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from vectorstore.chunking import CHUNKING
from vectorstore.copying import LibraryCopy
from vectorstore.embedding import EmbeddingModel
from vectorstore.errors import CollectionMissing
from vectorstore.exact import VectorFile
from vectorstore.facets import Facets
from vectorstore.folder import FACETS, KEYWORDS, VECTORS, VOCABULARY, CollectionFolder, refuse_other_settings
from vectorstore.keywords import KeywordIndex
from vectorstore.label_index import LabelIndex
from vectorstore.library import Library
from vectorstore.packaged import english_words
from vectorstore.progress import Progress, silent
from vectorstore.spelling import Spelling, read_vocabulary
from vectorstore.store import ChunkStore, ExactNearest, Nearest
from vectorstore.survey import PapersOfRows
from vectorstore.types import Fingerprint, PublishedIndex

_SCHEMA = 2
"""Of the index and the files beside it."""


def fingerprint_of(embedding: EmbeddingModel) -> Fingerprint:
    """The fingerprint of an index built now, with this embedding model."""
    return Fingerprint(schema=_SCHEMA, embedding=embedding.name, checksum=embedding.checksum, chunking=CHUNKING)


@dataclass(frozen=True)
class Collection:
    """A collection opened for reading: one state of its library, with the index that belongs to it."""

    folder: CollectionFolder
    library: Library
    index: PublishedIndex
    store: Nearest
    vectors: VectorFile
    facets: Facets
    keywords: KeywordIndex
    labels: LabelIndex

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each chunk in the vectors, the facets and the keyword index, by chunk id."""
        return {chunk_id: row for row, chunk_id in enumerate(self.keywords.chunk_ids)}

    @cached_property
    def papers_of_rows(self) -> PapersOfRows:
        """Which paper each row is of."""
        return PapersOfRows(self.keywords.chunk_ids)

    def spelling(self) -> Spelling:
        """The words of its papers, read anew. Raises `CollectionDamaged` when they cannot be read."""
        path = self.folder.index_path / self.index.folder / VOCABULARY
        tokens = read_vocabulary(path, rebuild_command=self.folder.rebuild_command)
        return Spelling(tokens, self.labels, english_words())


class Renewed(Protocol):
    """What is made of collections elsewhere, and made anew when these change."""

    folder: CollectionFolder

    def refresh(self) -> None:
        """Brings it up to date, or lets it be as it is for now."""
        ...


class CollectionReader:
    """Hands out the newest state of a collection; reopens it when another process has published a new index."""

    def __init__(
        self,
        folder: CollectionFolder,
        embedding: EmbeddingModel,
        *,
        made_of: "Renewed | None" = None,
        progress: Progress = silent,
    ) -> None:
        """`made_of` keeps what is in `folder` up to date, if it is made of other collections.

        `progress` is told of the first copy, if the collection is one that another machine indexes.
        """
        self._fingerprint = fingerprint_of(embedding)
        self._lock = threading.Lock()
        self._renewed = made_of
        if folder.server and folder.is_indexed_elsewhere():
            self._renewed = LibraryCopy(folder, folder.server, self._fingerprint, embedding.key, progress=progress)
        self._folder = self._renewed.folder if self._renewed else folder
        self._folder.require()
        self._library = Library(self._folder.library_path)
        self._current = self._open(self._published())
        self._previous: Collection | None = None

    def current(self) -> Collection:
        """The newest state. Raises another kind of `CollectionError` for each reason why it cannot be used."""
        with self._lock:
            if self._renewed:
                self._renewed.refresh()
            published = self._published()
            if published != self._current.index:
                opened = self._open(published)
                if self._previous:
                    self._previous.store.close()  # nobody asks it any more; the current one may be in use
                self._previous, self._current = self._current, opened
            return self._current

    def _published(self) -> PublishedIndex:
        published = self._library.published()
        if published is None:
            raise CollectionMissing(
                f"The collection {self._folder.name!r} holds no paper yet.",
                f"Index some: assistant index PATH --collection {self._folder.name}",
            )
        return published

    def _open(self, index: PublishedIndex) -> Collection:
        refuse_other_settings(self._folder, index.fingerprint, self._fingerprint)
        path, rebuild = self._folder.index_path / index.folder, self._folder.rebuild_command
        vectors = VectorFile(path / VECTORS, expected_rows=index.chunks, rebuild_command=rebuild)
        facets = Facets(path / FACETS, rebuild_command=rebuild)
        keywords = KeywordIndex(path / KEYWORDS, rebuild_command=rebuild)
        labels = LabelIndex(self._library.labels())
        place = self._folder.place(index.folder)
        store = (
            ExactNearest(vectors, keywords.chunk_ids)
            if self._folder.is_read_only
            else ChunkStore(place, expected_chunks=index.chunks, rebuild_command=rebuild)
        )
        return Collection(self._folder, self._library, index, store, vectors, facets, keywords, labels)
