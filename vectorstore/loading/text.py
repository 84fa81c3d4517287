"""Plain text of abstracts: blank lines between them, perhaps headings, nothing else to go by.

A short block without a full stop is a heading. "ICML 2026 Papers" gives venue and year to what follows;
any other heading is the title of the abstract right after it.
"""

import re
from pathlib import Path

from vectorstore.errors import SourceError
from vectorstore.types import PaperRecord
from vectorstore.visible import visible

_VENUE = re.compile(
    r"#*\s*(?P<venue>[A-Z][\w&/.-]*(?:\s+[A-Z&][\w&/.-]*){0,3}?),?\s+(?P<year>(?:19|20)\d\d)"
    r"(?:\s+(?i:accepted\s+)?(?i:papers?|abstracts?|proceedings|posters?|orals?))?\s*"
)
_URL = re.compile(
    r"https?://[^\s{}()\[\]<>\"'*|\\]+"
    r"|(?<![\w/.@-])(?:www\.)?(?:github\.com|gitlab\.com|huggingface\.co|arxiv\.org|doi\.org|zenodo\.org)/[^\s{}()\[\]<>\"'*|\\]+"
)
_LONGEST_HEADING = 25  # words


def read_text_papers(path: Path) -> list[PaperRecord]:
    """The abstracts of one text or Markdown file, in order."""
    return _papers(_blocks(visible(_decoded(path))))


def urls_in(text: str) -> tuple[str, ...]:
    """The addresses in `text`, in order, each once, without the punctuation after them."""
    found = (match.group().rstrip(".,;:!?") for match in _URL.finditer(text))
    return tuple(dict.fromkeys(url if url.startswith("http") else f"https://{url}" for url in found))


def _decoded(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.", "Check that it is a readable file.") from error
    if b"\0" in data:
        raise SourceError(f"{path} is a binary file.", "Give a text file of abstracts.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SourceError(
            f"{path} is not UTF-8 text: byte {error.object[error.start]:#04x} in line {line}.",
            "Save it as UTF-8 and read it again.",
        ) from error


def _blocks(text: str) -> list[str]:
    """The paragraphs; a Markdown heading is one by itself."""
    text = re.sub(r"^(#{1,6} .*)$", r"\n\1\n", text, flags=re.MULTILINE)
    return [block.strip() for block in re.split(r"\n[ \t]*\n", text) if block.strip()]


def _papers(blocks: list[str]) -> list[PaperRecord]:
    papers: list[PaperRecord] = []
    venue, year, title = None, None, None
    for block in blocks:
        if match := _VENUE.fullmatch(block):
            venue, year = match["venue"].strip(), int(match["year"])
        elif _is_heading(block):
            title = " ".join(block.lstrip("#").split())
        else:
            papers.append(
                PaperRecord(
                    abstract=block, title=title, venue=venue, year=year, urls=urls_in(block), position=len(papers) + 1
                )
            )
            title = None
    return papers


def _is_heading(block: str) -> bool:
    is_short_line = "\n" not in block and len(block.split()) <= _LONGEST_HEADING
    return block.startswith("#") or (is_short_line and not block.endswith("."))
