"""JSON of any service: a list of records, mappings that hold one somewhere, or a record on each line.

Known are the sites of virtual conferences, OpenReview, Semantic Scholar, OpenAlex, Crossref, CSL, Better BibTeX and
arXiv's metadata; others are read as far as `fields.NAMES` knows what they call things.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import orjson

from vectorstore.exporting import own_record
from vectorstore.loading.document import Document
from vectorstore.loading.fields import NAMES, paper_record, plain_key
from vectorstore.types import PaperRecord, SkippedRecord

_NO_PAPERS = frozenset(("attachment", "note", "annotation"))
"""Item types of Zotero."""
_PASSED_DOWN = ("venue", "year", "conference", "track")
"""Fields of a mapping that hold for all records in it."""
_DEEPEST = 8
_BEGINNING = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]])")
_TELLING = [frozenset(NAMES[field]) for field in ("abstract", "authors", "year", "doi")]


def recognises(document: Document) -> bool:
    """By how it begins."""
    return _BEGINNING.match(document.head_text) is not None


def read(document: Document) -> Iterator[PaperRecord | SkippedRecord]:
    """The papers in it. Raises `SourceError` when it is no JSON, or holds no record."""
    lines = ((number, line) for number, line in enumerate(document.lines(), start=1) if line.strip())
    number, first = next(lines)
    second = next(lines, None)
    if second is None or not _is_object(first):
        yield from _whole(document)
    else:
        yield from _by_line(chain([(number, first), second], lines))


def _by_line(lines: Iterator[tuple[int, bytes]]) -> Iterator[PaperRecord | SkippedRecord]:
    for position, (number, line) in enumerate(lines, start=1):
        try:
            value = orjson.loads(line)
        except ValueError:
            yield SkippedRecord(position=position, line=number, reason="its line is not valid JSON")
            continue
        yield _paper(value, position, number)


def _whole(document: Document) -> Iterator[PaperRecord | SkippedRecord]:
    found = list(_records(_parsed(document), {}, 0))
    if not any(_is_record(item) for item in found):
        raise document.error(
            "is JSON without a record of a paper",
            "Expected are records with a title, and an abstract or authors: a list of them, or one on each line.",
        )
    for position, item in enumerate(found, start=1):
        yield _paper(item, position, None)


def _paper(value: Any, position: int, line: int | None) -> PaperRecord | SkippedRecord:
    if not isinstance(value, Mapping):
        return SkippedRecord(position=position, line=line, reason="it is not a JSON object")
    if (kind := value.get("itemType")) in _NO_PAPERS:
        return SkippedRecord(position=position, line=line, reason=f"it is no paper, but of type {kind}")
    return own_record(dict(value), position) or paper_record(value, position, line=line)


def _parsed(document: Document) -> Any:
    try:
        return orjson.loads(document.data())
    except ValueError:
        pass  # another encoding, a byte order mark, or NaN; the other parser also says where an error is
    try:
        return json.loads(document.text(), strict=False)
    except RecursionError as error:
        raise document.error("is JSON of more levels than can be read", "Give a list of records.") from error
    except json.JSONDecodeError as error:
        raise document.error(
            f"is not valid JSON: {error.msg} in line {error.lineno}, column {error.colno}",
            "It may be cut short: export or download it again.",
        ) from error


def _records(value: Any, inherited: dict[str, Any], depth: int) -> Iterator[Any]:
    """The records in `value`, and what stands among them; in a list of records, whatever its items are."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        has_records = any(_is_record(item) for item in value)
        for item in value:
            if has_records and not (isinstance(item, Mapping) and _holds_list(item) and not _is_record(item)):
                yield {**inherited, **item} if isinstance(item, Mapping) else item
            else:
                yield from _records(item, inherited, depth + 1)
    elif isinstance(value, Mapping):
        if _is_record(value):
            yield {**inherited, **value}
            return
        passed = {name: value[name] for name in _PASSED_DOWN if isinstance(value.get(name), (str, int))}
        for inner in value.values():
            yield from _records(inner, {**inherited, **passed}, depth + 1)


def _holds_list(value: Mapping[str, Any]) -> bool:
    return any(isinstance(inner, list) and any(_is_record(item) for item in inner) for inner in value.values())


def _is_record(value: Any) -> bool:
    """Whether it has a title, and one more field that papers have."""
    if not isinstance(value, Mapping):
        return False
    content = value.get("content")
    names = {plain_key(str(name)) for name in (*value, *(content if isinstance(content, Mapping) else ()))}
    has_title = not names.isdisjoint(NAMES["title"])
    return has_title and any(not names.isdisjoint(telling) for telling in _TELLING)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(orjson.loads(line.removeprefix(b"\xef\xbb\xbf")), dict)
    except ValueError:
        return False
