"""Papers as text that other programs read: JSON Lines, which this one reads back to the letter, BibTeX, RIS and CSV."""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Literal

from vectorstore.addresses import escaped_address
from vectorstore.markup import readable
from vectorstore.types import Description, Paper, PaperRecord
from vectorstore.visible import visible

OWN_FORMAT = "abstract-assistant"
"""The field that marks a record of our own, and its version."""
_VERSION = 1
_DESCRIBED = [field.name for field in fields(Description)]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""
_TEX = {
    **{"\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{mark: f"\\{mark}" for mark in "&%#_$"},
}
"""Braces by name: BibTeX counts them with a backslash before them, too."""
_NO_NOTES: Mapping[str, str] = MappingProxyType({})
_Kind = Literal["article", "inproceedings", "misc"]
_MEETING = re.compile(
    r"(?i:\b(?:conference|workshop|symposium|congress|meeting)\b)"
    r"|(?i:\bproceedings\b(?! of the (?:National Academy|Royal|IEEE$|VLDB|ACM on)))"
    r"|^(?:AAAI|AISTATS|(?:A|E|NA)?ACL|CHI|COLING|COLM|COLT|CoRL|CVPR|ECCV|EMNLP|ICASSP|ICCV|ICLR|ICML|ICRA|IJCAI"
    r"|Interspeech|IROS|KDD|MICCAI|MLSys|NeurIPS|NIPS|SIGIR|UAI|WACV|WSDM|WWW)\b"
)
"""What the name of a venue has when it is no journal."""
_RIS_TYPES: dict[_Kind, str] = {"article": "JOUR", "inproceedings": "CONF", "misc": "GEN"}
_RANK = re.compile(r"(?:Jr|Sr|II|III|IV)\.?")
_PARTICLES = frozenset("al bin da de del della den der di do dos du el ibn la le ten ter van von zu zum".split())
"""Of a family's name, written small before it."""


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


def bibtex(papers: Iterable[Paper], notes: Mapping[str, str] = _NO_NOTES) -> Iterator[str]:
    """An entry for each paper, with the note on its id, if any; keys like "byron2026owls", each once."""
    used: set[str] = set()
    for paper in papers:
        key, kind = _free_key(paper, used), _kind(paper)
        entry = {
            "title": f"{{{_tex(readable(paper.title or paper.label))}}}",
            "author": " and ".join(map(_bibtex_name, filter(str.strip, paper.authors))),
            "year": str(paper.year or ""),
            "booktitle" if kind == "inproceedings" else "journal": _tex(paper.venue or ""),
            "doi": escaped_address(paper.doi or ""),
            "eprint": _tex(paper.arxiv_id or ""),
            "eprinttype": "arxiv" if paper.arxiv_id else "",
            "url": escaped_address(next(iter(paper.urls), "")),
            "keywords": _tex(", ".join(paper.keywords)),
            "abstract": "" if paper.is_title_only else _tex(readable(paper.abstract)),
            "annote": _tex(notes.get(paper.paper_id, "")),
        }
        lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in entry.items() if value.strip("{}"))
        yield f"@{kind}{{{key},\n{lines}\n}}\n\n"


def ris(papers: Iterable[Paper], notes: Mapping[str, str] = _NO_NOTES) -> Iterator[str]:
    """A record for each paper, with the note on its id, if any."""
    for paper in papers:
        arxiv = [f"https://arxiv.org/abs/{paper.arxiv_id}"] if paper.arxiv_id else []
        record = [
            ("TY", _RIS_TYPES[_kind(paper)]),
            ("TI", readable(paper.title or paper.label)),
            *(("AU", _ris_name(author)) for author in paper.authors),
            ("T2", paper.venue or ""),
            ("PY", str(paper.year or "")),
            ("DO", paper.doi or ""),
            *(("UR", escaped_address(url)) for url in dict.fromkeys([*paper.urls[:1], *arxiv])),
            ("L1", escaped_address(paper.pdf_url or "")),
            *(("KW", word) for word in paper.keywords),
            ("AB", "" if paper.is_title_only else readable(paper.abstract)),
            ("N1", notes.get(paper.paper_id, "")),
        ]
        lines = [f"{tag}  - {line}\r\n" for tag, value in record if (line := _line(value))]
        yield "".join([*lines, "ER  - \r\n\r\n"])


def table(papers: Iterable[Paper]) -> Iterator[str]:
    """CSV with a head; no cell is one that a spreadsheet would run."""
    yield _row(_DESCRIBED)
    for paper in papers:
        yield _row([_cell(getattr(paper, name)) for name in _DESCRIBED])


EXPORTS: dict[str, Callable[[Iterable[Paper]], Iterator[str]]] = {
    "jsonl": json_lines,
    "bibtex": bibtex,
    "ris": ris,
    "csv": table,
}
"""By name, what writes papers in a format."""


def _row(cells: list[str]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue()


def _cell(value: object) -> str:
    text = "; ".join(value) if isinstance(value, tuple) else str(value or "")
    return f"'{text}" if text.startswith(_FORMULA) else text


def _kind(paper: Paper) -> _Kind:
    if not paper.venue:
        return "misc"
    is_presented = paper.track or paper.session or paper.room or paper.starts_at
    return "inproceedings" if is_presented or _MEETING.search(paper.venue) else "article"


def _line(text: str) -> str:
    return " ".join(visible(text).split())


def _tex(text: str) -> str:
    return "".join(_TEX.get(char, char) for char in _line(text))


def _bibtex_name(name: str) -> str:
    """In braces where a comma or an "and" is part of it."""
    return f"{{{_tex(name)}}}" if "," in name or _is_joint(name) else _tex(name)


def _ris_name(name: str) -> str:
    """As "Family, Given" or "Family, Given, Jr."."""
    words = _line(name).replace(",", "").split()
    if _is_joint(name) or len(words) < 2:
        return " ".join(words)
    rank = [words.pop()] if len(words) > 2 and _RANK.fullmatch(words[-1]) else []
    at = len(words) - 1
    while at > 1 and words[at - 1] in _PARTICLES:
        at -= 1
    return ", ".join([" ".join(words[at:]), " ".join(words[:at]), *rank])


def _is_joint(name: str) -> bool:
    """Whether an "and" in it is of the name of an institution."""
    return "and" in name.casefold().split()


def _free_key(paper: Paper, used: set[str]) -> str:
    family = "".join(paper.authors[0].split()[-1:]) if paper.authors else "anonymous"
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
