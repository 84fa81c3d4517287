"""Atom, and what repositories give by OAI-PMH: arXiv's own format, Dublin Core and articles of journals."""

import re
from collections.abc import Callable
from xml.etree.ElementTree import Element

from vectorstore.loading.fields import Raw
from vectorstore.loading.xml_records import journals
from vectorstore.loading.xml_records.elements import (
    NoPaper,
    Remark,
    child_at,
    content_of,
    first_at,
    listed,
    paragraphs,
    texts_at,
)

_AFFILIATION = re.compile(r"\([^()]*\)")
_BETWEEN_NAMES = re.compile(r",\s*(?:and\s+)?|\s+and\s+")


def atom_entry(record: Element) -> Raw:
    """An entry of a feed. Raises `NoPaper` for the entry by which arXiv reports an error."""
    addresses = [link.get("href", "") for link in record.findall("link") if link.get("rel", "alternate") == "alternate"]
    identifier = first_at(record, "id")
    if "/api/errors" in identifier:
        raise NoPaper(f"it is an error message: {first_at(record, 'summary')}")
    return {
        "title": texts_at(record, "title"),
        "abstract": paragraphs(first_at(record, "summary", "content")),
        "authors": [{"family": name} for name in texts_at(record, "author/name")],
        "venue": texts_at(record, "journal_ref"),
        "year": texts_at(record, "published", "updated"),
        "doi": texts_at(record, "doi"),
        "url": [*addresses, identifier],
        "pdf_url": [link.get("href", "") for link in record.findall("link") if "pdf" in link.get("type", "")],
        "keywords": listed([category.get("term", "") for category in record.findall("category")]),
    }


def rss_item(record: Element) -> Raw:
    """An item of a feed; arXiv puts its number and the kind of announcement before the abstract."""
    _, is_announced, abstract = first_at(record, "description").partition("Abstract: ")
    creators = texts_at(record, "creator")
    return {
        "title": texts_at(record, "title"),
        "abstract": paragraphs(abstract if is_announced else first_at(record, "encoded", "description")),
        "authors": creators[0] if len(creators) == 1 else creators,
        "venue": texts_at(record, "publicationName"),
        "year": texts_at(record, "publicationDate", "date", "pubDate"),
        "doi": texts_at(record, "doi", "identifier"),
        "url": texts_at(record, "link", "guid"),
        "keywords": listed(texts_at(record, "category")),
    }


def oai_record(record: Element) -> Raw:
    """A record in whatever format. Raises `NoPaper` when it is deleted or its format is not known."""
    header = child_at(record, "header")
    if header.get("status") == "deleted":
        raise NoPaper(f"its source has deleted it: {first_at(header, 'identifier')}")
    metadata = next(iter(child_at(record, "metadata")), None)
    if metadata is None:
        raise NoPaper(f"it has no metadata: {first_at(header, 'identifier')}")
    if metadata.tag not in _METADATA:
        raise NoPaper(f"its metadata are <{metadata.tag}>; known are {', '.join(_METADATA)}")
    return _METADATA[metadata.tag](metadata)


def oai_error(element: Element) -> Raw:
    """Raises `NoPaper` with the words of the source."""
    raise NoPaper(f"its source reports {element.get('code', 'an error')}: {content_of(element).strip()}")


def oai_list_goes_on(token: Element) -> Raw:
    """Raises a `Remark` on whether the list goes on in another file."""
    has_more = bool((token.text or "").strip())
    raise Remark("its source has more records than this file" if has_more else "it is the end of a list of its source")


def _arxiv(metadata: Element) -> Raw:
    """In arXiv's own words, which has authors by their parts, or all in one line with affiliations in parentheses."""
    in_parts = [
        {"given": first_at(author, "forenames"), "family": " ".join(texts_at(author, "keyname", "suffix"))}
        for author in metadata.findall("authors/author")
    ]
    in_line = [] if in_parts else _BETWEEN_NAMES.split(_AFFILIATION.sub("", first_at(metadata, "authors")))
    return {
        "title": texts_at(metadata, "title"),
        "abstract": paragraphs(first_at(metadata, "abstract")),
        "authors": in_parts or [{"family": name} for name in in_line],
        "venue": texts_at(metadata, "journal-ref"),
        "year": texts_at(metadata, "created", "version/date", "date"),
        "doi": texts_at(metadata, "doi"),
        "arxiv_id": texts_at(metadata, "id"),
        "keywords": listed(first_at(metadata, "categories").split()),
    }


def _dublin_core(metadata: Element) -> Raw:
    """Its descriptions are the abstract and, where arXiv and others add them, comments."""
    descriptions = [text for text in texts_at(metadata, "description") if not text.startswith("Comment")]
    return {
        "title": texts_at(metadata, "title"),
        "abstract": paragraphs(max(descriptions, key=len, default="")),
        "authors": texts_at(metadata, "creator"),
        "venue": texts_at(metadata, "source"),
        "year": texts_at(metadata, "date", "issued"),
        "doi": texts_at(metadata, "identifier", "relation"),
        "url": texts_at(metadata, "identifier"),
        "keywords": listed(texts_at(metadata, "subject")),
    }


_METADATA: dict[str, Callable[[Element], Raw]] = {
    "arXiv": _arxiv,
    "arXivRaw": _arxiv,
    "arXivOld": _arxiv,
    "dc": _dublin_core,
    "article": journals.article,
}
