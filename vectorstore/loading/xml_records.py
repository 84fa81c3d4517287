"""XML of PubMed, of arXiv's and other Atom feeds, of OAI-PMH, EndNote and of journals (JATS).

One record at a time is in memory as a tree. Entities that a file defines itself are refused: they can grow without end
or read other files. Elements go by their names without namespaces.
"""

import codecs
import html
import re
from collections.abc import Callable, Iterator, Mapping
from html.entities import name2codepoint
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from vectorstore.loading.document import Document
from vectorstore.loading.fields import Raw, paper_record
from vectorstore.types import PaperRecord, SkippedRecord
from vectorstore.visible import visible

_CHUNK = 64 * 1024
_DEEPEST = 200
"""Elements within each other, in a record."""
_ROOT = re.compile(r"(?:<!--.{0,5000}?-->\s*)?<(?:[\w.-]+:)?(?P<name>[\w.-]+)[\s>/]", re.DOTALL)
_DECLARED = re.compile(rb"<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([\w.-]{1,40})")
_ONE_OF_MANY = re.compile(r"(?:utf-?8|us-ascii|iso-?8859|latin|windows-125|cp\d|koi8|gb|big5|shift|euc)")
"""Encodings that a file may declare; others are guessed from its bytes."""
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_TEX_BODY = re.compile(r"\\begin\{document\}(.*)\\end\{document\}", re.DOTALL)
_RELATION = re.compile(r"[=<>≤≥≈∼±×∈→]")
_TELLING = frozenset(("sup", "p", "sec", "title", "label", "list-item", "break", "br"))
"""Elements whose tags `cleaning` makes something of."""
_AFFILIATION = re.compile(r"\([^()]*\)")
_BETWEEN_NAMES = re.compile(r",\s*(?:and\s+)?|\s+and\s+")


class _NoPaper(Exception):
    """A record is none of a paper; the words say why."""


class _Remark(Exception):
    """What looked like a record says something about the file as a whole."""


def recognises(document: Document) -> bool:
    """By its declaration, or by an element that one of the known kinds begins with."""
    head = document.head_text.lstrip()
    if head.startswith("<?xml"):
        return True
    if head[:9].upper() == "<!DOCTYPE":
        return not head[9:].lstrip().lower().startswith("html")
    root = _ROOT.match(head)
    return root is not None and root["name"] in _KINDS


def read(document: Document) -> Iterator[PaperRecord | SkippedRecord]:
    """A paper for each record. What stands before a fault in the XML is kept, and what follows is one skipped record.

    Raises `SourceError` when it is XML of another kind, defines entities, or has a fault before the first record.
    """
    for position, (line, raw) in enumerate(_records(document), start=1):
        if isinstance(raw, _NoPaper):
            yield SkippedRecord(position=position, line=line, reason=str(raw))
        else:
            yield paper_record(raw, position, line=line)


