"""EndNote's libraries in XML."""

from xml.etree.ElementTree import Element

from vectorstore.loading.fields import Raw
from vectorstore.loading.xml_records.elements import first_at, listed, paragraphs, texts_at


def reference(record: Element) -> Raw:
    """A reference of any kind."""
    return {
        "title": texts_at(record, "titles/title"),
        "abstract": paragraphs(first_at(record, "abstract")),
        "authors": texts_at(record, "contributors/authors/author"),
        "venue": texts_at(record, "periodical/full-title", "titles/secondary-title", "periodical/abbr-1"),
        "year": texts_at(record, "dates/year", "dates/pub-dates/date"),
        "doi": texts_at(record, "electronic-resource-num"),
        "url": texts_at(record, *(f"urls/{kind}-urls/url" for kind in ("related", "web", "text"))),
        "pdf_url": texts_at(record, "urls/pdf-urls/url"),
        "keywords": listed(texts_at(record, "keywords/keyword")),
    }
