"""How time and memory grow with the number of papers: 1,000, 10,000 and all 91,603 public conference papers.

    python -m benchmarks.growth [--papers FILE.jsonl.gz] [--sizes 1000 10000 100000]

Each size is measured in a process of its own. The papers are embedded once (an hour on two cores); their collections
stay in build/benchmarks. A figure of the growth is written beside them.
"""

import argparse
import json
import multiprocessing
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib.figure import Figure

from assistant.evaluation.question_sets import read_question_set
from assistant.evidence import EvidenceJudge
from assistant.routing import read_question
from benchmarks.common import PUBLIC_DATA, console, print_environment, print_table
from benchmarks.papers import DATA, PAPERS, KnownVectors, conference_papers
from vectorstore.chunking import embedded_texts
from vectorstore.collection import CollectionReader
from vectorstore.embedding import PACKAGED_EMBEDDING, EmbeddingModel, load_embedding
from vectorstore.filters import PaperFilter
from vectorstore.folder import CollectionFolder
from vectorstore.indexing import index_sources, rebuild_index
from vectorstore.library import Library
from vectorstore.ranking import best_rows
from vectorstore.relevance import CrossEncoder
from vectorstore.retrieval import Retriever

_ASKED = 100
"""Questions that are timed."""
_FILTERS = (
    PaperFilter(first_year=2024, last_year=2024),
    PaperFilter(venue="icml"),
    PaperFilter(first_year=2015, last_year=2022),
    PaperFilter(author="Abbeel"),
    PaperFilter(with_code=True),
)
_EMBEDDED_AT_ONCE = 1000
_MEGABYTE = 1e6


Figures = dict[str, float]
"""What was measured of one size. Times of questions are milliseconds, others seconds; disk and memory megabytes."""


