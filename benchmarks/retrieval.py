"""How good the ranking is, on judged data: ours step by step, beside BM25, dense search and plain LangChain + Chroma.

    python -m benchmarks.retrieval [FOLDER ...] [--qrels FILE] [--distractors FILE.jsonl.gz]

A folder holds data in the layout of BEIR (Thakur et al. 2021): corpus*.jsonl, queries.jsonl, and judgements as
qrels/test.tsv or qrels*.tsv. Without a folder, the public sets beside the project are measured, if they are there. All
rows of a table rest on the same vectors. Collections stay in build/benchmarks, so that a second run embeds nothing.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import bm25s
import ir_measures
import numpy as np
import Stemmer
from chromadb.config import Settings
from ir_measures import R, nDCG
from langchain_chroma import Chroma
from numpy.typing import NDArray

from assistant.evaluation.resampling import paired_difference
from benchmarks.common import PUBLIC_DATA, console, print_environment, print_table
from benchmarks.papers import DATA, KnownVectors, conference_papers
from vectorstore.chunking import chunk_papers, span_of_chunk
from vectorstore.collection import Collection, CollectionReader
from vectorstore.embedding import PACKAGED_EMBEDDING, EmbeddingModel, load_embedding
from vectorstore.folder import CollectionFolder
from vectorstore.identity import paper_id_of
from vectorstore.indexing import index_sources
from vectorstore.library import Library
from vectorstore.ranking import best_rows, summed
from vectorstore.retrieval import Retriever
from vectorstore.types import PaperRecord, Source

_DEPTH = 100
_MEASURES = (nDCG @ 10, R @ 5, R @ 10, R @ 100)
_JUDGED_BY = {"scifact": "qrels_dev.tsv", "cranfield": "qrels_without_source.tsv"}
"""The public sets that hold more than one file of judgements."""
_PUBLIC = ("scifact", "sparbench", "cranfield", "pubmedqa")
Ranking = Callable[[str], Sequence[str]]
"""From a question to the ids of its best papers, best first."""


@dataclass(frozen=True)
class JudgedSet:
    """Papers, questions by id, and which papers are relevant to them, by their ids in our library."""

    name: str
    source: Source
    questions: Mapping[str, str]
    judgements: Mapping[str, Mapping[str, int]]


def judged_set(folder: Path, qrels: Path | None = None) -> JudgedSet:
    """The data in a folder of BEIR's layout. Raises `FileNotFoundError` when a part is missing."""
    documents = [json.loads(line) for path in sorted(folder.glob("corpus*.jsonl")) for line in _lines(path)]
    records = {
        document["_id"]: PaperRecord(
            abstract=document["text"].strip() or document["title"], title=document.get("title") or None, position=at
        )
        for at, document in enumerate(documents, start=1)
        if document["text"].strip() or document.get("title")
    }
    paper_ids = {key: paper_id_of(record) for key, record in records.items()}
    judgements: dict[str, dict[str, int]] = {}
    for line in _lines(qrels or _judgements_of(folder))[1:]:
        question, document_id, grade = line.split("\t")
        if int(grade) > 0 and document_id in paper_ids:
            judgements.setdefault(question, {})[paper_ids[document_id]] = int(grade)
    questions = {str(query["_id"]): query["text"] for query in map(json.loads, _lines(folder / "queries.jsonl"))}
    return JudgedSet(
        name=folder.name,
        source=Source(path=str(folder), papers=tuple(records.values())),
        questions={key: questions[key] for key in judgements},
        judgements=judgements,
    )


def _judgements_of(folder: Path) -> Path:
    usual = (folder / _JUDGED_BY.get(folder.name, "qrels.tsv"), folder / "qrels" / "test.tsv")
    return next((path for path in usual if path.is_file()), folder / "qrels.tsv")


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text("utf-8").split("\n") if line]  # a paper may hold other line ends


def measured(judged: JudgedSet, distractors: Source | None) -> None:
    """Prints the tables of one set."""
    embedding = load_embedding(PACKAGED_EMBEDDING)
    name = judged.name + ("-among-others" if distractors else "")
    folder = CollectionFolder(DATA, f"judged-{name}".lower())
    sources = [judged.source, *([distractors] if distractors else [])]
    everything = Library(CollectionFolder(DATA, "vectors").library_path, create=True)
    with console.status(f"indexing {name}"):
        index_sources(folder, sources, replace(embedding, embeddings=KnownVectors(everything, embedding)))
    collection = CollectionReader(folder, embedding).current()
    print_environment(f"{name}: {len(judged.questions)} questions, {len(collection.labels)} papers")
    results = {row: _values(judged, ranking) for row, ranking in _rankings(folder, collection, embedding).items()}
    columns = [str(measure) for measure in _MEASURES]
    print_table(["ranking", *columns], [[row, *_means(values)] for row, values in results.items()])
    ours = list(results)[-1]
    print_table(
        [f"nDCG@10 of {ours} minus that of", "difference", "95 % interval", "p"],
        [_difference(other, results[ours], values) for other, values in results.items() if other != ours],
    )