def _records(document: Document) -> Iterator[tuple[int, "Raw | _NoPaper"]]:
    """Each record with its line; last the fault that keeps from reading on, if there is one."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser

    data = _utf_8(document)
    target = _Target(document)
    parser = DefusedXMLParser(target=target, encoding="utf-8")
    parser.entity.update({name: chr(code) for name, code in name2codepoint.items()})
    target.line = lambda: int(parser.parser.CurrentLineNumber)
    count, fault = 0, None
    for start in range(0, len(data) + 1, _CHUNK):
        chunk = data[start : start + _CHUNK]
        try:
            parser.feed(chunk)
            if len(chunk) < _CHUNK:
                parser.close()
        except ParseError as error:
            fault = error
        except DefusedXmlException as error:
            raise document.error(
                "defines entities or refers to other files, which is not read",
                "Remove what begins with <!ENTITY, or export it again.",
            ) from error
        count += len(target.found)
        yield from target.taken()
        if fault and count:
            yield fault.position[0], _NoPaper(f"the XML has a fault, and nothing behind it can be read: {fault}")
            return
        if fault:
            raise document.error(f"is not valid XML: {fault}", "It may be cut short: export it again.") from fault


def _utf_8(document: Document) -> bytes:
    """All of it in UTF-8 without what XML does not allow, whatever encoding its declaration names."""
    data = document.data()
    named = match[1].decode("ascii").lower() if (match := _DECLARED.match(data.lstrip()[:300])) else "utf-8"
    try:
        text = data.decode(named if _ONE_OF_MANY.match(named) else "utf-8")
    except (LookupError, UnicodeError):
        return document.text().lstrip().encode()
    if named == "utf-8" and not _FORBIDDEN.search(data):
        return data.removeprefix(codecs.BOM_UTF8).lstrip()
    return visible(text).lstrip("\ufeff \n\t").encode()


class _Target:
    """What the parser tells of elements: reads each record as soon as it is complete, and keeps nothing else."""

    def __init__(self, document: Document) -> None:
        self.found: list[tuple[int, Raw | _NoPaper]] = []
        self.line: Callable[[], int] = int
        self._document = document
        self._readers: Mapping[str, Callable[[Element], Raw]] | None = None
        self._builder: TreeBuilder | None = None
        self._began = 0
        self._depth = 0

    def taken(self) -> list[tuple[int, "Raw | _NoPaper"]]:
        """The records that are complete by now, each once."""
        found, self.found = self.found, []
        return found

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = _local(tag)
        if self._readers is None:
            self._readers = _readers(self._document, name)
        if self._builder is None and name in self._readers:
            self._builder, self._began, self._depth = TreeBuilder(), self.line(), 0
        if self._builder is not None:
            self._depth += 1
            if self._depth > _DEEPEST:
                raise self._document.error(f"has more than {_DEEPEST} elements within each other", "Export it again.")
            self._builder.start(name, {_local(key): value for key, value in attributes.items()})

    def data(self, text: str) -> None:
        if self._builder is not None:
            self._builder.data(text)

    def end(self, tag: str) -> None:
        if self._builder is None:
            return
        self._builder.end(_local(tag))
        self._depth -= 1
        if self._depth == 0:
            record, self._builder = self._builder.close(), None
            self._read(record)

    def close(self) -> None:
        """Nothing is left to do: the parser itself reports a record that does not end."""

    def _read(self, record: Element) -> None:
        try:
            self.found.append((self._began, (self._readers or {})[record.tag](record)))
        except _NoPaper as error:
            self.found.append((self._began, error))
        except _Remark as remark:
            self._document.warnings.append(str(remark))


def _readers(document: Document, root: str) -> Mapping[str, Callable[[Element], Raw]]:
    if root not in _KINDS:
        raise document.error(
            f"is XML of a kind that cannot be read: its first element is <{root}>",
            f"Expected is one of: {', '.join(f'<{kind}>' for kind in _KINDS)}.",
        )
    return _KINDS[root]


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _pubmed_article(record: Element) -> Raw:
    article = _child(record, "MedlineCitation/Article")
    return {
        "title": _texts(article, "ArticleTitle", "VernacularTitle"),
        "abstract": _pubmed_abstract(article, "Abstract") or _pubmed_abstract(record, "MedlineCitation/OtherAbstract"),
        "authors": _pubmed_authors(article.findall("AuthorList/Author")),
        "venue": _texts(article, "Journal/Title", "Journal/ISOAbbreviation"),
        "year": _texts(article, *(f"Journal/JournalIssue/PubDate/{part}" for part in ("Year", "MedlineDate")))
        + _texts(article, "ArticleDate/Year"),
        "doi": _texts(article, "ELocationID[@EIdType='doi']")
        + _texts(record, "PubmedData/ArticleIdList/ArticleId[@IdType='doi']"),
        "pmid": _texts(record, "MedlineCitation/PMID"),
        "keywords": _listed(_texts(record, "MedlineCitation/KeywordList/Keyword"))
        or _listed(_texts(record, "MedlineCitation/MeshHeadingList/MeshHeading/DescriptorName")),
        "url": _texts(record, "PubmedData/ArticleIdList/ArticleId[@IdType='url']"),
    }


def _pubmed_book(record: Element) -> Raw:
    chapter = _child(record, "BookDocument")
    names = [
        author
        for authors in (*chapter.findall("AuthorList"), *chapter.findall("Book/AuthorList"))
        for author in authors.findall("Author")
        if authors.get("Type") != "editors"
    ]
    titles = _texts(chapter, "ArticleTitle")
    return {
        "title": titles or _texts(chapter, "Book/BookTitle"),
        "abstract": _pubmed_abstract(chapter, "Abstract"),
        "authors": _pubmed_authors(names),
        "venue": _texts(chapter, "Book/BookTitle" if titles else "Book/Publisher/PublisherName"),
        "year": _texts(chapter, "ContributionDate/Year", "Book/PubDate/Year", "Book/PubDate/MedlineDate"),
        "doi": _texts(chapter, "ArticleIdList/ArticleId[@IdType='doi']", "Book/ELocationID[@EIdType='doi']"),
        "pmid": _texts(chapter, "PMID"),
        "keywords": _listed(_texts(chapter, "KeywordList/Keyword")),
    }


def _pubmed_abstract(parent: Element, path: str) -> str:
    """Its parts, each with its label."""
    parts = []
    for part in parent.findall(f"{path}/AbstractText"):
        if text := _paragraphs(_content(part)):
            label = part.get("Label", "").strip()
            parts.append(f"{html.escape(label)}: {text}" if label and label != "UNLABELLED" else text)
    return "\n".join(parts)


def _pubmed_authors(authors: list[Element]) -> list[dict[str, str]]:
    return [
        {
            "given": _first(author, "ForeName", "FirstName", "Initials"),
            "family": " ".join(_texts(author, "LastName", "Suffix")) or _first(author, "CollectiveName"),
        }
        for author in authors
    ]


def _atom_entry(record: Element) -> Raw:
    addresses = [link.get("href", "") for link in record.findall("link") if link.get("rel", "alternate") == "alternate"]
    identifier = _first(record, "id")
    if "/api/errors" in identifier:
        raise _NoPaper(f"it is an error message: {_first(record, 'summary')}")
    return {
        "title": _texts(record, "title"),
        "abstract": _paragraphs(_first(record, "summary", "content")),
        "authors": [{"family": name} for name in _texts(record, "author/name")],
        "venue": _texts(record, "journal_ref"),
        "year": _texts(record, "published", "updated"),
        "doi": _texts(record, "doi"),
        "url": [*addresses, identifier],
        "pdf_url": [link.get("href", "") for link in record.findall("link") if "pdf" in link.get("type", "")],
        "keywords": _listed([category.get("term", "") for category in record.findall("category")]),
    }


def _oai_record(record: Element) -> Raw:
    header = _child(record, "header")
    if header.get("status") == "deleted":
        raise _NoPaper(f"its source has deleted it: {_first(header, 'identifier')}")
    metadata = next(iter(_child(record, "metadata")), None)
    if metadata is None:
        raise _NoPaper(f"it has no metadata: {_first(header, 'identifier')}")
    if metadata.tag not in _METADATA:
        raise _NoPaper(f"its metadata are <{metadata.tag}>; known are {', '.join(_METADATA)}")
    return _METADATA[metadata.tag](metadata)


def _oai_error(element: Element) -> Raw:
    raise _NoPaper(f"its source reports {element.get('code', 'an error')}: {_content(element).strip()}")


def _oai_list_goes_on(token: Element) -> Raw:
    has_more = bool((token.text or "").strip())
    raise _Remark("its source has more records than this file" if has_more else "it is the end of a list of its source")


def _arxiv(metadata: Element) -> Raw:
    """In arXiv's own words, which has authors by their parts, or all in one line with affiliations in parentheses."""
    in_parts = [
        {"given": _first(author, "forenames"), "family": " ".join(_texts(author, "keyname", "suffix"))}
        for author in metadata.findall("authors/author")
    ]
    in_line = [] if in_parts else _BETWEEN_NAMES.split(_AFFILIATION.sub("", _first(metadata, "authors")))
    return {
        "title": _texts(metadata, "title"),
        "abstract": _paragraphs(_first(metadata, "abstract")),
        "authors": in_parts or [{"family": name} for name in in_line],
        "venue": _texts(metadata, "journal-ref"),
        "year": _texts(metadata, "created", "version/date", "date"),
        "doi": _texts(metadata, "doi"),
        "arxiv_id": _texts(metadata, "id"),
        "keywords": _listed(_first(metadata, "categories").split()),
    }


