"""Articles of journals in JATS."""

from xml.etree.ElementTree import Element

from vectorstore.loading.fields import Raw
from vectorstore.loading.xml_records.elements import child_at, content_of, first_at, listed, paragraphs, texts_at


def article(record: Element) -> Raw:
    """An article, of which its front matter is read."""
    about = child_at(record, "front/article-meta")
    authors = [person for person in about.findall("contrib-group/contrib") if person.get("contrib-type") != "editor"]
    dates = sorted(about.findall("pub-date"), key=lambda date: first_at(date, "year"))
    return {
        "title": texts_at(about, "title-group/article-title"),
        "abstract": _abstract(about),
        "authors": [name for person in authors if (name := _author(person))],
        "venue": texts_at(
            record, "front/journal-meta/journal-title-group/journal-title", "front/journal-meta/journal-title"
        ),
        "year": [first_at(date, "year") for date in dates],
        "doi": texts_at(about, "article-id[@pub-id-type='doi']"),
        "pmid": texts_at(about, "article-id[@pub-id-type='pmid']"),
        "url": [link.get("href", "") for link in about.findall("self-uri")],
        "keywords": listed(texts_at(about, "kwd-group/kwd")),
    }


def _abstract(about: Element) -> str:
    """The abstract proper, and not a graphical one, highlights or a summary for laymen."""
    abstracts = sorted(about.findall("abstract"), key=lambda abstract: abstract.get("abstract-type") is not None)
    return next((text for abstract in abstracts if (text := paragraphs(content_of(abstract)))), "")


def _author(person: Element) -> dict[str, str]:
    named = person.find("name")
    named = person.find("name-alternatives/name") if named is None else named
    if named is None:
        return {"family": first_at(person, "collab", "string-name")}
    return {"given": first_at(named, "given-names"), "family": " ".join(texts_at(named, "prefix", "surname", "suffix"))}
