"""The index flow: files -> papers -> library -> chunks -> vectors -> Chroma and keyword index.

A new index is built beside the old one, inside the transaction that changes the library: whoever reads sees
the old papers with the old index or the new papers with the new one, also after a crash or on a full disk.
"""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from vectorstore.chunking import chunk_papers, embedded_texts
from vectorstore.collection import fingerprint_of
from vectorstore.copying import carried_papers
from vectorstore.embedding import EmbeddingModel
from vectorstore.errors import CollectionMissing
from vectorstore.folder import CollectionFolder, refuse_other_settings
from vectorstore.library import Library
from vectorstore.progress import Progress, silent
from vectorstore.server import Published
from vectorstore.store import build_store
from vectorstore.types import Bill, IndexReport, PublishedIndex, ReadingRules, Source, SourceChange

EMBEDDING_BATCH = 64
"""Texts per call; each batch is kept at once, so a failure costs at most this many. At the end of a call, cores wait
for the last text: in calls of 16 that costs some hundredths."""


class Embedder:
    """Embeds what a library has no vectors for, and counts what that takes."""

    def __init__(self, library: Library, model: EmbeddingModel, progress: Progress) -> None:
        self.model, self.progress = model, progress
        self.texts = 0
        """How many it has embedded."""
        self._library, self._billing = library, model.billing
        self._characters, self._tokens_before = 0, self._billing.tokens if self._billing else 0

    @property
    def estimated(self) -> Bill | None:
        """What it was to cost, before it began; None for a model that costs nothing."""
        return self._billing.estimate(self._characters) if self._billing else None

    @property
    def billed(self) -> Bill | None:
        """What it has cost, by the tokens that the server counted."""
        return self._billing.bill(self._billing.tokens - self._tokens_before) if self._billing else None

    def embed_missing(self, texts: Iterable[str]) -> None:
        """Embeds those of `texts` that the library has no vector for; `progress` is told first what that may cost."""
        missing = self._library.without_vector(self.model.key, texts)
        self._characters += sum(map(len, missing))
        what = f"embedding, about {self.estimated}" if self._billing else "embedding"
        for start in range(0, len(missing), EMBEDDING_BATCH):
            self.progress(what, start, len(missing))
            batch = missing[start : start + EMBEDDING_BATCH]
            self._library.keep_vectors(self.model.key, batch, self.model.vectors(batch))
            self.texts += len(batch)
        if missing:
            self.progress(what, len(missing), len(missing))


def index_files(
    folder: CollectionFolder,
    paths: Iterable[Path],
    embedding: EmbeddingModel,
    *,
    rules: ReadingRules | None = None,
    progress: Progress = silent,
) -> IndexReport:
    """Reads files, or folders of files, into a collection and brings its index up to date.

    Files that cannot be read are reported when there are others. Raises `SourceError` when there are none.
    """
    from vectorstore.loading import load_sources  # its parsers take a tenth of a second, which no question waits for

    sources, unread = load_sources(paths, rules or ReadingRules())
    return replace(_index(folder, sources, embedding, progress), unread=tuple(unread))


def index_sources(
    folder: CollectionFolder, sources: Sequence[Source], embedding: EmbeddingModel, *, progress: Progress = silent
) -> IndexReport:
    """The same for papers that have been read already."""
    return _index(folder, list(sources), embedding, progress)


def _index(
    folder: CollectionFolder, sources: list[Source], embedding: EmbeddingModel, progress: Progress
) -> IndexReport:
    """Empties `sources`, so that records do not fill memory beside the papers that they became."""
    with _writable_library(folder) as library:
        before = library.published()
        if before is not None:
            refuse_other_settings(folder, before.fingerprint, fingerprint_of(embedding))
        embedder = Embedder(library, embedding, progress)
        records = (record for source in sources for record in source.papers)
        embedder.embed_missing(text for record in records for text in embedded_texts(record))
        with library.transaction():
            changes = tuple(library.replace_source(source) for source in sources)
            sources.clear()
            changed = any(change.added or change.removed or change.changed for change in changes)
            if before is not None and not changed and folder.place(before.folder).exists():
                index = before
            else:
                index = _publish_new_index(folder, library, embedder)
        _announce(folder, library, index, before)
        return _report(folder, library, index, embedder, changes, rebuilt=index != before)