def _dublin_core(metadata: Element) -> Raw:
    """Its descriptions are the abstract and, where arXiv and others add them, comments."""
    descriptions = [text for text in _texts(metadata, "description") if not text.startswith("Comment")]
    return {
        "title": _texts(metadata, "title"),
        "abstract": _paragraphs(max(descriptions, key=len, default="")),
        "authors": _texts(metadata, "creator"),
        "venue": _texts(metadata, "source"),
        "year": _texts(metadata, "date", "issued"),
        "doi": _texts(metadata, "identifier", "relation"),
        "url": _texts(metadata, "identifier"),
        "keywords": _listed(_texts(metadata, "subject")),
    }


def _endnote(record: Element) -> Raw:
    return {
        "title": _texts(record, "titles/title"),
        "abstract": _paragraphs(_first(record, "abstract")),
        "authors": _texts(record, "contributors/authors/author"),
        "venue": _texts(record, "periodical/full-title", "titles/secondary-title", "periodical/abbr-1"),
        "year": _texts(record, "dates/year", "dates/pub-dates/date"),
        "doi": _texts(record, "electronic-resource-num"),
        "url": _texts(record, *(f"urls/{kind}-urls/url" for kind in ("related", "web", "text"))),
        "pdf_url": _texts(record, "urls/pdf-urls/url"),
        "keywords": _listed(_texts(record, "keywords/keyword")),
    }


