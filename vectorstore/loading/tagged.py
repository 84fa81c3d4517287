"""Records of lines that begin with a tag: RIS, PubMed's text, Web of Science's text and EndNote's with "%0".

One reader for the four, as they differ only in their tags and files of each come damaged: without the tag that begins
or ends a record, with a tag twice, indented, in small letters, and with lines that belong to the tag above them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from vectorstore.loading.document import Document
from vectorstore.loading.fields import paper_record
from vectorstore.types import PaperRecord, SkippedRecord


def _tags(**fields: str) -> dict[str, tuple[str, ...]]:
    return {name: tuple(tags.split()) for name, tags in fields.items()}


@dataclass(frozen=True, kw_only=True)
class _Dialect:
    """How a format tags its lines, and what its tags mean."""

    lines: tuple[re.Pattern[str], ...]
    """Lines with a `tag` and a `value`, the stricter form first; a file is read by the first form that it has."""
    begins: str
    """The tag that begins a record."""
    may_begin_late: bool = False
    """Whether other tags may stand before that one, so that only its second begins a record."""
    begins_after_blank: frozenset[str] = frozenset()
    """Tags that begin a record behind a blank line, when the record before it has a title already."""
    ends: str = ""
    of_file: frozenset[str] = frozenset()
    """Tags that belong to no record."""
    same: Mapping[str, str] = field(default_factory=dict)
    """Tags that mean what another does."""
    fields: Mapping[str, tuple[str, ...]]
    """By field, the tags that have it, the better ones first. `groups` are authors that are no persons."""
    wraps: bool = True
    """Whether a line without a tag goes on with the sentence above it, and is no item of its own."""
    listed: frozenset[str] = frozenset()
    """Tags whose further lines are items all the same."""


_RIS = _Dialect(
    lines=(
        re.compile(r"[ \t]*(?P<tag>[A-Z][A-Z0-9]{1,3})(?:  | ?\t ?)-(?P<value>[ \t].*)?", re.IGNORECASE),
        re.compile(r"[ \t]*(?P<tag>[A-Z][A-Z0-9]{1,3}) {0,3}-(?P<value>[ \t].*)?"),
        re.compile(r"[ \t]*(?P<tag>[A-Z][A-Z0-9]{1,3}) {0,3}-(?P<value>[ \t].*)?", re.IGNORECASE),
    ),
    begins="TY",
    ends="ER",
    same={"A1": "AU"},
    fields=_tags(
        title="TI T1 CT BT ST",
        abstract="AB N2",
        authors="AU",
        venue="JF T2 BT JO C3 JA J2 J1 T3",
        year="PY Y1 YR DA",
        url="UR L2 LK",
        pdf_url="L1",
        doi="DO DI DOI M3 N1",
        pubmed_id="PMID",
        keywords="KW",
    ),
    wraps=False,
)
_PUBMED = _Dialect(
    lines=(
        re.compile(r"(?P<tag>[A-Z]{2,4}) {0,2}-(?P<value>[ \t].*|\d+[ \t]*)?"),
        re.compile(r"(?P<tag>[A-Z]{2,4}) {0,2}-(?P<value>[ \t].*|\d+[ \t]*)?", re.IGNORECASE),
    ),
    begins="PMID",
    begins_after_blank=frozenset(("OWN", "STAT", "PMC", "PMCR", "TI", "BTI", "CTI")),
    fields=_tags(
        title="TI BTI CTI TT",
        abstract="AB OAB",
        authors="FAU AU",
        groups="CN",
        venue="JT TA BTI CTI",
        year="DP DEP",
        url="LID AID",
        doi="LID AID SO",
        pubmed_id="PMID",
        keywords="OT MH",
    ),
)
_WEB_OF_SCIENCE = _Dialect(
    lines=(
        re.compile(r"(?P<tag>[A-Z][A-Z0-9])(?P<value> .*)?"),
        re.compile(r"(?P<tag>[A-Z][A-Z0-9])(?P<value> .*)?", re.IGNORECASE),
    ),
    begins="PT",
    ends="ER",
    of_file=frozenset(("FN", "VR", "EF")),
    fields=_tags(
        title="TI",
        abstract="AB",
        authors="AF AU BF BA",
        groups="CA GP",
        venue="SO CT JI J9 SE",
        year="PY EY PD",
        url="UR",
        doi="DI D2",
        pubmed_id="PM",
        keywords="DE ID",
    ),
    listed=frozenset(("AF", "AU", "BF", "BA", "CA")),
)
_ENDNOTE = _Dialect(
    lines=(
        re.compile(r"[ \t]*(?P<tag>%[0-9A-Z@!#$&*()~+?<>=\[\]^])(?P<value>[ \t].*)?"),
        re.compile(r"[ \t]*(?P<tag>%[0-9A-Z@!#$&*()~+?<>=\[\]^])(?P<value>[ \t].*)?", re.IGNORECASE),
    ),
    begins="%0",
    may_begin_late=True,
    begins_after_blank=frozenset(("%0", "%A", "%T", "%F")),
    fields=_tags(
        title="%T %!",
        abstract="%X",
        authors="%A",
        venue="%J %B %S",
        year="%D %8",
        url="%U",
        pdf_url="%>",
        doi="%R",
        keywords="%K",
    ),
    wraps=False,
)
_RIS_RECORD = re.compile(r"^[ \t]*TY(?:(?:  | ?\t ?)-(?:[ \t][^\n]{0,40})?| ?-[ \t]*\w{0,8}[ \t]*)$", re.I | re.M)
_PUBMED_RECORD = re.compile(r"^[ \t]*PMID {0,2}-[ \t]*\d+[ \t]*$", re.IGNORECASE | re.MULTILINE)
_PUBMED_TAG = re.compile(
    r"^[ \t]*(OWN |STAT|TI  |BTI |FAU |AU  |JT  |TA  |DP  |AID |LID |AB  |PT  )-(?:[ \t]|$)", re.I | re.M
)
_LEAST_PUBMED_TAGS = 3
_WEB_OF_SCIENCE_RECORD = re.compile(
    r"^[ \t]*(?:PT [A-Z][ \t]*$|FN [^\n]*(?:Web of|ISI |Thomson|Clarivate))", re.I | re.M
)
_ENDNOTE_LINE = re.compile(r"\s*%[0-9A-Z@](?:[ \t]|$)", re.IGNORECASE | re.MULTILINE)
_ENDNOTE_RECORD = re.compile(r"^[ \t]*%[0TAX](?:[ \t]|$)", re.IGNORECASE | re.MULTILINE)
_BETWEEN_NAMES = re.compile(r"[;\n]|(?<=\S)\sand\s(?=\S)")
_RANK = re.compile(r"(?:Jr|Sr|2nd|3rd|I{1,3}|IV)\.?", re.IGNORECASE)
_INITIALS = re.compile(r"(?P<family>\S.{0,100}) (?P<initials>[A-Z]{1,4})(?P<rank> (?:Jr|Sr|2nd|3rd|II|III|IV))?")
_SAYS_DOI = re.compile(r"doi\b", re.IGNORECASE)
_NOTES = frozenset(("M3", "N1"))
"""Where RIS has a DOI among other things."""


def is_ris(document: Document) -> bool:
    """By a line "TY  - "."""
    return _RIS_RECORD.search(_head(document)) is not None


def read_ris(document: Document) -> Iterator[PaperRecord | SkippedRecord]:
    """A paper for each record."""
    return _papers(document, _RIS)


def is_pubmed(document: Document) -> bool:
    """By a line "PMID- " or several other tags of PubMed."""
    head = _head(document)
    if _RIS_RECORD.search(head):
        return False
    return bool(_PUBMED_RECORD.search(head)) or len(set(_PUBMED_TAG.findall(head))) >= _LEAST_PUBMED_TAGS


def read_pubmed(document: Document) -> Iterator[PaperRecord | SkippedRecord]:
    """A paper for each record."""
    return _papers(document, _PUBMED)


def is_web_of_science(document: Document) -> bool:
    """By a line such as "PT J"."""
    return _WEB_OF_SCIENCE_RECORD.search(_head(document)) is not None and not is_ris(document)


def read_web_of_science(document: Document) -> Iterator[PaperRecord | SkippedRecord]:
    """A paper for each record."""
    return _papers(document, _WEB_OF_SCIENCE)


def is_endnote(document: Document) -> bool:
    """By a first line such as "%0 Journal Article"."""
    head = _head(document)
    is_named_so = document.name.lower().removesuffix(".gz").endswith(".enw")
    return _ENDNOTE_LINE.match(head) is not None and (is_named_so or _ENDNOTE_RECORD.search(head) is not None)


def read_endnote(document: Document) -> Iterator[PaperRecord | SkippedRecord]:
    """A paper for each record."""
    return _papers(document, _ENDNOTE)


def _head(document: Document) -> str:
    """Its beginning with newlines as line ends; nothing of a binary file."""
    return "" if document.is_binary else document.head_text.replace("\r\n", "\n").replace("\r", "\n")


def _papers(document: Document, dialect: _Dialect) -> Iterator[PaperRecord | SkippedRecord]:
    for position, record in enumerate(_records(document.text().split("\n"), dialect), start=1):
        yield paper_record(_raw(record, dialect), position, line=record.line)


@dataclass
class _Record:
    """What its tags say: for each a list of values, each of one line or more."""

    line: int
    values: dict[str, list[list[str]]] = field(default_factory=dict)
    last: str = ""

    def add(self, tag: str, value: str) -> None:
        self.values.setdefault(tag, []).append([value])
        self.last = tag

    def texts(self, tag: str, joint: str) -> list[str]:
        texts = (joint.join(lines).strip() for lines in self.values.get(tag, ()))
        return list(dict.fromkeys(text for text in texts if text))


def _records(lines: list[str], dialect: _Dialect) -> Iterator[_Record]:
    form, indent = _form(lines, dialect)
    record, is_after_blank = None, False
    for number, line in enumerate(lines, start=1):
        line = line.removeprefix(indent)
        tag, value = _tag_and_value(form.fullmatch(line), dialect)
        if tag and tag not in dialect.of_file:
            if record and (tag == dialect.ends or _begins(tag, record, dialect, is_after_blank)):
                yield record
                record = None
            if tag != dialect.ends:
                record = record or _Record(number)
                record.add(tag, value)
        elif record and line.strip() and not tag:
            _go_on(record, line, dialect, is_after_blank)
        is_after_blank = not line.strip()
    if record:
        yield record


def _form(lines: list[str], dialect: _Dialect) -> tuple[re.Pattern[str], str]:
    """The form of a file's lines, and what they are indented by."""
    starts = {dialect.begins, *dialect.begins_after_blank}
    for form in dialect.lines:
        for line in lines:
            bare = line.lstrip(" \t")
            if (match := form.fullmatch(bare)) and match["tag"].upper() in starts:
                return form, line[: len(line) - len(bare)]
    return dialect.lines[0], ""


