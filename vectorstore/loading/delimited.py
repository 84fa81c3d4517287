"""Tables with a head: CSV, TSV and the like, whatever the delimiter and the columns' names."""

import csv
import io
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from vectorstore.loading.document import LARGEST, Document
from vectorstore.loading.fields import NAMES, paper_record, plain_key
from vectorstore.types import PaperRecord, SkippedRecord

_WEB_OF_SCIENCE: dict[str, tuple[str, ...]] = {
    "title": ("TI",),
    "abstract": ("AB",),
    "authors": ("AF", "AU"),
    "venue": ("SO",),
    "year": ("PY",),
    "doi": ("DI",),
    "pubmed_id": ("PM",),
    "keywords": ("DE",),
}
"""Its columns have the names of its tags, which elsewhere mean other things; the better one first."""
_TELLS_LITTLE = "id"
_MOST_LINES_BEFORE = 5
"""Lines that may stand before the head: "sep=;" for spreadsheets, or what was searched for."""
_DELIMITERS = (",", ";", "\t", "|")


def recognises(document: Document) -> bool:
    """By a column for titles or abstracts among several in its first line, or by its name."""
    head, _ = _head(document)
    is_named_so = document.name.lower().removesuffix(".gz").endswith((".csv", ".tsv", ".tab"))
    return is_named_so or (len(head) > 1 and not {"title", "abstract"}.isdisjoint(columns_of(head)))


def read(
    document: Document, columns: Mapping[str, str] = MappingProxyType({})
) -> Iterator[PaperRecord | SkippedRecord]:
    """A paper for each row. `columns` says for a field which column has it, where its name does not tell.

    Raises `SourceError` when a column is not there, or none has titles or abstracts.
    """
    head, delimiter = _head(document)
    taken = columns_of(head) | {field: name.strip() for field, name in columns.items()}
    _refuse_unless_readable(document, head, taken)
    told = (f"{name!r} as {field}" for field, name in taken.items() if plain_key(name) != _TELLS_LITTLE)
    document.warnings.append(f"columns: {', '.join(told)}")
    csv.field_size_limit(LARGEST)
    rows = csv.reader(io.StringIO(document.text(), newline=""), delimiter=delimiter)
    for row in rows:
        if [name.strip() for name in row] == head:
            break
    position = 0
    for row in rows:
        if any(cell.strip() for cell in row):
            position += 1
            yield _paper(head, row, taken, position, rows.line_num)


def columns_of(head: list[str]) -> dict[str, str]:
    """By field, the column that is taken for it."""
    if {"TI", "AU"} <= set(head):
        by_key, names = {name: name for name in head}, _WEB_OF_SCIENCE
    else:
        by_key, names = {plain_key(name): name for name in reversed(head)}, NAMES
    found = {field: next((by_key[key] for key in keys if key in by_key), None) for field, keys in names.items()}
    return {field: name for field, name in found.items() if name}


def _paper(
    head: list[str], row: list[str], taken: Mapping[str, str], position: int, line: int
) -> PaperRecord | SkippedRecord:
    if len(row) > len(head) and any(cell.strip() for cell in row[len(head) :]):
        reason = f"it has {len(row)} cells, and the head has {len(head)}"
        return SkippedRecord(position=position, line=line, reason=reason)
    cells = dict(reversed(list(zip(head, row, strict=False))))
    return paper_record({field: cells[name] for field, name in taken.items() if name in cells}, position, line=line)


def _refuse_unless_readable(document: Document, head: list[str], taken: Mapping[str, str]) -> None:
    there = f"Its columns are: {', '.join(head)}."
    for field, name in taken.items():
        if field not in NAMES:
            raise document.error(f"has no field {field!r}", f"Fields are: {', '.join(NAMES)}.")
        if name not in head:
            raise document.error(f"has no column {name!r}", there)
    if {"title", "abstract"}.isdisjoint(taken):
        raise document.error(
            "is a table without a column for titles or abstracts", f"{there} Say which: --column abstract=NAME"
        )


def _head(document: Document) -> tuple[list[str], str]:
    """The columns' names, and what stands between them: the first line, unless a later one has papers' columns."""
    lines = [line for line in document.head_text.splitlines() if line.strip()][:_MOST_LINES_BEFORE]
    heads = [_cells(line) for line in lines]
    telling = (head for head in heads if len(head[0]) > 1 and not {"title", "abstract"}.isdisjoint(columns_of(head[0])))
    return next(telling, heads[0] if heads else ([], ","))


def _cells(line: str) -> tuple[list[str], str]:
    delimiter = max(_DELIMITERS, key=line.count)
    return [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])], delimiter
