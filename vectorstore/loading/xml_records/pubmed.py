"""PubMed's articles and books."""

import html
from xml.etree.ElementTree import Element

from vectorstore.loading.fields import Raw
from vectorstore.loading.xml_records.elements import child_at, content_of, first_at, listed, paragraphs, texts_at


def article(record: Element) -> Raw:
    """An article with its abstract, or else one in another language or by another author."""
    article = child_at(record, "MedlineCitation/Article")
    return {
        "title": texts_at(article, "ArticleTitle", "VernacularTitle"),
        "abstract": _abstract(article, "Abstract") or _abstract(record, "MedlineCitation/OtherAbstract"),
        "authors": _authors(article.findall("AuthorList/Author")),
        "venue": texts_at(article, "Journal/Title", "Journal/ISOAbbreviation"),
        "year": texts_at(article, *(f"Journal/JournalIssue/PubDate/{part}" for part in ("Year", "MedlineDate")))
        + texts_at(article, "ArticleDate/Year"),
        "doi": texts_at(article, "ELocationID[@EIdType='doi']")
        + texts_at(record, "PubmedData/ArticleIdList/ArticleId[@IdType='doi']"),
        "pmid": texts_at(record, "MedlineCitation/PMID"),
        "keywords": listed(texts_at(record, "MedlineCitation/KeywordList/Keyword"))
        or listed(texts_at(record, "MedlineCitation/MeshHeadingList/MeshHeading/DescriptorName")),
        "url": texts_at(record, "PubmedData/ArticleIdList/ArticleId[@IdType='url']"),
    }


def book(record: Element) -> Raw:
    """A book, or a chapter of one."""
    chapter = child_at(record, "BookDocument")
    names = [
        author
        for authors in (*chapter.findall("AuthorList"), *chapter.findall("Book/AuthorList"))
        for author in authors.findall("Author")
        if authors.get("Type") != "editors"
    ]
    titles = texts_at(chapter, "ArticleTitle")
    return {
        "title": titles or texts_at(chapter, "Book/BookTitle"),
        "abstract": _abstract(chapter, "Abstract"),
        "authors": _authors(names),
        "venue": texts_at(chapter, "Book/BookTitle" if titles else "Book/Publisher/PublisherName"),
        "year": texts_at(chapter, "ContributionDate/Year", "Book/PubDate/Year", "Book/PubDate/MedlineDate"),
        "doi": texts_at(chapter, "ArticleIdList/ArticleId[@IdType='doi']", "Book/ELocationID[@EIdType='doi']"),
        "pmid": texts_at(chapter, "PMID"),
        "keywords": listed(texts_at(chapter, "KeywordList/Keyword")),
    }


def _abstract(parent: Element, path: str) -> str:
    """Its parts, each with its label."""
    parts = []
    for part in parent.findall(f"{path}/AbstractText"):
        if text := paragraphs(content_of(part)):
            label = part.get("Label", "").strip()
            parts.append(f"{html.escape(label)}: {text}" if label and label != "UNLABELLED" else text)
    return "\n".join(parts)


def _authors(authors: list[Element]) -> list[dict[str, str]]:
    return [
        {
            "given": first_at(author, "ForeName", "FirstName", "Initials"),
            "family": " ".join(texts_at(author, "LastName", "Suffix")) or first_at(author, "CollectiveName"),
        }
        for author in authors
    ]
