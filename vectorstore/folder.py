"""A collection on disk: where its library and its indexes lie, and the lock that lets one process write at a time."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from vectorstore.errors import CollectionBusy, CollectionError, CollectionMissing, FingerprintMismatch
from vectorstore.exact import build_vectors
from vectorstore.facets import build_facets
from vectorstore.keywords import build_keywords
from vectorstore.library import Library, is_read_only
from vectorstore.server import ChromaServer
from vectorstore.spelling import build_vocabulary
from vectorstore.store import FolderPlace, Place, not_written
from vectorstore.types import Chunk, Fingerprint, Paper

FACETS = "facets.sqlite"
"""The file of an index that holds what its papers are filtered by."""
VECTORS = "vectors.npy"
"""The file of an index that holds the vectors of its chunks."""
VOCABULARY = "vocabulary.json"
"""The file of an index that holds the words of its papers."""
KEYWORDS = "keywords"
"""The folder of an index that holds its keyword index."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


@dataclass(frozen=True)
class CollectionFolder:
    """Where a collection lies: `data_dir/collections/NAME`, its chunks perhaps on a server."""

    data_dir: Path
    name: str
    server: ChromaServer | None = None
    """Where the chunks are; None: in a folder beside the library."""
    copied: bool = False
    """Whether this is a copy of a collection that another machine indexes: `data_dir/copies/NAME`."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise CollectionError(
                f"{self.name!r} cannot be the name of a collection.",
                "Use up to 63 lower-case letters, digits, '.', '_' and '-'.",
            )

    @property
    def path(self) -> Path:
        """The folder itself."""
        return self.data_dir / ("copies" if self.copied else "collections") / self.name

    @property
    def library_path(self) -> Path:
        """The SQLite file of the library."""
        return self.path / "library.sqlite"

    @property
    def index_path(self) -> Path:
        """The folder that holds one folder per index."""
        return self.path / "index"

    @property
    def deletion_mark(self) -> Path:
        """The file that says that the collection was deleted, so that one which makes itself does not come back."""
        return self.data_dir / "collections" / f".{self.name}.deleted"

    @property
    def rebuild_command(self) -> str:
        """What to type to build the index anew from the library."""
        where = ", on the machine that indexes it" if self.copied else ""
        return f"assistant index --rebuild --collection {self.name}{where}"

    def place(self, index: str) -> Place:
        """Where the chunks of the index of that name are."""
        if self.server:
            return self.server.place(self.name, index)
        return FolderPlace(self.index_path / index / "chroma")

    def copy(self) -> Self:
        """The folder of this collection's copy: a library of one's own by the same name is left alone."""
        return replace(self, copied=True)

    def exists(self) -> bool:
        """Whether there is a library."""
        return self.library_path.is_file()

    @property
    def is_read_only(self) -> bool:
        """Whether library and index are here, and may be read and not written to."""
        return self.server is None and is_read_only(self.library_path)

    def is_published(self) -> bool:
        """Whether there is an index to read: not so before the first one, or when making it was interrupted."""
        if self.server:
            return self.server.published(self.name) is not None
        if not self.exists():
            return False
        library = Library(self.library_path)
        try:
            return library.published() is not None
        finally:
            library.close()

    def is_indexed_elsewhere(self) -> bool:
        """Whether what the server has by this name was built from a library other than the one in this folder."""
        published = self.server.published(self.name) if self.server else None
        if published is None:
            return False
        if not self.exists():
            return True
        library = Library(self.library_path)
        try:
            return library.identity() != published.library
        finally:
            library.close()

    def require(self) -> None:
        """Raises `CollectionMissing` when there is no library."""
        if not self.exists():
            where = f"{self.data_dir} and on {self.server.url}" if self.server else f"{self.data_dir}"
            raise CollectionMissing(
                f"There is no collection {self.name!r} in {where}.",
                f"Make it: assistant index PATH --collection {self.name}",
            )

    @contextmanager
    def writing(self, *, wait: bool = False) -> Iterator[None]:
        """Holds the writer's lock.

        When another process has it: waits, or raises `CollectionBusy`, which names the holder.
        """
        lock = self._taken_lock(wait)
        try:
            yield
        finally:
            lock.release()

    def _taken_lock(self, wait: bool) -> FileLock:
        holder, lock = self.path / "writer.pid", FileLock(self.path / "writer.lock", timeout=-1 if wait else 0)
        try:
            self.index_path.mkdir(parents=True, exist_ok=True)
            lock.acquire()
            holder.write_text(str(os.getpid()), "utf-8")
        except Timeout as error:
            pid = holder.read_text("utf-8") if holder.is_file() else "unknown"
            raise CollectionBusy(
                f"Process {pid} is writing to the collection {self.name!r}.", "Try again when it is done."
            ) from error
        except OSError as error:
            lock.release()
            raise unwritable(self.path, error) from error
        return lock

    def build_files(
        self, index: str, papers: Sequence[Paper], chunks: list[Chunk], vectors: NDArray[np.float32]
    ) -> None:
        """Writes what belongs to an index beside the chunks in Chroma."""
        path = self.index_path / index
        try:
            path.mkdir(exist_ok=True)
            build_vectors(path / VECTORS, vectors)
            build_facets(path / FACETS, papers, chunks)
            build_keywords(path / KEYWORDS, chunks)
            build_vocabulary(path / VOCABULARY, chunks)
        except Exception as error:
            raise not_written(path, error) from error

    def remove_indexes(self, *, except_for: Sequence[str]) -> None:
        """Removes all indexes but those of these names, here and, if this is no copy, on the server."""
        for path in self.index_path.iterdir():
            if path.name not in except_for:
                shutil.rmtree(path, ignore_errors=True)
        if self.server and not self.copied:
            self.server.remove_indexes(self.name, except_for=except_for)


def unwritable(path: Path, error: OSError) -> CollectionError:
    """What to tell a user when a folder of collections cannot be changed."""
    return CollectionError(
        f"The folder {path} cannot be written to: {error.strerror}.",
        "Set ASSISTANT_DATA_DIR to a folder that you may write to, or make room on its disk.",
    )


def refuse_other_settings(folder: CollectionFolder, built_by: Fingerprint, wanted: Fingerprint) -> None:
    """Raises `FingerprintMismatch` when an index was built by other settings than those wanted now."""
    differences = built_by.differences(wanted)
    if differences:
        raise FingerprintMismatch(
            f"The index of {folder.name!r} was built by other settings: {'; '.join(differences)}.",
            f"Rebuild it from the library: {folder.rebuild_command}",
        )
