"""A record in its source's own words -> a paper. One table says what sources call each field.

Names are compared without regard to case and to what is no letter or digit: "Publication Year" is "publication_year".
"""

import re
from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from vectorstore.addresses import urls_in
from vectorstore.loading.cleaning import (
    arxiv_id_in,
    clean_abstract,
    clean_line,
    doi_in,
    name_in_order,
    names_in,
    openreview_id_in,
    pubmed_id_in,
    time_in,
    year_in,
)
from vectorstore.types import PaperRecord, SkippedRecord

Raw = Mapping[str, Any]
"""A record as its format's library gives it: by field, strings, numbers, lists and further mappings."""

NAMES: dict[str, tuple[str, ...]] = {
    "title": (
        *("title", "papertitle", "primarytitle", "articletitle", "documenttitle", "displayname"),
        *("unformattedtitle", "fulltitle", "name", "originaltitle", "itemtitle", "titledisplay"),
    ),
    "abstract": ("abstract", "abstractnote", "abstracttext", "summary", "abstractinvertedindex", "notesabstract"),
    "authors": (
        *("authorsparsed", "authorfullnames", "authors", "author", "firstauthors", "creators", "authorships"),
        *("authorlist", "authornames", "authordisplay"),
    ),
    "venue": (
        *("venue", "conference", "conferencename", "eventtitle", "journaltitle", "journalname", "journal"),
        *("containertitle", "publicationtitle", "sourcetitle", "journalbook", "booktitle", "proceedingstitle"),
        *("secondarytitle", "publicationname", "journalref", "alternatetitle3", "source"),
    ),
    "year": (
        *("year", "publicationyear", "pubyear", "publishedyear", "date", "publicationdate", "issued", "published"),
        *("publishedprint", "publishedonline", "coverdate", "pubdate", "versions", "updatedate"),
    ),
    "url": (
        *("url", "urls", "link", "links", "paperurl", "site", "abs", "landingpageurl", "virtualsiteurl", "sourceurl"),
        "arxivurl",
    ),
    "pdf_url": ("pdfurl", "paperpdfurl", "pdf", "pdflink", "openaccesspdf"),
    "doi": ("doi", "digitalobjectidentifier", "articledoi", "itemdoi"),
    "arxiv_id": ("arxivid", "arxiv", "eprint", "id"),
    "openreview_id": ("openreviewid", "forum", "openreview"),
    "pubmed_id": ("pmid", "pubmedid", "pubmed", "medlinepmid"),
    "keywords": ("keywords", "keyword", "authorkeywords", "tags", "manualtags", "subject", "subjects", "categories"),
    "track": ("decision", "presentationtype", "eventtype", "status", "track"),
    "session": ("session", "sessiontitle", "sessionname", "sessions"),
    "room": ("roomname", "room"),
    "starts_at": ("starttime", "startsat"),
}
"""What each field is called, the more telling names first."""
_ROLES: dict[str, list[tuple[str, int]]] = {}
"""For a name, the fields that it tells, each with its rank among their names."""
for _field, _names in NAMES.items():
    for _rank, _name in enumerate(_names):
        _ROLES.setdefault(_name, []).append((_field, _rank))
_NESTED = {
    *("content", "externalids", "ids", "attributes", "metadata", "primarylocation", "bestoalocation", "journalinfo"),
    "keywordlist",
}
"""Mappings in a record whose entries are fields of it, too."""
_TEXT_IN = (
    *("value", "fullname", "displayname", "name", "url", "landingpageurl", "pdfurl", "term", "tag", "text", "created"),
    *("literal", "title"),
)
"""Where a mapping has the text of a field."""
_NAME_PARTS = (
    ("given", "firstname", "first"),
    ("droppingparticle",),
    ("nondroppingparticle",),
    ("family", "lastname", "last"),
    ("suffix",),
)
"""What mappings call the parts of a name, in its order."""
_SEPARATORS = (re.compile(r"\s*[;|\n]\s*"), re.compile(r"\s*,\s*"))
_CATEGORY = re.compile(r"[a-z-]{2,10}\.[A-Za-z-]{2,20}|(?:astro|cond|gr|hep|math|nucl|quant)-[a-z]{2,3}")
_ADDRESS = re.compile(r"https?://[^\s<>\"|;]+", re.IGNORECASE)
_OPENREVIEW_ID = re.compile(r"[\w-]{6,20}")
_PDF = re.compile(r"\.pdf$|/pdf/|/pdf\?id=", re.IGNORECASE)
_PYTHON_LIST = re.compile(r"\s*\[\s*(?:'[^']*'|\"[^\"]*\")(?:\s*,\s*(?:'[^']*'|\"[^\"]*\"))*\s*\]\s*")
_MOST_KEYWORDS = 50
_MOST_LEVELS = 20
"""Lists and mappings within each other that are looked into for the texts of a field."""
_FIRST_YEAR, _LAST_YEAR = 1800, 2099


