"""A collection on disk: its library, its index, and the lock that lets one process write at a time."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from filelock import FileLock, Timeout

from vectorstore.chunking import CHUNKING
from vectorstore.embedding import EmbeddingModel
from vectorstore.errors import CollectionBusy, CollectionError, CollectionMissing, FingerprintMismatch
from vectorstore.exact import VectorFile
from vectorstore.facets import Facets
from vectorstore.keywords import KeywordIndex
from vectorstore.label_index import LabelIndex
from vectorstore.library import SCHEMA, Library
from vectorstore.packaged import english_words
from vectorstore.spelling import Spelling, read_vocabulary
from vectorstore.store import ChunkStore
from vectorstore.survey import PapersOfRows
from vectorstore.types import Fingerprint, PublishedIndex

FACETS = "facets.sqlite"
"""The file of an index that holds what its papers are filtered by."""
VECTORS = "vectors.npy"
"""The file of an index that holds the vectors of its chunks."""
VOCABULARY = "vocabulary.json"
"""The file of an index that holds the words of its papers."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


@dataclass(frozen=True)
class CollectionFolder:
    """Where a collection lies: `data_dir/collections/NAME`."""

    data_dir: Path
    name: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise CollectionError(
                f"{self.name!r} cannot be the name of a collection.",
                "Use up to 63 lower-case letters, digits, '.', '_' and '-'.",
            )

    @property
    def path(self) -> Path:
        """The folder itself."""
        return self.data_dir / "collections" / self.name

    @property
    def library_path(self) -> Path:
        """The SQLite file of the library."""
        return self.path / "library.sqlite"

    @property
    def index_path(self) -> Path:
        """The folder that holds one folder per index."""
        return self.path / "index"

    @property
    def rebuild_command(self) -> str:
        """What to type to build the index anew from the library."""
        return f"assistant index --rebuild --collection {self.name}"

    def exists(self) -> bool:
        """Whether there is a library."""
        return self.library_path.is_file()

    def is_published(self) -> bool:
        """Whether there is an index to read: not so before the first one, or when making it was interrupted."""
        if not self.exists():
            return False
        library = Library(self.library_path)
        try:
            return library.published() is not None
        finally:
            library.close()

    def require(self) -> None:
        """Raises `CollectionMissing` when there is no library."""
        if not self.exists():
            raise CollectionMissing(
                f"There is no collection {self.name!r} in {self.data_dir}.",
                f"Make it: assistant index PATH --collection {self.name}",
            )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Holds the writer's lock. Raises `CollectionBusy`, naming the holder, when another process has it."""
        self._make()
        holder = self.path / "writer.pid"
        try:
            with FileLock(self.path / "writer.lock", timeout=0):
                holder.write_text(str(os.getpid()), "utf-8")
                yield
        except Timeout as error:
            pid = holder.read_text("utf-8") if holder.is_file() else "unknown"
            raise CollectionBusy(
                f"Process {pid} is writing to the collection {self.name!r}.", "Try again when it is done."
            ) from error

    def _make(self) -> None:
        try:
            self.index_path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CollectionError(
                f"The folder {self.path} cannot be made: {error.strerror}.",
                "Set ASSISTANT_DATA_DIR to a folder that you may write to.",
            ) from error


def fingerprint_of(embedding: EmbeddingModel) -> Fingerprint:
    """The fingerprint of an index built now, with this embedding model."""
    return Fingerprint(schema=SCHEMA, embedding=embedding.name, checksum=embedding.checksum, chunking=CHUNKING)


def refuse_other_settings(folder: CollectionFolder, built_by: Fingerprint, wanted: Fingerprint) -> None:
    """Raises `FingerprintMismatch` when an index was built by other settings than those wanted now."""
    differences = built_by.differences(wanted)
    if differences:
        raise FingerprintMismatch(
            f"The index of {folder.name!r} was built by other settings: {'; '.join(differences)}.",
            f"Rebuild it from the library: {folder.rebuild_command}",
        )


@dataclass(frozen=True)
class Collection:
    """A collection opened for reading: one state of its library, with the index that belongs to it."""

    folder: CollectionFolder
    library: Library
    index: PublishedIndex
    store: ChunkStore
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


class CollectionReader:
    """Hands out the newest state of a collection; reopens it when another process has published a new index."""

    def __init__(self, folder: CollectionFolder, embedding: EmbeddingModel) -> None:
        self._folder = folder
        self._fingerprint = fingerprint_of(embedding)
        self._lock = threading.Lock()
        folder.require()
        self._library = Library(folder.library_path)
        self._current = self._open(self._published())
        self._previous: Collection | None = None

    def current(self) -> Collection:
        """The newest state. Raises `CollectionDamaged` or `FingerprintMismatch` when it cannot be used."""
        with self._lock:
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
        store = ChunkStore(path / "chroma", expected_chunks=index.chunks, rebuild_command=rebuild)
        vectors = VectorFile(path / VECTORS, expected_rows=index.chunks, rebuild_command=rebuild)
        facets = Facets(path / FACETS, rebuild_command=rebuild)
        keywords = KeywordIndex(path / "keywords", rebuild_command=rebuild)
        labels = LabelIndex(self._library.labels())
        return Collection(self._folder, self._library, index, store, vectors, facets, keywords, labels)
