"""Indexes all 91,603 public conference papers, killed once in the middle, and says where time and memory go.

    python -m benchmarks.whole [--papers FILE.jsonl.gz] [--sample N]

Each run is a process of its own: one that is killed (SIGKILL) when half of the texts are embedded, the same again, and
once more when nothing has changed. The comparison is what LangChain with Chroma takes to store the same vectors. The
collection stays in build/benchmarks/whole; it takes about an hour on two cores, nearly all of it for embedding.
"""

import argparse
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from langchain_chroma import Chroma

import vectorstore.folder
import vectorstore.indexing
import vectorstore.loading
from benchmarks.common import ROOT, console, print_environment, print_table
from benchmarks.papers import DATA, PAPERS, KnownVectors
from vectorstore.chunking import chunk_papers
from vectorstore.embedding import PACKAGED_EMBEDDING, EmbeddingModel, load_embedding
from vectorstore.folder import CollectionFolder
from vectorstore.indexing import EMBEDDING_BATCH, index_files
from vectorstore.library import Library

STEPS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "reading": (vectorstore.loading, ("load_sources",)),
    "cutting into chunks": (vectorstore.indexing, ("chunk_papers", "embedded_texts")),
    "embedding": (EmbeddingModel, ("vectors",)),
    "keeping vectors": (Library, ("without_vector", "keep_vectors", "vector_rows")),
    "keeping papers": (Library, ("replace_source", "papers", "labels")),
    "Chroma": (vectorstore.indexing, ("build_store",)),
    "vectors for exact search": (vectorstore.folder, ("build_vectors",)),
    "filters": (vectorstore.folder, ("build_facets",)),
    "keyword index": (vectorstore.folder, ("build_keywords",)),
    "words for spelling": (vectorstore.folder, ("build_vocabulary",)),
}
"""What is called in each step, in order; a step that another one calls is not counted in that one."""
_REST = "the rest"
_QUARTERS = 4
_KILLED_AFTER = 0.5
"""Seconds after half is embedded: in the middle of a batch."""
_PAGE = 1000
_MEGABYTE = 1e6


