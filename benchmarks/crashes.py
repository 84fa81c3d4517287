"""Kills the writer of a collection, and looks at what is left.

    python -m benchmarks.crashes [--random N] [--seed N]

A process that updates a collection is killed (SIGKILL) before and after each step of writing, and at N random times.
After each kill the collection must be what it was before or what it was to become, every paper in it must be found by
its own vector, and the same update must then go through without embedding anything twice that was kept.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import vectorstore.indexing
from benchmarks.common import ROOT, console, print_environment, print_table
from vectorstore.chunking import chunk_papers
from vectorstore.collection import CollectionReader
from vectorstore.embedding import PACKAGED_EMBEDDING, load_embedding
from vectorstore.folder import CollectionFolder
from vectorstore.indexing import index_files
from vectorstore.library import Library

STEPS: dict[str, tuple[Any, str]] = {
    "vectors": (Library, "keep_vectors"),
    "papers": (Library, "replace_source"),
    "chroma": (vectorstore.indexing, "build_store"),
    "files": (CollectionFolder, "build_files"),
    "published": (Library, "publish"),
    "old": (CollectionFolder, "remove_indexes"),
}
"""What is called in each step of writing, in order."""
MOMENTS = [f"{when} {step}" for step in STEPS for when in ("before", "after")]
_BATCH = vectorstore.indexing.EMBEDDING_BATCH
_BEFORE, _AFTER = 30, 230
"""Papers."""


@dataclass(frozen=True)
class Aftermath:
    """What is left after a kill, and what the same update then does."""

    papers: int
    lost: int
    """Chunks that their own vectors do not find."""
    embedded_again: int
    papers_then: int

    @property
    def is_sound(self) -> bool:
        """Whether nothing is half there, nothing lost and hardly anything done twice."""
        is_whole = self.papers in (_BEFORE, _AFTER) and self.papers_then == _AFTER
        return is_whole and self.lost == 0 and self.embedded_again <= _AFTER - _BEFORE


def prepared_collection(data_dir: Path) -> CollectionFolder:
    """A collection with a few papers, and beside it the file that it is to be updated from."""
    folder = CollectionFolder(data_dir, "crashes")
    source = data_dir / "papers.txt"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(_abstracts(_BEFORE), "utf-8")
    index_files(folder, [source], load_embedding(PACKAGED_EMBEDDING))
    source.write_text(_abstracts(_AFTER), "utf-8")
    return folder


def aftermath(folder: CollectionFolder, kill: Callable[[subprocess.Popen[str]], None], moment: str = "") -> Aftermath:
    """Starts an update in a process of its own, lets `kill` end it, and looks at the collection."""
    command = [sys.executable, "-m", "benchmarks.crashes", "--update", str(folder.data_dir), "--moment", moment]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        kill(writer)
    embedding = load_embedding(PACKAGED_EMBEDDING)
    collection = CollectionReader(folder, embedding).current()
    chunks = chunk_papers(collection.library.papers())
    vectors = collection.library.vectors(embedding.key, [chunk.embedded_text for chunk in chunks])
    found = [chunk.chunk_id in collection.store.nearest(vectors[chunk.embedded_text], 3) for chunk in chunks]
    report = index_files(folder, [folder.data_dir / "papers.txt"], embedding)
    return Aftermath(len(chunks), found.count(False), report.embedded, report.papers)


def killed_at(folder: CollectionFolder, moment: str) -> Aftermath:
    """What is left when the writer kills itself at one of `MOMENTS`."""
    return aftermath(folder, lambda writer: None, moment)


def killed_after(folder: CollectionFolder, seconds: float) -> Aftermath:
    """What is left when the writer is killed so long after it has begun to read."""

    def kill(writer: subprocess.Popen[str]) -> None:
        time.sleep(seconds)
        writer.send_signal(signal.SIGKILL)

    return aftermath(folder, kill)


def _abstracts(count: int) -> str:
    return "\n\n".join(f"We propose Net{row}X, which does task {row} of {row * 7} kinds well." for row in range(count))


def _update(data_dir: Path, moment: str) -> None:
    """The process that is killed."""
    when, _, step = moment.partition(" ")
    if step:
        owner, name = STEPS[step]
        setattr(owner, name, _killing(getattr(owner, name), when))
    embedding = load_embedding(PACKAGED_EMBEDDING)
    print("begun", flush=True)
    index_files(CollectionFolder(data_dir, "crashes"), [data_dir / "papers.txt"], embedding)


def _killing(function: Callable[..., Any], when: str) -> Callable[..., Any]:
    def dying(*arguments: Any, **options: Any) -> Any:
        if when == "after":
            function(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)

    return dying


def main() -> None:
    """Prints what was left at each moment, and how many random ones left something unsound."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=50, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--update", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--moment", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.update:
        return _update(options.update, options.moment)
    draw = random.Random(options.seed)
    rows = []
    for moment in MOMENTS:
        with tempfile.TemporaryDirectory() as name:
            left = killed_at(prepared_collection(Path(name)), moment)
        rows.append([moment, str(left.papers), str(left.lost), str(left.embedded_again), str(left.is_sound)])
    unsound = 0
    for _ in range(options.random):
        with tempfile.TemporaryDirectory() as name:
            unsound += not killed_after(prepared_collection(Path(name)), draw.uniform(0, 3)).is_sound
    print_environment(f"Writers killed: an update from {_BEFORE} to {_AFTER} papers, batches of {_BATCH}")
    print_table(["killed", "papers left", "lost", "embedded again", "sound"], rows)
    console.print(f"{options.random} at random times: {unsound} left something unsound")


if __name__ == "__main__":
    main()