def rebuild_index(folder: CollectionFolder, embedding: EmbeddingModel, *, progress: Progress = silent) -> IndexReport:
    """Builds the index anew from the library; embeds only what the library has no vector of this model for."""
    _refuse_elsewhere(folder)
    folder.require()
    with _writable_library(folder) as library:
        before = library.published()
        if not library.labels():
            raise CollectionMissing(
                f"The collection {folder.name!r} holds no paper yet.",
                f"Index some: assistant index PATH --collection {folder.name}",
            )
        embedder = Embedder(library, embedding, progress)
        embedder.embed_missing(chunk.embedded_text for chunk in chunk_papers(library.papers()))
        with library.transaction():
            index = _publish_new_index(folder, library, embedder)
        _announce(folder, library, index, before)
        return _report(folder, library, index, embedder, (), rebuilt=True)


@contextmanager
def _writable_library(folder: CollectionFolder) -> Iterator[Library]:
    _refuse_elsewhere(folder)
    with folder.writing():
        library = Library(folder.library_path, create=True)
        try:
            yield library
        finally:
            library.close()


def _refuse_elsewhere(folder: CollectionFolder) -> None:
    """One library is the truth about a collection on a server; copies of it are only read."""
    if folder.server and folder.is_indexed_elsewhere():
        raise folder.server.elsewhere(folder.name)


def _publish_new_index(folder: CollectionFolder, library: Library, embedder: Embedder) -> PublishedIndex:
    """Builds the index of all papers from the vectors in the library; call it inside a transaction."""
    before = library.published()
    generation = before.generation + 1 if before else 1
    papers = library.papers()
    chunks = chunk_papers(papers)
    texts = [chunk.embedded_text for chunk in chunks]
    embedder.embed_missing(texts)  # of papers that one source names and another describes
    vectors = library.vector_rows(embedder.model.key, texts)
    # The random part keeps clear of what a crash left behind: Chroma remembers each path it has opened.
    index = PublishedIndex(
        generation, f"{generation:06d}-{uuid.uuid4().hex[:8]}", len(chunks), fingerprint_of(embedder.model)
    )
    folder.build_files(index.folder, papers, chunks, vectors)
    carried = carried_papers(papers, chunks) if folder.server else None
    del papers  # what follows holds all vectors twice
    build_store(
        folder.place(index.folder),
        chunks,
        vectors,
        extra=carried,
        progress=lambda done: embedder.progress("indexing", done, len(chunks)),
    )
    library.publish(index)
    return index


def _announce(folder: CollectionFolder, library: Library, index: PublishedIndex, before: PublishedIndex | None) -> None:
    """Tells a server's readers of the index, and removes old ones.

    This comes after the library's transaction, so that no reader sees what may yet fail. When a crash comes between the
    two, readers go on with the index before until the next run. That one is kept: a reader may be in the middle of a
    question on it.
    """
    if folder.server:
        folder.server.publish(folder.name, Published(library.ensure_identity(), index))
    if index != before:
        folder.remove_indexes(except_for=[index.folder, *([before.folder] if before else [])])


def _report(
    folder: CollectionFolder,
    library: Library,
    index: PublishedIndex,
    embedder: Embedder,
    changes: tuple[SourceChange, ...],
    *,
    rebuilt: bool,
) -> IndexReport:
    return IndexReport(
        collection=folder.name,
        papers=len(library.labels()),
        chunks=index.chunks,
        embedded=embedder.texts,
        estimated=embedder.estimated,
        billed=embedder.billed,
        rebuilt=rebuilt,
        sources=changes,
    )
