"""Papers as text that other programs read: JSON Lines, which this one reads back to the letter, BibTeX and CSV."""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields

from vectorstore.markup import readable
from vectorstore.types import Description, Paper, PaperRecord

OWN_FORMAT = "abstract-assistant"
"""The field that marks a record of our own, and its version."""
_VERSION = 1
_DESCRIBED = [field.name for field in fields(Description)]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""
_TEX = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_TEX |= {mark: f"\\{mark}" for mark in "&%#_$"}


def json_lines(papers: Iterable[Paper]) -> Iterator[str]:
    """A line for each paper with all that is known of it."""
    for paper in papers:
        known = {name: value for name in _DESCRIBED if (value := getattr(paper, name))}
        yield json.dumps({OWN_FORMAT: _VERSION, **known}, ensure_ascii=False) + "\n"


def own_record(value: dict[str, object], position: int) -> PaperRecord | None:
    """The record that `json_lines` wrote; None for what it did not write."""
    if value.get(OWN_FORMAT) != _VERSION or not isinstance(value.get("abstract"), str):
        return None
    known = {name: tuple(v) if isinstance(v, list) else v for name, v in value.items() if name in _DESCRIBED}
    return PaperRecord(**known, position=position)  # type: ignore[arg-type]


def bibtex(papers: Iterable[Paper]) -> Iterator[str]:
    """An entry for each paper; keys like "byron2026owls", each once."""
    used: set[str] = set()
    for paper in papers:
        key = _free_key(paper, used)
        entry = {
            "title": f"{{{_tex(readable(paper.title or paper.label))}}}",
            "author": " and ".join(_tex(author) for author in paper.authors),
            "year": str(paper.year or ""),
            "booktitle" if paper.track or paper.session else "journal": _tex(paper.venue or ""),
            "doi": paper.doi or "",
            "eprint": paper.arxiv_id or "",
            "eprinttype": "arxiv" if paper.arxiv_id else "",
            "url": next(iter(paper.urls), ""),
            "keywords": _tex(", ".join(paper.keywords)),
            "abstract": "" if paper.is_title_only else _tex(readable(paper.abstract)),
        }
        kind = "inproceedings" if "booktitle" in entry and paper.venue else "article" if paper.venue else "misc"
        lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in entry.items() if value.strip("{}"))
        yield f"@{kind}{{{key},\n{lines}\n}}\n\n"


def table(papers: Iterable[Paper]) -> Iterator[str]:
    """CSV with a head; no cell is one that a spreadsheet would run."""
    yield _row(_DESCRIBED)
    for paper in papers:
        yield _row([_cell(getattr(paper, name)) for name in _DESCRIBED])


EXPORTS: dict[str, Callable[[Iterable[Paper]], Iterator[str]]] = {"jsonl": json_lines, "bibtex": bibtex, "csv": table}
"""By name, what writes papers in a format."""


def _row(cells: list[str]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue()


def _cell(value: object) -> str:
    text = "; ".join(value) if isinstance(value, tuple) else str(value or "")
    return f"'{text}" if text.startswith(_FORMULA) else text


def _tex(text: str) -> str:
    return "".join(_TEX.get(char, char) for char in text)


def _free_key(paper: Paper, used: set[str]) -> str:
    family = paper.authors[0].split()[-1] if paper.authors else "anonymous"
    word = next((word for word in re.findall(r"\w{4,}", readable(paper.title or paper.label))), "")
    base = key = _ascii(f"{family}{paper.year or ''}{word}").lower() or "paper"
    number = 1
    while key in used:
        number += 1
        key = f"{base}-{number}"
    used.add(key)
    return key


def _ascii(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"\W", "", plain)