def _rankings(folder: CollectionFolder, collection: Collection, embedding: EmbeddingModel) -> dict[str, Ranking]:
    vector = embedding.query_vector
    keywords, vectors = collection.keywords, collection.vectors
    rows = np.arange(collection.index.chunks)
    retriever = Retriever(CollectionReader(folder, embedding), embedding)
    bare = _plain_bm25(collection)
    store = _plain_chroma(folder, collection, embedding)

    def papers(found: Iterable[int]) -> list[str]:
        return list(dict.fromkeys(span_of_chunk(keywords.chunk_ids[row])[0] for row in found))

    def dense(question: str) -> NDArray[np.float32]:
        return vectors.products(vector(question), rows)

    def both(towards: NDArray[np.float32], question: str) -> NDArray[np.float32]:
        return summed(vectors.products(towards, rows), keywords.weights(question), len(rows))

    return {
        "BM25, words": lambda q: papers(best_rows(bare(q), _DEPTH)),
        "BM25, ours": lambda q: papers(best_rows(keywords.weights(q), _DEPTH)),
        "dense": lambda q: papers(best_rows(dense(q), _DEPTH)),
        "plain LangChain + Chroma": lambda q: [d.metadata["paper_id"] for d in store.similarity_search(q, k=_DEPTH)],
        "min-max, .7 dense + .3 BM25": lambda q: papers(
            best_rows(0.7 * _scaled(dense(q)) + 0.3 * _scaled(keywords.weights(q)), _DEPTH)
        ),
        "sum of dense and BM25": lambda q: papers(best_rows(both(vector(q), q), _DEPTH)),
        "and the question without instruction": lambda q: papers(
            best_rows(both(embedding.search_vector(q), q), _DEPTH)
        ),
        "and names (ours)": lambda q: [passage.paper.paper_id for passage in retriever.search(q, _DEPTH)],
    }


def _plain_bm25(collection: Collection) -> Callable[[str], NDArray[np.float32]]:
    """BM25 over the same texts, by words as they stand."""
    stemmer = Stemmer.Stemmer("english")
    papers = {paper.paper_id: paper for paper in collection.library.papers()}
    texts = []
    for chunk_id in collection.keywords.chunk_ids:
        paper_id, span = span_of_chunk(chunk_id)
        texts.append(f"{papers[paper_id].title or ''}. {span.of(papers[paper_id].abstract)}")

    def words(given: list[str]) -> list[list[str]]:
        found: list[list[str]] = bm25s.tokenize(
            given, stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False
        )
        return found

    index = bm25s.BM25(k1=0.9, b=0.4)
    index.index(words(texts), show_progress=False)
    nothing = np.zeros(len(texts), dtype=np.float32)
    return lambda question: index.get_scores(stems) if (stems := words([question])[0]) else nothing


def _plain_chroma(folder: CollectionFolder, collection: Collection, embedding: EmbeddingModel) -> Chroma:
    """The same chunks the way LangChain's documentation stores them."""
    library = Library(folder.library_path)
    store = Chroma(
        "plain",
        KnownVectors(library, embedding),
        client_settings=Settings(anonymized_telemetry=False),
        collection_configuration={"hnsw": {"space": "cosine"}},
    )
    store.reset_collection()
    chunks = chunk_papers(collection.library.papers())
    for start in range(0, len(chunks), 1000):
        batch = chunks[start : start + 1000]
        store.add_texts([c.embedded_text for c in batch], [{"paper_id": c.paper_id} for c in batch])
    return store


def _scaled(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The best hundred from 0 to 1, the others 0, as rankings are usually fused (Bruch et al. 2023)."""
    best = np.sort(values)[-_DEPTH:]
    return np.asarray(np.clip((values - best[0]) / max(float(best[-1] - best[0]), 1e-9), 0, 1))


def _values(judged: JudgedSet, ranking: Ranking) -> list[dict[str, float]]:
    """The measures of each question."""
    run = {
        key: {paper_id: float(-rank) for rank, paper_id in enumerate(dict.fromkeys(ranking(question)))}
        for key, question in judged.questions.items()
    }
    found: dict[str, dict[str, float]] = {key: dict.fromkeys(map(str, _MEASURES), 0.0) for key in judged.questions}
    for value in ir_measures.iter_calc(_MEASURES, judged.judgements, run):
        found[value.query_id][str(value.measure)] = value.value
    return list(found.values())


def _means(values: Sequence[Mapping[str, float]]) -> list[str]:
    return [f"{np.mean([each[str(measure)] for each in values]):.4f}" for measure in _MEASURES]


def _difference(other: str, ours: Sequence[Mapping[str, float]], theirs: Sequence[Mapping[str, float]]) -> list[str]:
    name = str(_MEASURES[0])
    found = paired_difference([each[name] for each in ours], [each[name] for each in theirs])
    assert found is not None
    return [other, f"{found.value:+.4f}", f"{found.low:+.4f} to {found.high:+.4f}", f"{found.p:.4f}"]


def main() -> None:
    """Prints two tables for each folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    parser.add_argument("--qrels", type=Path, help="the judgements, when they are not where BEIR has them")
    parser.add_argument("--distractors", type=Path, help="conference papers that are searched as well")
    options = parser.parse_args()
    folders = options.folders or [PUBLIC_DATA / name for name in _PUBLIC if (PUBLIC_DATA / name).is_dir()]
    if not folders:
        console.print("No judged data is here; give a folder in the layout of BEIR.")
    distractors = conference_papers(options.distractors) if options.distractors else None
    for folder in folders:
        measured(judged_set(folder, options.qrels), distractors)


if __name__ == "__main__":
    main()
