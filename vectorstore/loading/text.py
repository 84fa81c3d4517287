"""Plain text of abstracts: blank lines between them, perhaps headings, nothing else to go by.

A short block without a full stop is a heading. "ICML 2026 Papers" gives venue and year to what follows;
any other heading is the title of the abstract right after it.
"""

import re
from collections.abc import Iterator

from vectorstore.addresses import urls_in
from vectorstore.loading.document import Document
from vectorstore.types import PaperRecord, SkippedRecord

_VENUE = re.compile(
    r"#*\s*(?P<venue>[A-Z][\w&/.-]*(?:\s+[A-Z&][\w&/.-]*){0,3}?),?\s+(?P<year>(?:19|20)\d\d)"
    r"(?:\s+(?i:accepted\s+)?(?i:papers?|abstracts?|proceedings|posters?|orals?))?\s*"
)
_MARKDOWN_HEADING = re.compile(r"#{1,6} ")
_LONGEST_HEADING = 25  # words


def recognises(document: Document) -> bool:
    """Any text that is no web page."""
    head = document.head_text.lstrip()[:200].casefold()
    return not (document.is_binary or head.startswith(("<!doctype html", "<html")))


def read(document: Document) -> Iterator[PaperRecord | SkippedRecord]:
    """The abstracts of a text or Markdown file, in order; a heading that no abstract follows is skipped."""
    venue, year, title = None, None, None
    position = 0
    for line, block in _blocks(document.text()):
        if match := _VENUE.fullmatch(block):
            venue, year = match["venue"].strip(), int(match["year"])
        elif _is_heading(block):
            if title:
                position += 1
                yield _without_abstract(title, position)
            title = (" ".join(block.lstrip("#").split()), line)
        else:
            position += 1
            heading = title[0] if title else None
            urls = urls_in(block)
            yield PaperRecord(abstract=block, title=heading, venue=venue, year=year, urls=urls, position=position)
            title = None
    if title:
        yield _without_abstract(title, position + 1)


def _without_abstract(title: tuple[str, int], position: int) -> SkippedRecord:
    return SkippedRecord(position=position, line=title[1], reason=f"no abstract follows the heading {title[0]!r}")


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs with the lines they begin in; a Markdown heading is one by itself."""
    block: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        is_heading = _MARKDOWN_HEADING.match(line)
        if block and (is_heading or not line.strip()):
            yield number - len(block), "\n".join(block).strip()
            block = []
        if is_heading:
            yield number, line.strip()
        elif line.strip():
            block.append(line)


def _is_heading(block: str) -> bool:
    is_short_line = "\n" not in block and len(block.split()) <= _LONGEST_HEADING
    return block.startswith("#") or (is_short_line and not block.endswith("."))
