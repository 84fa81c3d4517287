"""Labels made from abstracts alone, against the names in public titles of the form "Name: what it is".

python -m benchmarks.labels [--papers FILE.jsonl.gz] [--sample N] [--seed N]
"""

import argparse
import gzip
import json
import random
from pathlib import Path

from assistant.evaluation.resampling import estimate
from benchmarks.common import PUBLIC_DATA, console, print_environment
from vectorstore.addresses import urls_in
from vectorstore.labels import label_of
from vectorstore.names import looks_like_name
from vectorstore.types import PaperRecord

_SHOWN = 10


def named_abstracts(path: Path, sample: int, seed: int) -> list[tuple[str, str]]:
    """(name in the title, abstract) of papers whose abstract holds that name."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    random.Random(seed).shuffle(rows)
    pairs = ((row["title"].partition(": ")[0], row["abstract"] or "") for row in rows if ": " in row["title"])
    fitting = [(name, text) for name, text in pairs if " " not in name and looks_like_name(name) and name in text]
    return fitting[:sample]


def main() -> None:
    """Prints how often the label is the name, and some that are not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=Path, default=PUBLIC_DATA / "papers" / "conferences.jsonl.gz")
    parser.add_argument("--sample", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not options.papers.is_file():
        console.print(f"{options.papers} is not there; give a file with --papers.")
        return
    pairs = named_abstracts(options.papers, options.sample, options.seed)
    labels = [label_of(PaperRecord(abstract=text, urls=urls_in(text), position=1)) for _, text in pairs]
    print_environment(f"Labels from abstracts alone, {len(pairs)} papers whose title names their system")
    right = [label == name for label, (name, _) in zip(labels, pairs, strict=True)]
    if share := estimate([float(hit) for hit in right]):
        console.print(f"label is the name in the title: {share.value:.3f} ({share.low:.3f}–{share.high:.3f})")
    wrong = [(name, label) for label, (name, _), hit in zip(labels, pairs, right, strict=True) if not hit]
    for name, label in wrong[:_SHOWN]:
        console.print(f"  {name}: {label}", markup=False)


if __name__ == "__main__":
    main()
