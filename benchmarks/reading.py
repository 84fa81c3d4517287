"""How fast files are read, beside the bare parsers that reading rests on.

    python -m benchmarks.reading [--papers FILE.jsonl.gz] [--fuzz SECONDS]

JSON Lines are the file itself, beside a loop over `orjson`; CSV and BibTeX are made of its first papers, beside `csv`
and the splitter of `bibtexparser`. Each is read in turns with its bare parser; the best of three counts. `--fuzz`
spoils the files for so long and says what was raised beside known errors, and how long the slowest took.
"""

import argparse
import csv
import gzip
import random
import re
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import bibtexparser.splitter
import orjson

from benchmarks.common import console, print_environment, print_table
from benchmarks.papers import PAPERS
from vectorstore.errors import SourceError
from vectorstore.exporting import EXPORTS
from vectorstore.loading import load_source
from vectorstore.types import Paper

_SAMPLE = 5_000
"""Papers in the files that are made."""
_LONG_ENTRIES, _CITED = 500, 10_000
"""How many entries have a list of what they cite, and its characters."""
_TURNS = 3
_SPOILT = 200
"""Papers in the files that are spoilt."""


def made_files(papers: list[Paper], folder: Path) -> dict[str, Path]:
    """The papers as files, by format."""
    files = {kind: folder / f"papers.{kind}" for kind in EXPORTS}
    for kind, file in files.items():
        file.write_text("".join(EXPORTS[kind](papers)), "utf-8")
    return files


def with_references(bibtex: Path, papers: list[Paper]) -> Path:
    """The entries with a list of 10 KB of what each cites, as Scopus gives."""
    cited = "; ".join(f"{', '.join(paper.authors)}, {paper.title} ({paper.year})" for paper in papers)
    cited = re.sub(r"[{}@\\]", "", cited)[:_CITED]
    file = bibtex.with_stem("long")
    entries = bibtex.read_text("utf-8").split("\n}\n\n")[:_LONG_ENTRIES]
    file.write_text("".join(f"{entry},\n  references = {{{cited}}}\n}}\n\n" for entry in entries), "utf-8")
    return file


def papers_in(path: Path, count: int) -> list[Paper]:
    """The first papers of a file, as a collection would have them."""
    records = load_source(path).papers[:count]
    return [Paper(**vars(record), paper_id=str(at), label=str(at), source="") for at, record in enumerate(records)]


def seconds(work: Callable[[], object]) -> float:
    """Of processor time."""
    start = time.process_time()
    work()
    return time.process_time() - start


def in_turns(ours: Callable[[], object], bare: Callable[[], object]) -> tuple[float, float]:
    """The best times of both."""
    times = [(seconds(ours), seconds(bare)) for _ in range(_TURNS)]
    return min(own for own, _ in times), min(other for _, other in times)


def bare_json(path: Path) -> None:
    """Parses each line and does nothing with it."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        for line in file:
            orjson.loads(line)


def bare_bibtex(path: Path) -> None:
    """Splits the file into entries and does nothing with them."""
    bibtexparser.splitter.Splitter(path.read_text("utf-8")).split()


def bare_csv(path: Path) -> None:
    """Splits the file into rows and does nothing with them."""
    with path.open(encoding="utf-8", newline="") as file:
        for _ in csv.reader(file):
            pass


def fuzz(files: dict[str, Path], folder: Path, for_seconds: float) -> None:
    """Reads spoilt copies of the files, and prints what they raised and how long they took."""
    draw = random.Random(0)
    originals = {kind: file.read_bytes() for kind, file in files.items()}
    until = time.monotonic() + for_seconds
    read, unknown, slowest = 0, 0, 0.0
    while time.monotonic() < until:
        kind = draw.choice(list(originals))
        spoilt = folder / f"spoilt.{kind}"
        spoilt.write_bytes(_spoilt(originals[kind], draw))
        start = time.monotonic()
        try:
            load_source(spoilt)
        except SourceError:
            pass
        except Exception as error:
            unknown += 1
            console.print(f"{kind}: {error!r}", markup=False)
        slowest = max(slowest, time.monotonic() - start)
        read += 1
    console.print(f"{read} spoilt files: {unknown} errors of unknown kind, slowest {slowest:.2f} s")


def _spoilt(data: bytes, draw: random.Random) -> bytes:
    """With some bytes changed, a piece left out or doubled, or the end cut off."""
    spoilt = bytearray(data)
    for _ in range(draw.randint(1, 20)):
        spoilt[draw.randrange(len(spoilt))] = draw.randrange(256)
    start, length = draw.randrange(len(spoilt)), draw.randint(1, 2000)
    piece = spoilt[start : start + length]
    return bytes(
        draw.choice([spoilt, spoilt[:start], spoilt[:start] + spoilt[start + length :], spoilt[:start] + piece + piece])
    )


def main() -> None:
    """Prints records per second of processor time, and the part of the bare parser's rate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=Path, default=PAPERS)
    parser.add_argument("--fuzz", type=float, default=0.0, metavar="SECONDS")
    options = parser.parse_args()
    if not options.papers.is_file():
        console.print(f"{options.papers} is not there; give a file with --papers.")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        papers = papers_in(options.papers, _SAMPLE)
        files = made_files(papers, folder)
        cases = [
            ("JSON Lines, packed", options.papers, bare_json),
            ("JSON Lines of our own", files["jsonl"], bare_json),
            ("BibTeX", files["bibtex"], bare_bibtex),
            ("BibTeX, long entries", with_references(files["bibtex"], papers), bare_bibtex),
            ("CSV", files["csv"], bare_csv),
        ]
        rows = []
        for what, path, bare in cases:
            count = len(load_source(path).papers)
            own, other = in_turns(partial(load_source, path), partial(bare, path))
            rates = [f"{count / own:,.0f}", f"{count / other:,.0f}", f"{other / own:.2f}"]
            rows.append([what, f"{count:,}", *rates])
        print_environment("Reading files, per second of processor time")
        print_table(["format", "records", "read", "bare parser", "of bare"], rows)
        if options.fuzz:
            small = made_files(papers_in(options.papers, _SPOILT), folder)
            fuzz(small, folder, options.fuzz)


if __name__ == "__main__":
    main()
