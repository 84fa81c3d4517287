"""Zotero's RDF. A journal that has an entry of its own there is not followed."""

from xml.etree.ElementTree import Element

from vectorstore.loading.fields import Raw
from vectorstore.loading.xml_records.elements import first_at, paragraphs, texts_at

KINDS = ("Article", "BookSection", "Book", "Thesis", "Report", "Manuscript", "Document")
"""Elements that hold an item: others are journals, attachments, notes and collections."""


def item(record: Element) -> Raw:
    """An item of a library."""
    people = record.findall("authors/Seq/li/Person")
    places = [f"isPartOf/{kind}" for kind in ("Journal", "Book", "Series")]
    return {
        "title": texts_at(record, "title"),
        "abstract": paragraphs(first_at(record, "abstract")),
        "authors": [
            {"given": first_at(person, "givenName", "givenname"), "family": first_at(person, "surname")}
            for person in people
        ],
        "venue": texts_at(record, *(f"{place}/title" for place in places), "presentedAt/Conference/title"),
        "year": texts_at(record, "date", "dateSubmitted"),
        "doi": texts_at(record, "identifier", *(f"{place}/identifier" for place in places)),
        "url": texts_at(record, "identifier/URI/value"),
        "keywords": texts_at(record, "subject", "subject/AutomaticTag/value"),
    }