def _jats(article: Element) -> Raw:
    about = _child(article, "front/article-meta")
    authors = [person for person in about.findall("contrib-group/contrib") if person.get("contrib-type") != "editor"]
    dates = sorted(about.findall("pub-date"), key=lambda date: _first(date, "year"))
    return {
        "title": _texts(about, "title-group/article-title"),
        "abstract": _jats_abstract(about),
        "authors": [name for person in authors if (name := _jats_author(person))],
        "venue": _texts(
            article, "front/journal-meta/journal-title-group/journal-title", "front/journal-meta/journal-title"
        ),
        "year": [_first(date, "year") for date in dates],
        "doi": _texts(about, "article-id[@pub-id-type='doi']"),
        "pmid": _texts(about, "article-id[@pub-id-type='pmid']"),
        "url": [link.get("href", "") for link in about.findall("self-uri")],
        "keywords": _listed(_texts(about, "kwd-group/kwd")),
    }


def _jats_abstract(about: Element) -> str:
    """The abstract proper, and not a graphical one, highlights or a summary for laymen."""
    abstracts = sorted(about.findall("abstract"), key=lambda abstract: abstract.get("abstract-type") is not None)
    return next((text for abstract in abstracts if (text := _paragraphs(_content(abstract)))), "")


def _jats_author(person: Element) -> dict[str, str]:
    named = person.find("name")
    named = person.find("name-alternatives/name") if named is None else named
    if named is None:
        return {"family": _first(person, "collab", "string-name")}
    return {"given": _first(named, "given-names"), "family": " ".join(_texts(named, "prefix", "surname", "suffix"))}


def _child(parent: Element, path: str) -> Element:
    """The element at `path`, an empty one where there is none."""
    found = parent.find(path)
    return Element("") if found is None else found


def _texts(parent: Element, *paths: str) -> list[str]:
    """The texts of all elements at the paths, with the tags that are telling."""
    texts = (_content(element).strip() for path in paths for element in parent.findall(path))
    return [text for text in texts if text]


