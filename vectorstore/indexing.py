"""The index flow: files -> papers -> library -> chunks -> vectors -> Chroma and keyword index.

A new index is built beside the old one, inside the transaction that changes the library: whoever reads sees
the old papers with the old index or the new papers with the new one, also after a crash or on a full disk.
"""

import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from vectorstore.chunking import chunk_papers, embedded_texts
from vectorstore.collection import FACETS, VECTORS, VOCABULARY, CollectionFolder, fingerprint_of, refuse_other_settings
from vectorstore.embedding import EmbeddingModel
from vectorstore.errors import CollectionError, CollectionMissing
from vectorstore.exact import build_vectors
from vectorstore.facets import build_facets
from vectorstore.keywords import build_keywords
from vectorstore.library import Library
from vectorstore.loading import load_source, source_files
from vectorstore.spelling import build_vocabulary
from vectorstore.store import build_store
from vectorstore.types import IndexReport, PublishedIndex, Source, SourceChange

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much."""

_EMBEDDING_BATCH = 64
"""Texts per call; each batch is kept at once, so a failure costs at most this many. At the end of a call, cores wait
for the last text: in calls of 16 that costs some hundredths."""


def silent(what: str, done: int, total: int) -> None:
    """The `Progress` that shows nothing."""


def index_files(
    folder: CollectionFolder, paths: Iterable[Path], embedding: EmbeddingModel, *, progress: Progress = silent
) -> IndexReport:
    """Reads files, or folders of files, into a collection and brings its index up to date."""
    sources = [load_source(path) for path in source_files(paths)]
    return index_sources(folder, sources, embedding, progress=progress)


def index_sources(
    folder: CollectionFolder, sources: Sequence[Source], embedding: EmbeddingModel, *, progress: Progress = silent
) -> IndexReport:
    """The same for papers that have been read already."""
    with _writable_library(folder) as library:
        before = library.published()
        if before is not None:
            refuse_other_settings(folder, before.fingerprint, fingerprint_of(embedding))
        texts = [text for source in sources for record in source.papers for text in embedded_texts(record)]
        embedded = _embed_missing(library, texts, embedding, progress)
        with library.transaction():
            changes = tuple(library.replace_source(source) for source in sources)
            if before is not None and not any(c.added or c.removed or c.changed for c in changes):
                return _report(folder, library, before, embedded, changes, rebuilt=False)
            index = _publish_new_index(folder, library, embedding, progress)
        _remove_old_indexes(folder, index, before)
        return _report(folder, library, index, embedded, changes, rebuilt=True)


def rebuild_index(folder: CollectionFolder, embedding: EmbeddingModel, *, progress: Progress = silent) -> IndexReport:
    """Builds the index anew from the library; embeds only what the library has no vector of this model for."""
    folder.require()
    with _writable_library(folder) as library:
        before = library.published()
        if not library.labels():
            raise CollectionMissing(
                f"The collection {folder.name!r} holds no paper yet.",
                f"Index some: assistant index PATH --collection {folder.name}",
            )
        texts = [chunk.embedded_text for chunk in chunk_papers(library.papers())]
        embedded = _embed_missing(library, texts, embedding, progress)
        with library.transaction():
            index = _publish_new_index(folder, library, embedding, progress)
        _remove_old_indexes(folder, index, before)
        return _report(folder, library, index, embedded, (), rebuilt=True)


@contextmanager
def _writable_library(folder: CollectionFolder) -> Iterator[Library]:
    with folder.writing():
        library = Library(folder.library_path, create=True)
        try:
            yield library
        finally:
            library.close()


def _embed_missing(library: Library, texts: Sequence[str], embedding: EmbeddingModel, progress: Progress) -> int:
    """Embeds the texts that the library has no vector for; returns how many that were."""
    known = library.vectors(embedding.key, texts)
    missing = list(dict.fromkeys(text for text in texts if text not in known))
    for start in range(0, len(missing), _EMBEDDING_BATCH):
        batch = missing[start : start + _EMBEDDING_BATCH]
        library.keep_vectors(embedding.key, batch, embedding.vectors(batch))
        progress("embedding", start + len(batch), len(missing))
    return len(missing)


def _publish_new_index(
    folder: CollectionFolder, library: Library, embedding: EmbeddingModel, progress: Progress
) -> PublishedIndex:
    """Builds the index of all papers from the vectors in the library; call it inside a transaction."""
    before = library.published()
    generation = before.generation + 1 if before else 1
    papers = library.papers()
    chunks = chunk_papers(papers)
    known = library.vectors(embedding.key, [chunk.embedded_text for chunk in chunks])
    vectors = np.stack([known[chunk.embedded_text] for chunk in chunks])
    # The random part keeps clear of what a crash left behind: Chroma remembers each path it has opened.
    index = PublishedIndex(
        generation, f"{generation:06d}-{uuid.uuid4().hex[:8]}", len(chunks), fingerprint_of(embedding)
    )
    path = folder.index_path / index.folder
    with _translating_errors(path):
        build_store(path / "chroma", chunks, vectors, progress=lambda done: progress("indexing", done, len(chunks)))
        build_vectors(path / VECTORS, vectors)
        build_facets(path / FACETS, papers, chunks)
        build_keywords(path / "keywords", chunks)
        build_vocabulary(path / VOCABULARY, chunks)
    library.publish(index)
    return index


@contextmanager
def _translating_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # Chroma's are of many kinds; a full disk is the usual one
        raise CollectionError(
            f"The index {path} cannot be written ({type(error).__name__}: {error}).",
            "Check disk space and permissions; the collection is as it was before.",
        ) from error


def _remove_old_indexes(folder: CollectionFolder, index: PublishedIndex, before: PublishedIndex | None) -> None:
    """Keeps the index before the new one: a reader may be in the middle of a question on it."""
    kept = {index.folder, before.folder if before else None}
    for path in folder.index_path.iterdir():
        if path.name not in kept:
            shutil.rmtree(path, ignore_errors=True)


def _report(
    folder: CollectionFolder,
    library: Library,
    index: PublishedIndex,
    embedded: int,
    changes: tuple[SourceChange, ...],
    *,
    rebuilt: bool,
) -> IndexReport:
    return IndexReport(
        collection=folder.name,
        papers=len(library.labels()),
        chunks=index.chunks,
        embedded=embedded,
        rebuilt=rebuilt,
        sources=changes,
    )
