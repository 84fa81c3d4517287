"""A reading list as Markdown, BibTeX and RIS, each with the reader's notes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assistant.takeaway.markdown import paper_markdown
from assistant.takeaway.timetable import clashes, time_and_place
from vectorstore.exporting import bibtex, ris
from vectorstore.markup import escaped_markdown
from vectorstore.types import Paper


@dataclass(frozen=True)
class ReadingItem:
    """A paper that somebody wants to read, and what they noted of it."""

    paper: Paper
    note: str = ""


def list_markdown(items: Sequence[ReadingItem]) -> str:
    """An item for each paper with its time, its place and the note; then the clashes."""
    found = clashes([item.paper for item in items])
    parts = ["# Reading list", *(part for item in items for part in _item(item))]
    if found:
        parts += ["## Clashes", "\n".join(f"- {escaped_markdown(str(clash))}" for clash in found)]
    return "\n\n".join(parts) + "\n"


def list_bibtex(items: Sequence[ReadingItem]) -> str:
    """The papers with the notes as `annote`."""
    return "".join(bibtex([item.paper for item in items], _notes(items)))


def list_ris(items: Sequence[ReadingItem]) -> str:
    """The papers with the notes as `N1`."""
    return "".join(ris([item.paper for item in items], _notes(items)))


def _notes(items: Sequence[ReadingItem]) -> dict[str, str]:
    return {item.paper.paper_id: item.note for item in items}


def _item(item: ReadingItem) -> Iterator[str]:
    yield f"- {paper_markdown(item.paper)}"
    if place := time_and_place(item.paper):
        yield f"  {escaped_markdown(place)}"
    for line in item.note.splitlines():
        if line.strip():
            yield f"  {escaped_markdown(line)}"