def paper_record(raw: Raw, position: int, *, line: int | None = None) -> PaperRecord | SkippedRecord:
    """The paper that a record describes, or why it describes none."""
    fields = _Fields(raw)
    title, abstract = fields.line("title"), fields.abstract()
    if not (title or abstract):
        return SkippedRecord(position=position, line=line, reason="it has neither a title nor an abstract")
    addresses = fields.addresses("url")
    doi = fields.found("doi", doi_in) or _first(doi_in, addresses)
    arxiv_id = fields.found("arxiv_id", arxiv_id_in) or _first(arxiv_id_in, [*addresses, doi or ""])
    openreview_id = fields.found("openreview_id", _openreview_id) or _first(openreview_id_in, addresses)
    pages = [url for url in addresses if not _PDF.search(url)] or _pages(doi, arxiv_id, openreview_id)
    pdfs = [*fields.addresses("pdf_url"), *filter(_PDF.search, addresses), *_pdfs(arxiv_id, openreview_id)]
    return PaperRecord(
        abstract=abstract or title or "",
        title=title,
        authors=fields.authors(),
        venue=fields.line("venue"),
        year=fields.year(),
        urls=tuple(dict.fromkeys([*pages, *urls_in(abstract)])),
        pdf_url=next(iter(pdfs), None),
        doi=doi,
        arxiv_id=arxiv_id,
        openreview_id=openreview_id,
        pubmed_id=fields.found("pubmed_id", pubmed_id_in),
        keywords=fields.keywords(),
        track=fields.line("track"),
        session=fields.line("session"),
        room=fields.line("room"),
        starts_at=fields.found("starts_at", time_in),
        position=position,
    )


def _pages(doi: str | None, arxiv_id: str | None, openreview_id: str | None) -> list[str]:
    """The page that an identifier leads to, the paper's own site first."""
    if openreview_id:
        return [f"https://openreview.net/forum?id={openreview_id}"]
    if arxiv_id:
        return [f"https://arxiv.org/abs/{arxiv_id}"]
    return [f"https://doi.org/{doi}"] if doi else []


def _pdfs(arxiv_id: str | None, openreview_id: str | None) -> list[str]:
    found = [f"https://openreview.net/pdf?id={openreview_id}"] if openreview_id else []
    return [*found, f"https://arxiv.org/pdf/{arxiv_id}"] if arxiv_id else found


@cache
def plain_key(name: str) -> str:
    """A field's name as `NAMES` has it."""
    return re.sub(r"[\W_]", "", name.casefold())


@lru_cache(maxsize=1 << 10)
def _names_by_field(names: tuple[str, ...]) -> Mapping[str, Sequence[str]]:
    """Those of a record's names that tell each field, the more telling first; the same for most records of a file."""
    by_field: dict[str, list[str]] = {}
    ranked = sorted((rank, field, name) for name in names for field, rank in _ROLES.get(name, ()))
    for _, field, name in ranked:
        by_field.setdefault(field, []).append(name)
    return by_field


class _Fields:
    """A record's values by field, cleaned."""

    def __init__(self, raw: Raw) -> None:
        own = {plain_key(name): value for name, value in raw.items() if value or value == 0}
        for nested in _NESTED & own.keys():
            if isinstance(inner := own[nested], Mapping):
                for name, value in inner.items():
                    own.setdefault(plain_key(name), value)
        if isinstance(own.get("source"), str):
            del own["source"]  # where the record was found; a mapping is the journal, in OpenAlex
        self._values = {field: [own[name] for name in names] for field, names in _names_by_field(tuple(own)).items()}

    def values(self, field: str) -> Sequence[Any]:
        return self._values.get(field, ())

    def texts(self, field: str) -> Sequence[str]:
        values = self._values.get(field)
        return [text for value in values for text in _texts(value)] if values else ()

    def line(self, field: str) -> str | None:
        return _first(clean_line, self.texts(field))

    def found(self, field: str, finds: Callable[[str], str | None]) -> str | None:
        return _first(finds, self.texts(field))

    def abstract(self) -> str:
        for value in self.values("abstract"):
            text = _from_inverted(value) if _is_inverted(value) else "\n".join(_texts(value))
            if cleaned := clean_abstract(text):
                return cleaned
        return ""

    def authors(self) -> tuple[str, ...]:
        for value in self.values("authors"):
            if names := _author_names(value):
                return tuple(dict.fromkeys(names))
        return ()

    def year(self) -> int | None:
        years = (_year(value) for value in self.values("year"))
        return next((year for year in years if year), None)

    def addresses(self, field: str) -> list[str]:
        return list(dict.fromkeys(url for text in self.texts(field) for url in _ADDRESS.findall(text)))

    def keywords(self) -> tuple[str, ...]:
        for value in self.values("keywords"):
            parts = [part for text in _texts(value) for part in _split(text)]
            if words := [word for part in parts if (word := clean_line(part))]:
                return tuple(dict.fromkeys(words))[:_MOST_KEYWORDS]
        return ()


