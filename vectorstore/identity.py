"""Which records are of the same paper, and what they say of it together."""

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from rapidfuzz import fuzz

from vectorstore.markup import readable
from vectorstore.types import Description, PaperRecord

_NEARLY_THE_SAME = 90.0
"""Of 100, by rapidfuzz's ratio, of two abstracts under one title."""
_TELLING_TITLE = 4
"""Words of a title by which a record without an abstract is known; there is more than one "Editorial"."""
_ID_LENGTH = 16
_SCHEMES = ("doi", "arxiv_id", "openreview_id", "pubmed_id")


def identifiers_of(record: PaperRecord) -> list[tuple[str, str]]:
    """Schemes and values that lead to a paper, the surest first."""
    given = [(scheme, value) for scheme in _SCHEMES if (value := getattr(record, scheme))]
    return given if record.is_title_only else [*given, ("abstract", abstract_hash(record.abstract))]


def paper_id_of(record: PaperRecord) -> str:
    """The id of a paper that is new: the beginning of the hash of its abstract, or of its title where it has none."""
    return abstract_hash(record.abstract)[:_ID_LENGTH]


def text_hash(text: str) -> str:
    """SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def abstract_hash(abstract: str) -> str:
    """SHA-256 of an abstract without regard to case, spacing and compatible characters."""
    return text_hash(_plain(abstract))


def title_key(title: str | None) -> str | None:
    """A title without regard to case, markup and punctuation; None for none."""
    kept = "".join(char if char.isalnum() else " " for char in _plain(readable(title or "")))
    return " ".join(kept.split()) or None


def is_same_but_for_wording(record: PaperRecord, other: PaperRecord) -> bool:
    """Whether two records of one title are of one paper: no identifier differs, and the abstracts are nearly the same.

    Where one has no abstract, the title must be a telling one and the year the same as far as both have one.
    """
    if any(None not in (pair := {getattr(record, s), getattr(other, s)}) and len(pair) > 1 for s in _SCHEMES):
        return False
    if not (record.is_title_only or other.is_title_only):
        return fuzz.ratio(_plain(record.abstract), _plain(other.abstract)) >= _NEARLY_THE_SAME
    is_telling = len((title_key(record.title) or "").split()) >= _TELLING_TITLE
    return is_telling and len({record.year, other.year} - {None}) < 2


def merged(records: Sequence[PaperRecord]) -> PaperRecord:
    """One record of a paper: each field from the first of `records` that has it, addresses from all."""
    if len(records) == 1:
        return records[0]
    values: dict[str, Any] = {
        field.name: next((value for record in records if (value := getattr(record, field.name))), field.default)
        for field in fields(Description)
    }
    values["urls"] = tuple(dict.fromkeys(url for record in records for url in record.urls))
    values["abstract"] = next((r.abstract for r in records if not r.is_title_only), values["title"])
    return PaperRecord(**values, position=records[0].position)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