@dataclass
class Run:
    """What one process did."""

    embedded: int = 0
    """Texts that were given to the model, also those of a batch that was never kept."""
    papers: int = 0
    rebuilt: bool = False
    seconds: dict[str, float] = field(default_factory=dict)
    """By step."""
    processor: dict[str, float] = field(default_factory=dict)
    """Seconds of processor time by step, of all cores together."""
    memory: list[float] = field(default_factory=list)
    """Megabytes, ten times a second."""

    def without(self, step: str) -> float:
        """The share of all processor time that is not of that step."""
        return 1 - self.processor.get(step, 0) / sum(self.processor.values())

    def most_by_quarter(self) -> list[float]:
        """The most memory in each quarter of its time."""
        bounds = [len(self.memory) * quarter // _QUARTERS for quarter in range(_QUARTERS + 1)]
        return [max(self.memory[start:end], default=0) for start, end in pairwise(bounds)]


class Clock:
    """Attributes time to the innermost step that is being done."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._steps = [_REST]
        self._since = (time.perf_counter(), time.process_time())

    def watch(self, owner: Any, name: str, step: str) -> None:
        """Counts calls of a function as that step."""
        function = getattr(owner, name)

        def watched(*arguments: Any, **options: Any) -> Any:
            with self._doing(step):
                return function(*arguments, **options)

        setattr(owner, name, watched)

    def stop(self) -> None:
        """Counts what has passed since the last step began or ended."""
        now = (time.perf_counter(), time.process_time())
        for spent, passed in zip((self._run.seconds, self._run.processor), _differences(now, self._since), strict=True):
            spent[self._steps[-1]] = spent.get(self._steps[-1], 0) + passed
        self._since = now

    @contextmanager
    def _doing(self, step: str) -> Iterator[None]:
        self.stop()
        self._steps.append(step)
        try:
            yield
        finally:
            self.stop()
            self._steps.pop()


def _differences(now: tuple[float, float], before: tuple[float, float]) -> tuple[float, float]:
    return now[0] - before[0], now[1] - before[1]


def _watched_run() -> tuple[Run, Clock]:
    """A run of this process, whose steps and memory are measured from now on."""
    run = Run()
    clock = Clock(run)
    for step, (owner, names) in STEPS.items():
        for name in names:
            clock.watch(owner, name, step)
    threading.Thread(target=_sample_memory, args=(run,), daemon=True).start()
    return run, clock


def _sample_memory(run: Run) -> None:
    page = os.sysconf("SC_PAGE_SIZE")
    while True:
        run.memory.append(int(Path("/proc/self/statm").read_text("ascii").split()[1]) * page / _MEGABYTE)
        time.sleep(0.1)


def _index(papers: Path, result: Path, killed: bool) -> None:
    """The process that indexes; `killed`: it kills itself soon after half of the texts are embedded."""
    embedding = load_embedding(PACKAGED_EMBEDDING)
    run, clock = _watched_run()

    def write() -> None:
        clock.stop()
        result.write_text(json.dumps(asdict(run)), "utf-8")

    def die() -> None:
        write()
        os.kill(os.getpid(), signal.SIGKILL)

    def progress(what: str, done: int, total: int) -> None:
        if what == "embedding" and done < total:
            run.embedded += min(EMBEDDING_BATCH, total - done)
            if killed and done <= total // 2 < done + EMBEDDING_BATCH:
                threading.Timer(_KILLED_AFTER, die).start()

    report = index_files(_folder(result), [papers], embedding, progress=progress)
    run.papers, run.rebuilt = report.papers, report.rebuilt
    write()


def _plain(papers: Path, result: Path) -> None:
    """The process that lets LangChain and Chroma store the same vectors."""
    embedding = load_embedding(PACKAGED_EMBEDDING)
    library = Library(_folder(result).library_path)
    chunks = chunk_papers(library.papers())
    run, clock = _watched_run()
    store = Chroma("plain", KnownVectors(library, embedding), persist_directory=str(result.parent / "plain"))
    for start in range(0, len(chunks), _PAGE):
        store.add_texts([chunk.embedded_text for chunk in chunks[start : start + _PAGE]])
    clock.stop()
    result.write_text(json.dumps(asdict(run)), "utf-8")
    shutil.rmtree(result.parent / "plain")


def _folder(result: Path) -> CollectionFolder:
    return CollectionFolder(result.parent, "papers")


def run_of(what: str, papers: Path, data: Path) -> Run:
    """What a process of its own did: "killed", "index" or "plain"."""
    result = data / f"{what}.json"
    command = [
        sys.executable,
        "-m",
        "benchmarks.whole",
        "--child",
        what,
        "--papers",
        str(papers),
        "--result",
        str(result),
    ]
    done = subprocess.run(command, cwd=ROOT)
    if done.returncode not in (0, -signal.SIGKILL):
        raise SystemExit(done.returncode)
    return Run(**json.loads(result.read_text("utf-8")))


def _sampled(papers: Path, count: int, data: Path) -> Path:
    path = data / "papers.jsonl.gz"
    with gzip.open(papers, "rb") as whole, gzip.open(path, "wb") as part:
        part.writelines(islice(whole, count))
    return path


def _show(killed: Run, resumed: Run, again: Run, plain: Run, kept: int) -> None:
    both = [killed, resumed]
    total = sum(sum(run.processor.values()) for run in both)
    rows = [
        [
            step,
            *(f"{run.seconds.get(step, 0):,.1f}" for run in both),
            *(f"{run.processor.get(step, 0):,.1f}" for run in both),
            f"{sum(run.processor.get(step, 0) for run in both) / total:.1%}",
            f"{again.processor.get(step, 0):,.1f}",
        ]
        for step in [*STEPS, _REST]
    ]
    columns = ["step", "s, until killed", "s, then", "processor s", "then", "of both", "unchanged"]
    sums = [[sum(run.seconds.values()) for run in both], [sum(run.processor.values()) for run in both]]
    rows.append(
        ["all", *(f"{value:,.1f}" for pair in sums for value in pair), "100%", f"{sum(again.processor.values()):,.1f}"]
    )
    print_table(columns, rows)
    embedding = sum(run.processor.get("embedding", 0) for run in both)
    console.print(f"{resumed.papers:,} papers; not embedding: {1 - embedding / total:.1%} of processor time")
    repeated = killed.embedded + resumed.embedded - kept
    console.print(f"embedded: {killed.embedded:,} until killed, {resumed.embedded:,} then, {repeated} of them twice")
    console.print(
        f"unchanged: {sum(again.seconds.values()):.1f} s, {again.embedded} embedded, rebuilt: {again.rebuilt}"
    )
    for name, run in (("until killed", killed), ("then", resumed), ("unchanged", again)):
        console.print(
            f"most memory by quarter, {name}: {', '.join(f'{most:,.0f}' for most in run.most_by_quarter())} MB"
        )
    console.print(
        f"LangChain with Chroma stores the vectors in {sum(plain.seconds.values()):,.1f} s,"
        f" {sum(plain.processor.values()):,.1f} of processor time; our Chroma in {resumed.seconds['Chroma']:,.1f} s,"
        f" {resumed.processor['Chroma']:,.1f}"
    )


def main() -> None:
    """Prints the table and the figures below it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=Path, default=PAPERS)
    parser.add_argument("--sample", type=int, metavar="N")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    children: dict[str, Callable[[], None]] = {
        "killed": lambda: _index(options.papers, options.result, killed=True),
        "index": lambda: _index(options.papers, options.result, killed=False),
        "plain": lambda: _plain(options.papers, options.result),
    }
    if options.child:
        return children[options.child]()
    if not options.papers.is_file():
        console.print(f"{options.papers} is not there; give a file of papers with --papers.")
        return
    data = DATA / ("whole" if options.sample is None else f"whole-{options.sample}")
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    papers = options.papers if options.sample is None else _sampled(options.papers, options.sample, data)
    print_environment("Indexing public papers, killed once and resumed")
    killed, resumed, again = (run_of(what, papers, data) for what in ("killed", "index", "index"))
    library = Library(CollectionFolder(data, "papers").library_path)
    texts = {chunk.embedded_text for chunk in chunk_papers(library.papers())}
    embedding = load_embedding(PACKAGED_EMBEDDING)
    kept = len(texts) - len(library.without_vector(embedding.key, texts))
    library.close()
    _show(killed, resumed, again, run_of("plain", papers, data), kept)


if __name__ == "__main__":
    main()