def _tag_and_value(match: re.Match[str] | None, dialect: _Dialect) -> tuple[str, str]:
    if match is None:
        return "", ""
    tag = match["tag"].upper()
    return dialect.same.get(tag, tag), (match["value"] or "").strip()


def _begins(tag: str, record: _Record, dialect: _Dialect, is_after_blank: bool) -> bool:
    """Whether `tag` begins a record behind `record`."""
    if tag == dialect.begins and (tag in record.values or not dialect.may_begin_late):
        return True
    has_title = any(title in record.values for title in dialect.fields["title"])
    return is_after_blank and has_title and tag in dialect.begins_after_blank


def _go_on(record: _Record, line: str, dialect: _Dialect, is_after_blank: bool) -> None:
    """Add a line without a tag to the value before it; not one that stands apart where such lines are indented."""
    if dialect.wraps and is_after_blank and not line[0].isspace():
        return
    if record.last in dialect.listed:
        record.add(record.last, line.strip())
    else:
        record.values[record.last][-1].append(line.strip())


def _raw(record: _Record, dialect: _Dialect) -> dict[str, Any]:
    joint = " " if dialect.wraps else "\n"
    texts = {tag: record.texts(tag, joint) for tags in dialect.fields.values() for tag in tags}
    every = {name: [text for tag in tags for text in texts[tag]] for name, tags in dialect.fields.items()}
    best = {name: next((texts[tag] for tag in tags if texts[tag]), []) for name, tags in dialect.fields.items()}
    titles = [" ".join(best["title"])] if dialect.wraps else every["title"]
    dois = [text for tag in dialect.fields["doi"] for text in texts[tag] if tag not in _NOTES or _SAYS_DOI.match(text)]
    return every | {
        "title": titles,
        "abstract": "\n\n".join(best["abstract"]),
        "authors": [*_names(best["authors"]), *({"family": group} for group in every.get("groups", ()))],
        "venue": [text for text in every["venue"] if text not in titles],
        "doi": dois,
        "keywords": _keywords(best["keywords"], dialect),
    }


def _names(texts: list[str]) -> Iterator[dict[str, str]]:
    return (_name(name) for text in texts for name in _BETWEEN_NAMES.split(text) if name.strip())


def _name(name: str) -> dict[str, str]:
    """From "Family,Given", "Family, Given, Jr" or "Family GI"; another name as it is."""
    parts = [part.strip() for part in name.split(",")]
    if len(parts) == 2:
        return {"family": parts[0], "given": parts[1]}
    if len(parts) == 3 and _RANK.fullmatch(parts[2]):
        return {"family": f"{parts[0]} {parts[2]}", "given": parts[1]}
    if match := _INITIALS.fullmatch(name.strip()):
        return {"family": match["family"] + (match["rank"] or ""), "given": match["initials"]}
    return {"family": name.strip()}


def _keywords(texts: list[str], dialect: _Dialect) -> str:
    """With semicolons between them when each has a tag of its own, as there are commas in many."""
    words = [text.removeprefix("*") for text in texts]
    return "; ".join(words) + (";" if dialect.wraps or len(words) > 1 else "")
