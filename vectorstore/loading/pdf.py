"""PDF of one paper: its title, and its abstract from the heading "Abstract" to the first section.

No more than two pages are read. What a PDF says of itself counts only where its first page says so, too: such entries
are often left over from a template.
"""

import io
import logging
import math
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vectorstore.errors import SourceError
from vectorstore.loading.document import Document
from vectorstore.loading.fields import paper_record
from vectorstore.types import PaperRecord, SkippedRecord
from vectorstore.visible import visible

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

_PAGES = 2
_LONGEST_PAGE = 8 * 1024 * 1024
"""Bytes of a page's drawing instructions."""
_SECONDS = 15.0
_LEAST_TEXT = 40
"""Characters on the first pages of a PDF that has text."""
_SHORTEST_ABSTRACT, _LONGEST_ABSTRACT = 80, 4000
_SAME_SIZE = 0.97
_KNOWN_WORDS = 0.7
"""Of the words of what a PDF says of itself, the share that its first page must have."""
_HEADING = re.compile(r"^\W{0,3}a ?b ?s ?t ?r ?a ?c ?t(?P<apart>[ \t]*[.:—–-]|[ \t]*$)?(?=\W)[ \t]*", re.I | re.M)
_END = re.compile(
    r"^\W{0,3}(?:"
    r"(?:[1I] ?[.:]? {0,4})?i ?n ?t ?r ?o ?d ?u ?c ?t ?i ?o ?n\W{0,3}$"
    r"|(?:1|(?-i:I))\.? {1,4}(?-i:[A-Z])[^\n.]{2,60}$"
    r"|k ?e ?y ?w ?o ?r ?d ?s\b|key ?words\b|index terms\b|ccs concepts\b|categories and subject|general terms\b"
    r"|acm reference|jel class|pacs\b|(?:\d{4} )?mathematics subject"
    r"|equal contribution|these authors contributed|corresponding author|correspondence to|preprint\.|©|copyright ©"
    r"|permission to make|proceedings of the \d|\d+(?:st|nd|rd|th) conference on|published as a conf|under review as"
    r")",
    re.IGNORECASE | re.MULTILINE,
)
_LINE_NUMBER = re.compile(r"^[ \t]*\d{1,4}[ \t]*\n", re.MULTILINE)
_BROKEN_WORD = re.compile(r"(?<![\w-])([^\W\d_]+)[-\u2010\xad]\n(?=[a-zà-ÿ])")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_ARXIV_STAMP = re.compile(
    r"arXiv:\s?(?P<id>[\w.-]{1,20}/?\d{4,7})(?:v\d+)?\s+\[[^\]\n]{2,30}\](?:\s+\d{1,2} \w{3} (?P<year>\d{4}))?"
)
_DOI = re.compile(r"(?:doi\.org/|doi:? {0,2})(10\.\d{4,9}/\S{1,200})", re.IGNORECASE)
_PROGRAM = re.compile(r"(?:microsoft word|powerpoint presentation)\s*-\s*", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{2,}")


class _TooSlow(Exception):
    """Its pages take longer to read than a paper's do."""


@dataclass(frozen=True)
class _Line:
    """A line of a page, with the size of its letters; 0 when it does not run from left to right."""

    text: str
    size: float


def recognises(document: Document) -> bool:
    """By its first bytes."""
    return b"%PDF-" in document.head[:1024]


def read(document: Document) -> Iterator[PaperRecord | SkippedRecord]:
    """The one paper. Raises `SourceError` when the PDF is broken, locked, scanned, or takes long."""
    said, lines = _contents(document)
    text = _text(lines)
    if len(text.strip()) < _LEAST_TEXT:
        raise document.error(
            "has no text on its first pages", "It may be scanned: make it searchable, for example by `ocrmypdf IN OUT`."
        )
    abstract, is_whole = _abstract_in(text)
    if not abstract:
        yield SkippedRecord(position=1, reason=f"its first {_PAGES} pages have no heading 'Abstract'")
        return
    if not is_whole:
        document.warnings.append("nothing marks the end of its abstract; it is cut at a likely place")
    stamp = _ARXIV_STAMP.search(text)
    yield paper_record(
        {
            "title": _confirmed(_PROGRAM.sub("", said.get("/Title", "")), text) or _title_in(lines),
            "abstract": abstract,
            "author": _confirmed(said.get("/Author", ""), text),
            "arxiv_id": stamp["id"] if stamp else None,
            "year": stamp["year"] if stamp else None,
            "doi": [said.get("/doi", ""), *_DOI.findall(text)[:1]],
        },
        1,
    )


def _contents(document: Document) -> tuple[dict[str, str], list[_Line]]:
    """What the PDF says of itself, and the lines of its first page, or of two when the abstract is not on the first."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it would log is an error, or does not matter here
    try:
        reader = PdfReader(io.BytesIO(document.data()))
        if reader.is_encrypted and not reader.decrypt(""):
            raise document.error("is locked by a password", "Save a copy of it without the password.")
        return _said(reader), _first_lines(reader)
    except SourceError:
        raise
    except DependencyError as error:
        raise document.error("is encrypted", "Save a copy of it without encryption.") from error
    except _TooSlow as error:
        raise document.error("has pages that take too long to read", "Give its abstract as text.") from error
    except Exception as error:  # on a broken file pypdf fails in ways of all kinds
        raise document.error(
            f"is a PDF that cannot be read: {str(error) or type(error).__name__}",
            "Open it in a viewer and print it to a new PDF, or give its abstract as text.",
        ) from error


def _said(reader: "PdfReader") -> dict[str, str]:
    return {key: value for key, value in (reader.metadata or {}).items() if isinstance(value, str)}


def _first_lines(reader: "PdfReader") -> list[_Line]:
    until = time.monotonic() + _SECONDS
    lines: list[_Line] = []
    for page in range(min(_PAGES, len(reader.pages))):
        lines += _lines(reader.pages[page], until)
        if _abstract_in(_text(lines))[1]:
            break
    return lines


def _lines(page: "PageObject", until: float) -> list[_Line]:
    contents = page.get_contents()
    if contents is not None and len(contents.get_data()) > _LONGEST_PAGE:
        raise _TooSlow
    pieces: list[tuple[str, float]] = []
    page.extract_text(visitor_text=_collector(pieces), visitor_operand_before=_watch(until))
    lines: list[_Line] = []
    row: list[tuple[str, float]] = []
    for text, size in [*pieces, ("\n", 0.0)]:
        first, *others = text.split("\n")
        row.append((first, size))
        for other in others:
            lines.append(_line(row))
            row = [(other, size)]
    return [line for line in lines if line.text.strip()]


def _collector(pieces: list[tuple[str, float]]) -> Callable[[str, Any, Any, Any, float], None]:
    def collect(text: str, outer: list[float], inner: list[float], _: object, size: float) -> None:
        is_upright = abs(inner[1]) <= abs(inner[0]) and abs(outer[1]) <= abs(outer[0])
        scale = math.hypot(inner[2], inner[3]) * math.hypot(outer[2], outer[3])
        pieces.append((text, abs(size) * scale if is_upright else 0.0))

    return collect


def _watch(until: float) -> Callable[[Any, Any, Any, Any], None]:
    def watch(*_: object) -> None:
        if time.monotonic() > until:
            raise _TooSlow

    return watch


def _line(row: list[tuple[str, float]]) -> _Line:
    text = visible("".join(piece for piece, _ in row))
    _, size = max((len(piece.strip()), size) for piece, size in row)
    return _Line(text, size)


def _text(lines: list[_Line]) -> str:
    return _LINE_NUMBER.sub("", "\n".join(line.text for line in lines)).translate(_LIGATURES)


def _abstract_in(text: str) -> tuple[str, bool]:
    """The abstract, and whether its end is marked; empty when there is no heading."""
    headings = list(_HEADING.finditer(text))
    heading = next((found for found in headings if found["apart"] is not None), next(iter(headings), None))
    if heading is None:
        return "", False
    ends = (end.start() for end in _END.finditer(text, heading.end()))
    end = next((end for end in ends if end - heading.end() >= _SHORTEST_ABSTRACT), len(text))
    body = text[heading.end() : end].strip()
    if end < len(text) and len(body) <= _LONGEST_ABSTRACT:
        return _joined(body), True
    if heading["apart"] is None:  # "Abstract Interpretation of ..." is no heading
        return "", False
    return _joined(body[:_LONGEST_ABSTRACT]).rpartition(". ")[0] + ".", False


def _joined(text: str) -> str:
    """Lines as running text, with words that are broken at a line's end in one; a compound keeps its hyphen."""
    return " ".join(_BROKEN_WORD.sub(r"\1", text).replace("-\n", "-").split())


def _title_in(lines: list[_Line]) -> str:
    """The lines in the largest letters above the abstract, from the first of them on."""
    above = lines[: next((at for at, line in enumerate(lines) if _HEADING.match(line.text)), len(lines))]
    candidates = [line.size for line in above if len(_WORD.findall(line.text)) > 1] or [line.size for line in above]
    largest = max(candidates, default=0.0) * _SAME_SIZE
    title: list[str] = []
    for line in above:
        is_large = line.size >= largest and line.size > 0
        if title and not is_large:
            break
        if is_large and _WORD.search(line.text):
            title.append(line.text)
    return _joined("\n".join(title[:4]).translate(_LIGATURES))


def _confirmed(said: str, text: str) -> str | None:
    """What a PDF says of itself when its text has most of the words, too."""
    words = [word.casefold() for word in _WORD.findall(said)]
    known = {word.casefold() for word in _WORD.findall(text)}
    is_known = len(words) > 1 and sum(word in known for word in words) >= _KNOWN_WORDS * len(words)
    return said if is_known else None
