"""Checks what an assistant rests on, one thing at a time, and says how to mend what is broken."""

from collections.abc import Callable
from dataclasses import dataclass

from assistant.app import embedding_from, folder_from, load_model_from, ready_collection
from assistant.errors import UserFacingError
from assistant.models import reply_of
from assistant.settings import Settings, load_settings
from vectorstore.chunking import chunk_papers
from vectorstore.collection import Collection, CollectionReader
from vectorstore.embedding import EmbeddingModel
from vectorstore.errors import CollectionDamaged, FingerprintMismatch
from vectorstore.folder import CollectionFolder
from vectorstore.indexing import rebuild_index
from vectorstore.relevance import CrossEncoder

_AUDITED = 500
"""Chunks whose own vectors must find them; all of a small collection, evenly spread over a large one."""
_AUDIT_DEPTH = 10


@dataclass(frozen=True)
class Check:
    """What one check found; `hint` says how to mend it when it is not ok."""

    name: str
    ok: bool
    detail: str
    hint: str = ""


def checks(*, repair: bool = False) -> list[Check]:
    """All checks, in the order in which they build on each other; the first broken one ends them.

    With `repair`, a damaged index is built anew from the library.
    """
    settings: list[Settings] = []
    embeddings: list[EmbeddingModel] = []
    steps: list[tuple[str, Callable[[], str]]] = [
        ("settings", lambda: _settings(settings)),
        ("packaged models", lambda: _models(settings[0], embeddings)),
        ("chroma server", lambda: _server(settings[0])),
        ("collection", lambda: _collections(settings[0], embeddings[0], repair)),
        ("chat model", lambda: _chat_model(settings[0])),
    ]
    found: list[Check] = []
    for name, step in steps:
        found.append(_checked(name, step))
        if not found[-1].ok:
            break
    return found


def _checked(name: str, step: Callable[[], str]) -> Check:
    try:
        return Check(name, True, step())
    except UserFacingError as error:
        return Check(name, False, error.message, error.hint)


def _settings(into: list[Settings]) -> str:
    into.append(load_settings())
    return f"data in {into[0].data_dir}"


def _models(settings: Settings, into: list[EmbeddingModel]) -> str:
    into.append(embedding_from(settings))
    vector = into[0].query_vector("Does it run?")
    CrossEncoder().relevance("Does it run?", ["It runs."])
    return f"{settings.embedding}, {len(vector)} dimensions; cross-encoder"


def _server(settings: Settings) -> str:
    server = folder_from(settings.model_copy(update={"collection": settings.collections[0]})).server
    return f"{server.url} answers, version {server.version()}" if server else "none set: the index is a folder here"


def _collections(settings: Settings, embedding: EmbeddingModel, repair: bool) -> str:
    each = [settings.model_copy(update={"collection": name}) for name in settings.collections]
    return "; ".join(_collection(one, embedding, repair) for one in each)


def _collection(settings: Settings, embedding: EmbeddingModel, repair: bool) -> str:
    folder = ready_collection(settings, embedding)
    try:
        return _state(folder, embedding)
    except (CollectionDamaged, FingerprintMismatch):
        if not repair:
            raise
    rebuild_index(folder, embedding)
    return f"rebuilt from the library; {_state(folder, embedding)}"


def _state(folder: CollectionFolder, embedding: EmbeddingModel) -> str:
    """What the collection is. Raises `CollectionError` when its index cannot be read, or finds not all."""
    collection = CollectionReader(folder, embedding).current()
    lost = _lost_chunks(collection, embedding)
    if lost:
        raise CollectionDamaged(
            f"{lost} chunks of {folder.name!r} are not found by their own vectors.",
            f"Rebuild the index: {folder.rebuild_command}",
        )
    return (
        f"{folder.name}, {len(collection.labels)} papers, {collection.index.chunks} chunks, every one checked is found;"
        f" the {'copy' if collection.folder.copied else 'library'} is in {collection.folder.path},"
        f" its index is {folder.place(collection.index.folder)}"
    )


def _lost_chunks(collection: Collection, embedding: EmbeddingModel) -> int:
    chunks = chunk_papers(collection.library.papers())
    sample = chunks[:: max(1, len(chunks) // _AUDITED)]
    vectors = collection.library.vectors(embedding.key, [chunk.embedded_text for chunk in sample])
    return sum(
        chunk.chunk_id not in collection.store.nearest(vectors[chunk.embedded_text], _AUDIT_DEPTH) for chunk in sample
    )


def _chat_model(settings: Settings) -> str:
    if settings.model is None:
        return "none set: answers are quotations"
    reply_of(load_model_from(settings, settings.model), settings.model, "Reply with the word OK.")
    return f"{settings.model} answers"
