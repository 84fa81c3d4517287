"""Sentence boundaries: ours, pysbd, syntok and a plain regular expression against hand-marked sentences.

python -m benchmarks.sentences
"""

import json
import re
from collections.abc import Callable

import pysbd
from syntok import segmenter

from assistant.app import built_in_files
from benchmarks.common import ROOT, print_environment, print_table
from vectorstore.loading import load_papers
from vectorstore.sentences import sentence_spans

Splitter = Callable[[str], set[int]]
Marked = list[tuple[str, set[int]]]
"""Texts with the ends of their sentences, in code points."""


def built_in() -> Marked:
    """The abstracts of the built-in collection, marked by hand."""
    rows = [json.loads(line) for line in (ROOT / "tests" / "data" / "sentences.jsonl").read_text("utf-8").splitlines()]
    with built_in_files() as folder:
        papers = {name: load_papers(folder / name) for name in {row["file"] for row in rows}}
    return [(papers[row["file"]][row["position"] - 1].abstract, {end for _, end in row["spans"]}) for row in rows]


def hard_cases() -> Marked:
    """Short texts of our own with full stops that end no sentence."""
    lines = (ROOT / "tests" / "data" / "sentences_hard.jsonl").read_text("utf-8").splitlines()
    return [_joined(json.loads(line)) for line in lines]


def _joined(sentences: list[str]) -> tuple[str, set[int]]:
    return " ".join(sentences), {len(" ".join(sentences[: count + 1])) for count in range(len(sentences))}


def ours(text: str) -> set[int]:
    """Ends by `vectorstore.sentences`."""
    return {span.end for span in sentence_spans(text)}


def by_pysbd(text: str) -> set[int]:
    """Ends by pysbd, without the space that it counts to a sentence."""
    spans = pysbd.Segmenter(language="en", clean=False, char_span=True).segment(text)
    return {span.start + len(text[span.start : span.end].rstrip()) for span in spans}


def by_syntok(text: str) -> set[int]:
    """Ends by syntok."""
    sentences = [sentence for paragraph in segmenter.analyze(text) for sentence in paragraph]
    return {sentence[-1].offset + len(sentence[-1].value) for sentence in sentences}


def by_regex(text: str) -> set[int]:
    """Ends where . ! or ? comes before white space and a capital."""
    return {match.start() + 1 for match in re.finditer(r"[.!?]\s+(?=[A-Z])", text)} | {len(text)}


def scores(marked: Marked, split: Splitter) -> list[str]:
    """Precision, recall, F1 of the ends inside a text (its last is no decision), and texts without a mistake."""
    right = found = wanted = whole = 0
    for text, ends in marked:
        last = max(ends)
        gold, given = ends - {last}, split(text) - {last, len(text)}
        right, found, wanted = right + len(gold & given), found + len(given), wanted + len(gold)
        whole += gold == given
    precision, recall = right / max(1, found), right / wanted
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return [f"{precision:.4f}", f"{recall:.4f}", f"{f1:.4f}", f"{whole}/{len(marked)}"]


def main() -> None:
    """Prints both tables."""
    splitters = {"ours": ours, "pysbd": by_pysbd, "syntok": by_syntok, "regular expression": by_regex}
    for name, marked in {"Built-in collection": built_in(), "Hard cases of our own": hard_cases()}.items():
        print_environment(f"{name}: {sum(len(ends) for _, ends in marked)} sentences in {len(marked)} texts")
        rows = [[splitter, *scores(marked, split)] for splitter, split in splitters.items()]
        print_table(["splitter", "precision", "recall", "F1", "texts all right"], rows)


if __name__ == "__main__":
    main()
