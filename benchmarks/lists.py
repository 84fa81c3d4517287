"""Complete lists: which papers of a collection are on a topic, beside cuts at a number and at a similarity.

    python -m benchmarks.lists [--data FOLDER]

On the lists and counts of our development set (34 papers), on every fifth question of Cranfield (1,398) and on
SPARBench (525), as far as these are at hand. Their questions are not phrased as lists and are taken for such; papers
that nobody judged count as not belonging. The collections stay in build/benchmarks.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from assistant.app import built_in_files
from assistant.evaluation.question_sets import read_question_set
from assistant.evidence.lists import ListJudge
from assistant.routing import read_question, topic_of
from assistant.types import Question
from benchmarks.common import PUBLIC_DATA, console, print_environment, print_table
from benchmarks.papers import DATA
from vectorstore.collection import CollectionReader
from vectorstore.embedding import PACKAGED_EMBEDDING, load_embedding
from vectorstore.folder import CollectionFolder
from vectorstore.indexing import index_files, index_sources
from vectorstore.relevance import CrossEncoder
from vectorstore.retrieval import Retriever
from vectorstore.types import PaperRecord, Source

_PUBLIC = {"sparbench": ("qrels.tsv", 1), "cranfield": ("qrels_without_source.tsv", 5)}
"""Of each public collection, the file of judgements, and how many questions come to each that is asked."""
_SIMILAR = 0.74
"""The best threshold on similarity for Cranfield."""
_BINS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)

Listed = Callable[[Question], list[str]]
"""From a question to the ids of the papers on its list."""


@dataclass(frozen=True)
class Lists:
    """A collection, and the questions asked of it with the ids of the papers that belong."""

    name: str
    retriever: Retriever
    asked: Sequence[tuple[Question, frozenset[str]]]


def development() -> Lists:
    """The lists and counts of the development set that can be answered."""
    folder = CollectionFolder(DATA, "icml2026")
    embedding = load_embedding(PACKAGED_EMBEDDING)
    with built_in_files() as path:
        index_files(folder, [path], embedding)
    retriever = Retriever(CollectionReader(folder, embedding), embedding)
    ids = {paper.label: paper.paper_id for paper in retriever.papers()}
    golds = [gold for gold in read_question_set("icml2026-dev").questions if gold.kind in ("list", "count")]
    return Lists(
        "development lists",
        retriever,
        [
            (as_list(gold.question), frozenset(ids.get(name, name) for name in gold.papers))
            for gold in golds
            if gold.papers
        ],
    )


def public(path: Path) -> Lists:
    """The questions of a public collection, taken for lists."""
    name = path.name
    documents = [paper for paper in _lines(path / "corpus.jsonl") if paper["text"].strip()]
    records = [
        PaperRecord(abstract=paper["text"].strip(), title=paper["title"] or None, position=position)
        for position, paper in enumerate(documents, start=1)
    ]
    folder, embedding = CollectionFolder(DATA, name), load_embedding(PACKAGED_EMBEDDING)
    with console.status(f"indexing {name}"):
        index_sources(folder, [Source(path=name, papers=tuple(records))], embedding)
    retriever = Retriever(CollectionReader(folder, embedding), embedding)
    ids = {documents[paper.position - 1]["_id"]: paper.paper_id for paper in retriever.papers()}
    judgements, every = _PUBLIC[name]
    belong: dict[str, set[str]] = {}
    for line in (path / judgements).read_text("utf-8").splitlines()[1:]:
        question_id, document_id, grade = line.split("\t")
        if float(grade) > 0 and document_id in ids:
            belong.setdefault(question_id, set()).add(ids[document_id])
    questions = [query for query in _lines(path / "queries.jsonl") if query["_id"] in belong][::every]
    return Lists(name, retriever, [(as_list(query["text"]), frozenset(belong[query["_id"]])) for query in questions])


def as_list(text: str) -> Question:
    """The question as one that asks for all papers on what it says."""
    return replace(read_question(text), kind="list", topic=topic_of(text))


def _lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def ways(retriever: Retriever) -> dict[str, Listed]:
    """By name."""
    judge = ListJudge(retriever, CrossEncoder())

    def first(count: int) -> Listed:
        return lambda asked: [passage.paper.paper_id for passage in retriever.search(asked.topic, count)]

    def similar(asked: Question) -> list[str]:
        survey = retriever.survey(asked.topic, [])
        return [
            paper_id for paper_id, value in zip(survey.paper_ids, survey.similarities, strict=True) if value >= _SIMILAR
        ]

    def listed(asked: Question) -> list[str]:
        return list(judge.weigh(asked).listed)

    return {
        "the first 10 of a search": first(10),
        "the first 20 of a search": first(20),
        f"similarity of {_SIMILAR} or more": similar,
        "calibrated cut": listed,
    }


def scores(asked: Sequence[tuple[Question, frozenset[str]]], listed: Listed) -> list[str]:
    """Means over the questions, and the median time of one."""
    rows, times = [], []
    for question, belong in asked:
        start = time.perf_counter()
        found = set(listed(question))
        times.append(time.perf_counter() - start)
        right = len(found & belong)
        precision, recall = right / max(1, len(found)), right / len(belong)
        rows.append((precision, recall, 2 * right / (len(found) + len(belong)), len(found)))
    precision, recall, f1, count = np.mean(rows, axis=0)
    return [f"{precision:.3f}", f"{recall:.3f}", f"{f1:.3f}", f"{count:.1f}", f"{np.median(times):.2f}"]


def reliability(lists: Lists) -> list[list[str]]:
    """Of the papers given about the same probability, how many there are and what share of them belongs."""
    judge = ListJudge(lists.retriever, CrossEncoder())
    given: list[tuple[float, bool]] = []
    for question, belong in lists.asked:
        given += [(share, paper_id in belong) for paper_id, share in judge.belonging(question).items()]
    values, truths = np.array([share for share, _ in given]), np.array([truth for _, truth in given])
    rows = []
    for low, high in pairwise(_BINS):
        chosen = (values >= low) & ((values < high) | (high == 1.0))
        if chosen.any():
            figures = (f"{int(chosen.sum()):,}", f"{values[chosen].mean():.3f}", f"{truths[chosen].mean():.3f}")
            rows.append([f"{low} to {high}", *figures])
    return rows


def main() -> None:
    """Prints both tables of each collection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=PUBLIC_DATA, help="where the public collections lie")
    data = parser.parse_args().data
    found = [development()]
    for name in _PUBLIC:
        if (data / name / "corpus.jsonl").is_file():
            found.append(public(data / name))
        else:
            console.print(f"{data / name} is not there and is left out.")
    for lists in found:
        belong = float(np.mean([len(papers) for _, papers in lists.asked]))
        papers = lists.retriever.paper_count()
        print_environment(f"{lists.name}: {len(lists.asked)} lists of {papers:,} papers, {belong:.1f} belong to each")
        rows = [[way, *scores(lists.asked, listed)] for way, listed in ways(lists.retriever).items()]
        print_table(["way", "precision", "recall", "F1", "papers listed", "seconds (median)"], rows)
        print_table(["probability", "papers", "mean", "share that belongs"], reliability(lists))


if __name__ == "__main__":
    main()