def _texts(value: Any, levels: int = _MOST_LEVELS) -> Sequence[str]:
    if isinstance(value, str):
        return _listed(value) if value.startswith("[") else (value,)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (str(value),)
    if levels == 0:
        return ()
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in _texts(item, levels - 1)]
    if isinstance(value, Mapping):
        named = {plain_key(str(name)): inner for name, inner in value.items()}
        return _texts(next((named[name] for name in _TEXT_IN if named.get(name)), None), levels - 1)
    return ()


def _listed(text: str) -> list[str]:
    """The items of a list as Python prints it, which tables written by pandas hold; other text as it is."""
    if not (text.lstrip().startswith("[") and _PYTHON_LIST.fullmatch(text)):
        return [text]
    return [str(item) for item in literal_eval(text.strip())]


def _author_names(value: Any) -> list[str]:
    if isinstance(value, str):
        listed = _listed(value)
        return names_in(value) if listed == [value] else [name_in_order(name) for name in listed]
    if isinstance(value, Mapping) and isinstance(value.get("author"), list):
        return _author_names(value["author"])
    names = (_author_name(item) for item in (value if isinstance(value, (list, tuple)) else [value]))
    return [name for name in names if name]


def _author_name(value: Any, levels: int = _MOST_LEVELS) -> str:
    """From "Family, Given", a list by arXiv, or a mapping by CSL, Zotero, Crossref, OpenAlex or a conference's site."""
    if isinstance(value, str):
        return name_in_order(value)
    if isinstance(value, list) and len(value) > 2:
        value = dict(zip(("family", "given", "suffix"), value, strict=False))
    if not isinstance(value, Mapping):
        return ""
    named = {plain_key(str(name)): inner for name, inner in value.items()}
    if str(named.get("creatortype", "author")).endswith("editor"):
        return ""
    if isinstance(named.get("author"), Mapping) and levels:
        return _author_name(named["author"], levels - 1)
    parts = [next((named[key] for key in keys if named.get(key)), "") for keys in _NAME_PARTS]
    if text := " ".join(part for part in parts if part and isinstance(part, str)):
        return clean_line(text)
    return name_in_order(next(iter(_texts(named)), ""))


def _year(value: Any) -> int | None:
    """From a number, a date, or the `date-parts` of CSL and Crossref."""
    if isinstance(value, int) and _FIRST_YEAR <= value <= _LAST_YEAR:
        return value
    if isinstance(value, Mapping):
        named = {plain_key(str(name)): inner for name, inner in value.items()}
        value = named.get("dateparts") or named.get("value") or named.get("raw") or named.get("literal")
    return next((year for text in _texts(value) if (year := year_in(text))), None)


def _is_inverted(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(places, list) for places in value.values())


def _from_inverted(words: Mapping[str, list[int]]) -> str:
    """The text of OpenAlex's `abstract_inverted_index`, which has the places of each word."""
    places = [(place, word) for word, found in words.items() for place in found if isinstance(place, int)]
    return " ".join(word for _, word in sorted(places))


def _split(text: str) -> list[str]:
    """At semicolons, bars and line ends, or else at commas; arXiv's categories at blanks."""
    if all(_CATEGORY.fullmatch(word) for word in text.split()):
        return text.split()
    parts = _SEPARATORS[0].split(text)
    return parts if len(parts) > 1 else _SEPARATORS[1].split(text)


def _openreview_id(text: str) -> str | None:
    return text if _OPENREVIEW_ID.fullmatch(text) else openreview_id_in(text)


def _first(finds: Callable[[str], str | None], texts: Iterable[str]) -> str | None:
    for text in texts:
        if found := finds(text):
            return found
    return None