def _first(parent: Element, *paths: str) -> str:
    return next(iter(_texts(parent, *paths)), "")


def _listed(words: list[str]) -> str:
    """Keywords in one text; the last semicolon keeps one that has commas from being split at these."""
    return "".join(f"{word};" for word in words)


def _paragraphs(text: str) -> str:
    """`text` without the line ends that are only its file's layout."""
    return "\n\n".join(" ".join(part.split()) for part in _PARAGRAPH.split(text)).strip()


def _content(element: Element) -> str:
    """The text of an element and those in it as HTML, with the tags that are telling and its formulas in one line."""
    parts = [html.escape(element.text or "", quote=False)]
    for child in _alternatives(element):
        if child.tag == "math":
            parts.append(html.escape(_formula(child), quote=False))
        elif child.tag == "tex-math":
            parts.append(html.escape(_tex(child), quote=False))
        else:
            content = _content(child)
            parts.append(f"<{child.tag}>{content}</{child.tag}>" if child.tag in _TELLING else content)
        parts.append(html.escape(child.tail or "", quote=False))
    return "".join(parts)


def _alternatives(element: Element) -> list[Element]:
    """What is in an element; of the same formula in several languages the one in TeX."""
    in_tex = element.findall("tex-math") if element.tag in ("alternatives", "inline-formula", "disp-formula") else []
    return in_tex or list(element)


def _tex(element: Element) -> str:
    """The formula in what some publishers give as a whole document."""
    tex = "".join(element.itertext())
    body = _TEX_BODY.search(tex)
    return " ".join((body[1] if body else tex).split())


def _formula(element: Element) -> str:
    """MathML in one line, such as "x^2 = a/b"."""
    own = (element.text or "").strip()
    if element.tag == "mo" and _RELATION.fullmatch(own):
        return f" {own} "
    parts = [own, *(_formula(child) for child in element if not child.tag.startswith("annotation"))]
    parts = [part for part in parts if part]
    if element.tag in ("msub", "msup", "mfrac", "msubsup") and len(parts) == len(_SIGNS[element.tag]) + 1:
        signs = ("", *_SIGNS[element.tag])
        return "".join(f"{sign}{_grouped(part)}" for sign, part in zip(signs, parts, strict=True))
    joined = (" " if element.tag in _ROWS else "").join(parts)
    return f"√{_grouped(joined)}" if element.tag == "msqrt" else joined


def _grouped(part: str) -> str:
    return part if len(part) == 1 or part.isalnum() else f"({part.strip()})"


_SIGNS = {"msub": "_", "msup": "^", "mfrac": "/", "msubsup": "_^"}
"""What stands in one line for the places of MathML."""
_ROWS = frozenset(("mtable", "mtr", "matrix", "matrixrow", "vector"))
_METADATA: dict[str, Callable[[Element], Raw]] = {
    "arXiv": _arxiv,
    "arXivRaw": _arxiv,
    "arXivOld": _arxiv,
    "dc": _dublin_core,
    "article": _jats,
}
_OAI = {"record": _oai_record, "error": _oai_error, "resumptionToken": _oai_list_goes_on}
_KINDS: dict[str, dict[str, Callable[[Element], Raw]]] = {
    "PubmedArticleSet": {"PubmedArticle": _pubmed_article, "PubmedBookArticle": _pubmed_book},
    "PubmedBookArticleSet": {"PubmedBookArticle": _pubmed_book},
    "PubmedArticle": {"PubmedArticle": _pubmed_article},
    "PubmedBookArticle": {"PubmedBookArticle": _pubmed_book},
    "feed": {"entry": _atom_entry},
    "entry": {"entry": _atom_entry},
    "OAI-PMH": _OAI,
    "ListRecords": _OAI,
    "GetRecord": _OAI,
    "xml": {"record": _endnote},
    "records": {"record": _endnote},
    "article": {"article": _jats},
    "pmc-articleset": {"article": _jats},
}
"""By the first element of a file, how each of its records is read."""
