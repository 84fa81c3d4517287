"""Two ways to answer without the assistant's parts, for comparison: nothing is checked, and only a model refuses."""

import re
import time
import uuid
from collections.abc import Sequence
from dataclasses import replace

from chromadb.config import Settings
from langchain_chroma import Chroma
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel

from assistant.evaluation.systems import RETRIEVED
from assistant.evaluation.types import AnswerSentence, GoldQuestion, Outcome, Quotation
from assistant.models import reply_of
from assistant.types import Status
from prompts import load_prompt
from vectorstore.chunking import chunk_papers, span_of_chunk
from vectorstore.collection import Collection
from vectorstore.embedding import EmbeddingModel
from vectorstore.markup import readable
from vectorstore.ranking import best_rows
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper

_TOP = 4
"""Passages that plain retrieval answers with: LangChain's default."""
_DEPTH = 50
"""Passages that are looked at for the ten best papers."""
_BATCH = 1000
_PLAIN = load_prompt("plain_answer", "passages", "question")
_NOT_STATED = "NOT STATED"
_MARK = re.compile(r"\[(\d{1,3})\]")
_IN_QUOTATION_MARKS = re.compile(r"[“\"]([^“”\"]*)[”\"]")
_LEAST_QUOTED = 20
"""Characters; less in quotation marks is emphasis or a title."""


class KeywordSystem:
    """BM25 alone: shows its best passages and never refuses."""

    name = "BM25 alone"

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def answer(self, gold: GoldQuestion) -> Outcome:
        """The best passages as they are."""
        start = time.perf_counter()
        keywords = self._collection.keywords
        weights = keywords.weights(_with_history(gold))
        rows = [row for row in best_rows(weights, _DEPTH) if weights[row] > 0]
        ids = list(dict.fromkeys(span_of_chunk(keywords.chunk_ids[row])[0] for row in rows))
        papers = self._collection.library.papers(ids[:RETRIEVED])
        seconds = time.perf_counter() - start
        return _passages_outcome(gold, papers, evidence=float(weights.max()), seconds=seconds)


class PlainSystem:
    """Plain LangChain over Chroma: the nearest passages, shown as they are or put into one prompt for a model."""

    name = "plain LangChain"

    def __init__(self, collection: Collection, embedding: EmbeddingModel, model: BaseChatModel | None) -> None:
        self._library = collection.library
        self._store = _plain_store(collection, embedding)
        self._model = model

    def answer(self, gold: GoldQuestion) -> Outcome:
        """The nearest passages as they are, or the model's answer from them."""
        start = time.perf_counter()
        found = self._store.similarity_search_with_score(_with_history(gold), k=_DEPTH)
        ids = list(dict.fromkeys(document.metadata["paper_id"] for document, _ in found))
        papers = self._library.papers(ids[:RETRIEVED])
        similarity = 1.0 - found[0][1] if found else 0.0
        outcome = _passages_outcome(gold, papers, evidence=similarity, seconds=time.perf_counter() - start)
        if self._model is None:
            return outcome
        written = _written(self._model, gold, papers[:_TOP])
        return replace(written, retrieved=outcome.retrieved, evidence=similarity, seconds=time.perf_counter() - start)


class _KnownVectors(Embeddings):
    """The collection's own vectors for its texts, so that none is embedded again."""

    def __init__(self, collection: Collection, embedding: EmbeddingModel) -> None:
        self._library = collection.library
        self._embedding = embedding

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        known = self._library.vectors(self._embedding.key, texts)
        return [known[text].tolist() for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._embedding.embeddings.embed_query(text)


def _plain_store(collection: Collection, embedding: EmbeddingModel) -> Chroma:
    """The collection's chunks in memory, filled the way LangChain's documentation does it."""
    store = Chroma(
        f"plain-{uuid.uuid4().hex}",
        _KnownVectors(collection, embedding),
        client_settings=Settings(anonymized_telemetry=False),
        collection_configuration={"hnsw": {"space": "cosine"}},
    )
    chunks = chunk_papers(collection.library.papers())
    for start in range(0, len(chunks), _BATCH):
        batch = chunks[start : start + _BATCH]
        store.add_texts([c.embedded_text for c in batch], [{"paper_id": c.paper_id} for c in batch])
    return store


def _with_history(gold: GoldQuestion) -> str:
    """Plain retrieval knows no conversation: a follow-up is put behind the questions before it."""
    return " ".join([*gold.history, gold.question])


def _passages_outcome(gold: GoldQuestion, papers: Sequence[Paper], *, evidence: float, seconds: float) -> Outcome:
    return Outcome(
        question_id=gold.id,
        status="answered",
        sentences=tuple(
            AnswerSentence(text=readable(paper.abstract), verdict="quoted", shown=True, paper_ids=(paper.paper_id,))
            for paper in papers[:_TOP]
        ),
        retrieved=tuple(paper.paper_id for paper in papers),
        quotations=tuple(Quotation(paper_id=paper.paper_id, text=paper.abstract) for paper in papers[:_TOP]),
        evidence=evidence,
        seconds=seconds,
    )


def _written(model: BaseChatModel, gold: GoldQuestion, papers: Sequence[Paper]) -> Outcome:
    """What the model makes of the passages; nothing in it is checked."""
    passages = "\n\n".join(f"[{number}] {readable(paper.abstract)}" for number, paper in enumerate(papers, start=1))
    reply = reply_of(model, "the chat model", _PLAIN.render(passages=passages, question=_with_history(gold)))
    text, usage = reply.text, reply.usage_metadata
    sentences = tuple(_unchecked(span.of(text), papers) for span in sentence_spans(text))
    status: Status = "not_stated" if text.strip(" .*\n").upper() == _NOT_STATED else "answered"
    return Outcome(
        question_id=gold.id,
        status=status,
        sentences=sentences,
        quotations=tuple(
            Quotation(paper_id=paper_id, text=quoted)
            for sentence in sentences
            for paper_id in sentence.paper_ids[:1]
            for quoted in _IN_QUOTATION_MARKS.findall(sentence.text)
            if len(quoted) >= _LEAST_QUOTED
        ),
        seconds=0.0,
        input_tokens=usage["input_tokens"] if usage else None,
        output_tokens=usage["output_tokens"] if usage else None,
    )


def _unchecked(text: str, papers: Sequence[Paper]) -> AnswerSentence:
    numbers = [int(number) for number in _MARK.findall(text)]
    cited = tuple(papers[number - 1].paper_id for number in numbers if 1 <= number <= len(papers))
    return AnswerSentence(text=_MARK.sub("", text).strip(), verdict="unsupported", shown=True, paper_ids=cited)
