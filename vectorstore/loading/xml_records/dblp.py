"""DBLP's list of publications, and what its search finds. There are no abstracts in either."""

import re
from xml.etree.ElementTree import Element

from vectorstore.loading.fields import Raw
from vectorstore.loading.xml_records.elements import NoPaper, child_at, first_at, texts_at

_REFERENCE = re.compile(r"abs/(.*)")
"""The number of a preprint, as a volume of CoRR."""


def publication(record: Element) -> Raw:
    """An article of a journal or a conference, a thesis, a book or its chapter."""
    reference = _REFERENCE.fullmatch(first_at(record, "volume"))
    return {
        "title": [title.removesuffix(".") for title in texts_at(record, "title")],
        "authors": texts_at(record, "author", "authors/author"),
        "venue": texts_at(record, "journal", "booktitle", "venue", "school"),
        "year": texts_at(record, "year"),
        "doi": texts_at(record, "doi", "ee"),
        "arxiv_id": f"arxiv:{reference[1]}" if reference else "",
        "url": texts_at(record, "ee"),
    }


def hit(record: Element) -> Raw:
    """A publication that a search has found."""
    return publication(child_at(record, "info"))


def volume(record: Element) -> Raw:
    """Raises `NoPaper`: it is what papers stand in."""
    raise NoPaper(f"it is a volume of proceedings, or a person's page: {' '.join(texts_at(record, 'title'))}")
