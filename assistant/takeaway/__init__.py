"""What a reader can take away: answers with the papers they cite, and a reading list; two tables have the formats."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from assistant.takeaway.calendar import list_calendar, remark_on_calendar
from assistant.takeaway.conversation import (
    answers_bibtex,
    answers_json,
    answers_markdown,
    answers_ris,
    cited_papers,
)
from assistant.takeaway.reading_list import ReadingItem, list_bibtex, list_markdown, list_ris
from assistant.takeaway.timetable import Clash, clashes
from assistant.types import Answer

__all__ = ["READING_LIST_AS", "TAKEN_AS", "Clash", "Format", "ReadingItem", "cited_papers", "clashes"]

T = TypeVar("T")


def _nothing(things: Sequence[object]) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class Format(Generic[T]):
    """One way to write things down."""

    title: str
    """As a reader knows it."""
    ending: str
    """Of its files, with the dot."""
    mime: str
    text_of: Callable[[Sequence[T]], str]
    """The file's text, with its line ends; to be written in UTF-8 as it is."""
    remark_on: Callable[[Sequence[T]], str] = _nothing
    """What a reader has to know of the file, such as what is not in it; empty for nothing."""


TAKEN_AS: dict[str, Format[Answer]] = {
    "markdown": Format(title="Markdown", ending=".md", mime="text/markdown", text_of=answers_markdown),
    "json": Format(title="JSON", ending=".json", mime="application/json", text_of=answers_json),
    "bibtex": Format(title="BibTeX", ending=".bib", mime="application/x-bibtex", text_of=answers_bibtex),
    "ris": Format(title="RIS", ending=".ris", mime="application/x-research-info-systems", text_of=answers_ris),
}
"""By name, the formats of a conversation or an answer; the last two hold exactly the cited papers."""
READING_LIST_AS: dict[str, Format[ReadingItem]] = {
    "markdown": Format(title="Markdown", ending=".md", mime="text/markdown", text_of=list_markdown),
    "bibtex": Format(title="BibTeX", ending=".bib", mime="application/x-bibtex", text_of=list_bibtex),
    "ris": Format(title="RIS", ending=".ris", mime="application/x-research-info-systems", text_of=list_ris),
    "calendar": Format(
        title="calendar", ending=".ics", mime="text/calendar", text_of=list_calendar, remark_on=remark_on_calendar
    ),
}
"""By name, the formats of a reading list."""
