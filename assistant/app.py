"""All wiring: from settings to an assistant. Nothing else. What only a chat model needs is imported with one."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.chain import Assistant
from assistant.errors import QuestionError
from assistant.evidence import EvidenceJudge
from assistant.quoting import QuotationWriter, Writer
from assistant.settings import BUILT_IN_COLLECTION, Settings, load_settings
from assistant.visitors import Visitors
from vectorstore.catalogue import collection_names
from vectorstore.collection import CollectionReader
from vectorstore.embedding import EmbeddingModel, load_embedding
from vectorstore.errors import CollectionError
from vectorstore.folder import CollectionFolder
from vectorstore.indexing import index_files, index_sources, rebuild_index
from vectorstore.progress import Progress, silent
from vectorstore.relevance import CrossEncoder
from vectorstore.retrieval import Retriever
from vectorstore.server import ChromaServer
from vectorstore.types import IndexReport, ReadingRules
from vectorstore.union import Union

_AT_ONCE = 4
"""Answers of quotations written at the same time; they are work for the processor."""
_AT_ONCE_WITH_MODEL = 16
"""Answers written at the same time when a chat model writes them; they mostly wait for it."""
_LONGEST_LINE = 100
"""Questions that may wait."""

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from assistant.model_client import ModelClient
    from assistant.rewriting import QuestionRewriter
    from assistant.tracing import Tracing


def build_assistant(
    *, collections: Sequence[str] | None = None, progress: Progress = silent, **settings: Any
) -> Assistant:
    """An assistant for the configured collection, or for several; other keywords are the names of settings.

    The built-in collection is made on the first start, which `progress` is told of.
    Raises `UserFacingError` when a setting, the collection or the model cannot be used.
    """
    if collections:
        settings["collection"] = ",".join(collections)
    return assistant_from(load_settings(**settings), progress=progress)


def assistant_from(settings: Settings, *, progress: Progress = silent) -> Assistant:
    """An assistant with these settings."""
    return Assistants(settings).of(settings.collections, progress=progress)


class Assistants:
    """One assistant for each choice of collections and writer; models, which they share, are loaded once."""

    def __init__(self, settings: Settings, *, questions_per_minute: int | None = None) -> None:
        self.settings = settings
        self.visitors = Visitors(
            at_once=_AT_ONCE_WITH_MODEL if settings.model else _AT_ONCE,
            longest=_LONGEST_LINE,
            per_minute=questions_per_minute,
        )
        self._embedding = embedding_from(settings)
        self._cross_encoder = CrossEncoder()
        self._client = _client(settings)
        self._made: dict[tuple[tuple[str, ...], str], Assistant] = {}
        self._retrievers: dict[tuple[str, ...], Retriever] = {}
        self._tracing = _tracing(settings)
        self._lock = threading.Lock()

    @property
    def writers(self) -> list[str]:
        """What can write the answers; by default the first does."""
        quotation = QuotationWriter.name
        return [self.settings.model, quotation] if self.settings.model else [quotation]

    def of(self, collections: Sequence[str] = (), *, writer: str = "", progress: Progress = silent) -> Assistant:
        """The assistant for these collections, by default the configured ones.

        Raises `UserFacingError` when one of them cannot be used.
        """
        asked = (tuple(collections or self.settings.collections), writer or self.writers[0])
        with self._lock:
            if asked not in self._made:
                self._made[asked] = self._make(*asked, progress)
            return self._made[asked]

    def chosen(self, collections: Iterable[str], *, writer: str = "") -> Assistant:
        """The assistant for what a stranger has chosen, from `names` and `writers`; nothing stands for the usual.

        The order of the names does not count, so that nobody can have one made for each. Raises `QuestionError`.
        """
        wanted, known = set(collections), self.names()
        if unknown := sorted(wanted - {*known}):
            raise QuestionError(f"There is no collection {unknown[0][:100]!r}.", f"There are: {', '.join(known[:20])}.")
        if writer and writer not in self.writers:
            raise QuestionError(f"There is no writer {writer[:100]!r}.", f"There are: {', '.join(self.writers)}.")
        is_usual = wanted == {*self.settings.collections}
        return self.of(() if is_usual else sorted(wanted), writer=writer)

    def names(self) -> list[str]:
        """The collections that there are, sorted; the configured ones are among them though they be on a server."""
        return sorted({*collection_names(self.settings.data_dir), *self.settings.collections})

    def add(self, paths: Sequence[Path], collection: str, *, progress: Progress = silent) -> IndexReport:
        """Reads files that somebody gave us into a collection, which may be a new one.

        It knows them by name alone, wherever they lie: another file of that name brings its changes.
        """
        from vectorstore.loading import load_sources  # see vectorstore.indexing

        settings = load_settings(**{**self.settings.model_dump(exclude_unset=True), "collection": collection})
        folder = ready_collection(settings, self._embedding, progress=progress)
        sources, unread = load_sources(paths, ReadingRules())
        named = [replace(source, path=Path(source.path).name) for source in sources]
        report = index_sources(folder, named, self._embedding, progress=progress)
        return replace(report, unread=tuple(unread))

    def _make(self, names: tuple[str, ...], writer: str, progress: Progress) -> Assistant:
        retriever = self._retriever(names, progress)
        client = self._client if writer == self.settings.model else None
        writes, rewriter = _writer(self.settings, client, self._cross_encoder), _rewriter(client)
        if self._tracing is None:
            judge = EvidenceJudge(retriever, self._cross_encoder)
            return Assistant(retriever=retriever, judge=judge, writer=writes, rewriter=rewriter)
        from assistant.tracing import TracedAssistant, TracedJudge, TracedWriter

        return TracedAssistant(
            self._tracing,
            retriever=retriever,
            judge=TracedJudge(self._tracing, retriever, self._cross_encoder),
            writer=TracedWriter(self._tracing, writes),
            rewriter=rewriter,
        )

    def _retriever(self, names: tuple[str, ...], progress: Progress) -> Retriever:
        if names not in self._retrievers:
            settings = self.settings.model_copy(update={"collection": ",".join(names)})
            reader = reader_from(settings, self._embedding, progress=progress)
            self._retrievers[names] = self._retriever_of(reader)
        return self._retrievers[names]

    def _retriever_of(self, reader: CollectionReader) -> Retriever:
        if self._tracing is None:
            return Retriever(reader, self._embedding)
        from assistant.tracing import TracedRetriever

        return TracedRetriever(self._tracing, reader, self._embedding)


def index_papers(
    paths: Iterable[Path], *, rules: ReadingRules | None = None, progress: Progress = silent, **settings: Any
) -> IndexReport:
    """Reads files, or folders of files, into the configured collection; nothing is done when they hold nothing new."""
    loaded = load_settings(**settings)
    embedding = embedding_from(loaded)
    folder = ready_collection(loaded, embedding, progress=progress)
    return index_files(folder, paths, embedding, rules=rules, progress=progress)


def rebuild_collection(*, progress: Progress = silent, **settings: Any) -> IndexReport:
    """Builds the index of the configured collection anew from its library, with the configured embedding model."""
    loaded = load_settings(**settings)
    return rebuild_index(folder_from(loaded), embedding_from(loaded), progress=progress)


def reader_from(settings: Settings, embedding: EmbeddingModel, *, progress: Progress = silent) -> CollectionReader:
    """Opens the configured collection, or the union of several."""
    each = [settings.model_copy(update={"collection": name}) for name in settings.collections]
    readers = [
        CollectionReader(ready_collection(one, embedding, progress=progress), embedding, progress=progress)
        for one in each
    ]
    if len(readers) == 1:
        return readers[0]
    union = Union(readers, settings.data_dir, embedding, progress=progress)
    return CollectionReader(union.folder, embedding, made_of=union)


def folder_from(settings: Settings) -> CollectionFolder:
    """Where the configured collection lies."""
    token = settings.chroma_token.get_secret_value() if settings.chroma_token else None
    server = ChromaServer(settings.chroma_url, token) if settings.chroma_url else None
    return CollectionFolder(settings.data_dir, settings.collection, server)


def embedding_from(settings: Settings) -> EmbeddingModel:
    """The configured embedding model."""
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    return load_embedding(settings.embedding, api_key=key, base_url=settings.openai_base_url)


def ready_collection(settings: Settings, embedding: EmbeddingModel, *, progress: Progress = silent) -> CollectionFolder:
    """The configured collection; the built-in one is made when there is none yet, unless it was deleted."""
    folder = folder_from(settings)
    is_missing = folder.name == BUILT_IN_COLLECTION and not folder.is_published()
    if is_missing and not folder.deletion_mark.exists():
        try:
            with built_in_files() as path:
                index_files(folder, [path], embedding, progress=progress)
        except CollectionError:
            if not (folder.server and folder.is_published()):  # else another assistant on that server was quicker
                raise
    return folder


@contextmanager
def built_in_files() -> Iterator[Path]:
    """The folder of the built-in collection's files."""
    with as_file(files("assistant") / "corpus" / BUILT_IN_COLLECTION) as path:
        yield path