def questions() -> list[str]:
    """Of people who look for papers, where they are at hand, and of our development set."""
    own = [asked.question for asked in read_question_set("icml2026-dev").questions]
    path = PUBLIC_DATA / "sparbench" / "queries.jsonl"
    public = [json.loads(line)["text"] for line in path.read_text("utf-8").splitlines()] if path.is_file() else []
    return [*public, *own[:: max(1, len(own) // (_ASKED - len(public)))]][:_ASKED]


def built(path: Path, size: int) -> tuple[CollectionFolder, float]:
    """The collection of so many papers, and how long its index takes to build when all vectors are known."""
    embedding = load_embedding(PACKAGED_EMBEDDING)
    source = conference_papers(path, size)
    folder = CollectionFolder(DATA, f"papers-{len(source.papers)}")
    everything = Library(CollectionFolder(DATA, "vectors").library_path, create=True)
    known = replace(embedding, embeddings=KnownVectors(everything, embedding))
    with console.status(f"embedding and indexing {len(source.papers)} papers"):
        for start in range(0, len(source.papers), _EMBEDDED_AT_ONCE):
            batch = source.papers[start : start + _EMBEDDED_AT_ONCE]
            known.vectors([text for record in batch for text in embedded_texts(record)])
        start_of_index = time.perf_counter()
        if folder.is_published():
            rebuild_index(folder, known)
        else:
            index_sources(folder, [source], known)
    return folder, time.perf_counter() - start_of_index


def measured(path: Path, size: int) -> Figures:
    """All figures of one size; to be called in a process of its own."""
    folder, build = built(path, size)
    with multiprocessing.get_context("spawn").Pool(1) as reading:
        return reading.apply(_as_reader, (folder, build))


def _as_reader(folder: CollectionFolder, build: float) -> Figures:
    embedding = load_embedding(PACKAGED_EMBEDDING)
    asked = questions()
    embedding.query_vector(asked[0])
    start = time.perf_counter()
    reader = CollectionReader(folder, embedding)
    opening = time.perf_counter() - start
    retriever = Retriever(reader, embedding)
    judge = EvidenceJudge(retriever, CrossEncoder())
    retriever.respelled(asked[0])
    judge.weigh(read_question(asked[0]))
    first = [_milliseconds(lambda q=q: retriever.search(q, 10)) for q in asked]  # type: ignore[misc]
    filtered = [
        _milliseconds(lambda q=q, at=at: retriever.search(q, 10, within=_FILTERS[at % len(_FILTERS)]))  # type: ignore[misc]
        for at, q in enumerate(asked)
    ]
    whole = [_milliseconds(lambda q=q: judge.weigh(read_question(retriever.respelled(q)))) for q in asked]  # type: ignore[misc]
    return {
        "papers": retriever.paper_count(),
        "index without embedding, s": build,
        "index on disk, MB": _disk(folder),
        "opening, s": opening,
        **_percentiles("first stage", first),
        **_percentiles("first stage with filter", filtered),
        **_percentiles("with relevance gate", whole),
        **_graph_beside_exact(reader, embedding, asked),
        "memory, MB": _most_memory(),
    }


def _graph_beside_exact(reader: CollectionReader, embedding: EmbeddingModel, asked: Sequence[str]) -> Figures:
    """Chroma's graph and the product of all vectors, for the hundred nearest."""
    collection = reader.current()
    rows = np.arange(collection.index.chunks)
    graph, exact, shared = [], [], []
    for vector in [embedding.query_vector(question) for question in asked]:
        start = time.perf_counter()
        near = collection.store.nearest(vector, 100)
        graph.append((time.perf_counter() - start) * 1000)
        start = time.perf_counter()
        best = best_rows(collection.vectors.products(vector, rows), 100)
        exact.append((time.perf_counter() - start) * 1000)
        wanted = {collection.keywords.chunk_ids[row] for row in best}
        shared.append(len(wanted & near.keys()) / len(wanted))
    return {
        "graph search, ms (p50)": float(np.median(graph)),
        "exact search, ms (p50)": float(np.median(exact)),
        "of the 100 nearest, graph finds": float(np.mean(shared)),
    }


def _most_memory() -> float:
    """The most that this process has held. `getrusage` would count its parent's, which it has from the fork."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text("ascii").splitlines())
    return int(lines["VmHWM"].split()[0]) * 1024 / _MEGABYTE


def _milliseconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def _percentiles(name: str, values: Sequence[float]) -> Figures:
    return {f"{name}, ms (p{share})": float(np.percentile(values, share)) for share in (50, 95)}


def _disk(folder: CollectionFolder) -> float:
    published = Library(folder.library_path).published()
    assert published is not None
    files = (folder.index_path / published.folder).rglob("*")
    return sum(file.stat().st_size for file in files if file.is_file()) / _MEGABYTE


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The power of the size that the values grow with: the slope of the line through their logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1e-9)), 1)[0])


def draw(found: Sequence[Figures], path: Path) -> None:
    """Times and memory against size, both axes logarithmic."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    sizes = [figures["papers"] for figures in found]
    for name in found[0]:
        if name.endswith((", s", "(p50)", "memory, MB")):
            axes.loglog(sizes, [figures[name] for figures in found], marker="o", label=name)
    axes.set_xlabel("papers")
    axes.legend(fontsize=8)
    axes.grid(visible=True, which="both", alpha=0.3)
    figure.savefig(path)


def main() -> None:
    """Prints the table and the law, and draws the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=Path, default=PAPERS)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    options = parser.parse_args()
    if not options.papers.is_file():
        console.print(f"{options.papers} is not there; give a file of papers with --papers.")
        return
    print_environment("Growth: time and memory against the number of papers")
    found = [measured(options.papers, size) for size in sorted(options.sizes)]
    sizes = [figures["papers"] for figures in found]
    rows = [
        [name, *(f"{figures[name]:.3g}" for figures in found), f"{exponent(sizes, [f[name] for f in found]):.2f}"]
        for name in found[0]
        if name != "papers"
    ]
    print_table(["", *(f"{size:,.0f} papers" for size in sizes), "grows with n to the"], rows)
    DATA.mkdir(parents=True, exist_ok=True)
    draw(found, DATA / "growth.svg")
    console.print(f"The figure is in {DATA / 'growth.svg'}.")


if __name__ == "__main__":
    main()
