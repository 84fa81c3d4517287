"""From files to papers. One reader per format; `FORMATS` is the table of what can be read.

A reader gives a paper, or a `SkippedRecord` that says why there is none, for each record of its file.
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from vectorstore.errors import SourceError
from vectorstore.loading import archive, bibtex, delimited, json_records, markdown, pdf, tagged, text, xml_records
from vectorstore.loading.document import Document
from vectorstore.types import PaperRecord, ReadingRules, SkippedRecord, Source, UnreadFile

__all__ = ["FORMATS", "load_papers", "load_source", "load_sources", "source_files"]

Found = PaperRecord | SkippedRecord


@dataclass(frozen=True)
class Format:
    """How files of one kind are told from others by what is in them, and read."""

    name: str
    recognises: Callable[[Document], bool]
    read: Callable[[Document], Iterator[Found]]


FORMATS = (
    Format("PDF", pdf.recognises, pdf.read),
    Format("XML", xml_records.recognises, xml_records.read),
    Format("JSON", json_records.recognises, json_records.read),
    Format("BibTeX", bibtex.recognises, bibtex.read),
    Format("RIS", tagged.is_ris, tagged.read_ris),
    Format("PubMed", tagged.is_pubmed, tagged.read_pubmed),
    Format("Web of Science", tagged.is_web_of_science, tagged.read_web_of_science),
    Format("EndNote", tagged.is_endnote, tagged.read_endnote),
    Format("table", delimited.recognises, delimited.read),
    Format("Markdown with front matter", markdown.recognises, markdown.read),
    Format("text", text.recognises, text.read),
)
_LONGEST_ABSTRACT = 1_000_000
"""Code points; a longer text is no abstract. The longest of 91,603 conference papers has 16,205."""
ENDINGS = frozenset(
    f".{ending}"
    for ending in (
        "txt md markdown json jsonl ndjson csv tsv tab bib bibtex ris enw enl isi ciw nbib xml atom rss rdf pdf zip gz"
    ).split()
)
"""Of the files that are read in a folder; a file that is named is read whatever its ending."""


def load_papers(path: Path) -> list[PaperRecord]:
    """The papers in one file. Raises `SourceError` when it cannot be read or holds none."""
    return list(load_source(path).papers)


def load_source(path: Path, rules: ReadingRules | None = None) -> Source:
    """One file with what it holds, known by its absolute path.

    Raises `SourceError` when it cannot be read, and when it breaks the rules.
    """
    rules = rules or ReadingRules()
    document = Document.at(path)
    with _garbage_left_alone():
        kind, read = _read(document, rules.columns)
        found = [_skipped_if_too_long(item) for item in read]
    papers = tuple(item for item in found if isinstance(item, PaperRecord))
    skipped = tuple(item for item in found if isinstance(item, SkippedRecord))
    if rules.strict and skipped:
        raise document.error(f"has a record that is none: {skipped[0]}", "Mend it, or leave --strict out to skip it.")
    if not papers and not rules.allow_empty:
        raise document.error(
            f"holds no paper{_reasons(skipped)}",
            "Expected are abstracts, separated by blank lines, or the export of a bibliography.",
        )
    return Source(
        path=str(path.resolve()), format=kind, papers=papers, skipped=skipped, warnings=tuple(document.warnings)
    )


def _skipped_if_too_long(item: Found) -> Found:
    if isinstance(item, SkippedRecord) or len(item.abstract) <= _LONGEST_ABSTRACT:
        return item
    return SkippedRecord(
        position=item.position, reason=f"its abstract would have more than {_LONGEST_ABSTRACT:,} characters"
    )


@contextmanager
def _garbage_left_alone() -> Iterator[None]:
    """Without the search for reference cycles, which reading makes none of; each would go through all papers so far."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _reasons(skipped: Sequence[SkippedRecord]) -> str:
    if not skipped:
        return ""
    others = f" ({len(skipped) - 1} more records are none, either)" if len(skipped) > 1 else ""
    return f": {skipped[0]}{others}"


def load_sources(paths: Iterable[Path], rules: ReadingRules) -> tuple[list[Source], list[UnreadFile]]:
    """The files that can be read, and the others. Raises `SourceError` when all are others, or by `strict`."""
    sources: list[Source] = []
    unread: list[UnreadFile] = []
    for path in source_files(paths):
        try:
            sources.append(load_source(path, rules))
        except SourceError as error:
            if rules.strict:
                raise
            unread.append(UnreadFile(path=str(path), message=error.message, hint=error.hint))
    if unread and not sources:
        raise SourceError(unread[0].message, unread[0].hint)
    return sources, unread


def source_files(paths: Iterable[Path]) -> list[Path]:
    """The files to read: those named, and in each folder named all of a known kind except README files."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            found = sorted(p for p in path.rglob("*") if p.suffix.lower() in ENDINGS and p.stem.lower() != "readme")
            if not found:
                raise SourceError(
                    f"The folder {path} holds no file to read.", f"Known are: {', '.join(sorted(ENDINGS))}."
                )
            files.extend(found)
        elif path.exists():
            files.append(path)
        else:
            raise SourceError(f"There is no file {path}.", "Check the path; it is read from the current folder.")
    return list(dict.fromkeys(files))


def _read(document: Document, columns: Mapping[str, str]) -> tuple[str, list[Found]]:
    """The name of its format, and its records."""
    if archive.recognises(document):
        return "zip", list(_members(document, columns))
    if columns and not pdf.recognises(document):
        return "table", list(delimited.read(document, columns))
    kind = next((kind for kind in FORMATS if kind.recognises(document)), None)
    if kind is None:
        raise document.error(
            "is a binary file or a web page",
            f"What can be read: {', '.join(kind.name for kind in FORMATS)}, zip of these.",
        )
    return kind.name, list(kind.read(document))


def _members(document: Document, columns: Mapping[str, str]) -> Iterator[Found]:
    """The records of all members, counted through; a member that cannot be read is one that is skipped."""
    position = 0
    for member in archive.members(document):
        name = member.name.removeprefix(f"{document.name}!")
        if PurePath(name).suffix.lower() not in ENDINGS:
            document.warnings.append(f"{name} is left out, as its ending is none of a kind that is read")
            continue
        try:
            _, found = _read(member, columns)
        except SourceError as error:
            found = [SkippedRecord(position=1, reason=error.message)]
        document.warnings += [f"{name}: {warning}" for warning in member.warnings]
        for item in found:
            position += 1
            if isinstance(item, SkippedRecord):
                yield replace(item, position=position, file=name)
            else:
                yield replace(item, position=position)