def load_model_from(settings: Settings, name: str) -> "BaseChatModel":
    """The chat model of that name, with these settings."""
    from assistant.models import load_chat_model

    return load_chat_model(
        name,
        api_key=settings.openai_api_key,
        base_url=settings.openai_base_url,
        timeout_seconds=settings.timeout_seconds,
        answer_tokens=settings.answer_tokens,
    )


def _client(settings: Settings) -> "ModelClient | None":
    if settings.model is None:
        return None
    from assistant.model_client import ModelClient

    return ModelClient(
        load_model_from(settings, settings.model),
        settings.model,
        settings.answer_tokens,
        settings.timeout_seconds,
        traced=settings.tracing == "langsmith",
    )


def _tracing(settings: Settings) -> "Tracing | None":
    if settings.tracing is None:
        return None
    from assistant.tracing import tracing_to

    return tracing_to(settings.tracing)


def _writer(settings: Settings, client: "ModelClient | None", cross_encoder: CrossEncoder) -> Writer:
    if client is None:
        return QuotationWriter()
    from assistant.verification import Verifier
    from assistant.writing import ModelWriter

    return ModelWriter(
        client,
        verifier=Verifier(cross_encoder),
        context_tokens=settings.context_tokens,
        asks_model=settings.verify == "model",
        key=settings.openai_api_key,
    )


def _rewriter(client: "ModelClient | None") -> "QuestionRewriter | None":
    if client is None:
        return None
    from assistant.rewriting import QuestionRewriter

    return QuestionRewriter(client)
