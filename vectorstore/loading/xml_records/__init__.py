"""XML of PubMed, of feeds (Atom, RSS) as arXiv has them, of OAI-PMH, DBLP, EndNote, Zotero (RDF) and journals (JATS).

One record at a time is in memory as a tree. Entities that a file defines itself are refused: they can grow without end
or read other files. Elements go by their names without namespaces.
"""

import codecs
import re
from collections.abc import Callable, Iterator, Mapping
from html.entities import name2codepoint
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from vectorstore.loading.document import Document
from vectorstore.loading.fields import Raw, paper_record
from vectorstore.loading.xml_records import dblp, endnote, feeds, journals, pubmed, zotero
from vectorstore.loading.xml_records.elements import NoPaper, Remark
from vectorstore.types import PaperRecord, SkippedRecord
from vectorstore.visible import visible

_Reader = Callable[[Element], Raw]
_CHUNK = 64 * 1024
_DEEPEST = 200
"""Elements within each other, in a record."""
_ROOT = re.compile(r"(?:<!--.{0,5000}?-->\s*)?<(?:[\w.-]+:)?(?P<name>[\w.-]+)[\s>/]", re.DOTALL)
_DECLARED = re.compile(rb"<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([\w.-]{1,40})")
_ONE_OF_MANY = re.compile(r"(?:utf-?8|us-ascii|iso-?8859|latin|windows-125|cp\d|koi8|gb|big5|shift|euc)")
"""Encodings that a file may declare; others are guessed from its bytes."""
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


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
        if isinstance(raw, NoPaper):
            yield SkippedRecord(position=position, line=line, reason=str(raw))
        else:
            yield paper_record(raw, position, line=line)


def _records(document: Document) -> Iterator[tuple[int, "Raw | NoPaper"]]:
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
            yield fault.position[0], NoPaper(f"the XML has a fault, and nothing behind it can be read: {fault}")
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
        self.found: list[tuple[int, Raw | NoPaper]] = []
        self.line: Callable[[], int] = int
        self._document = document
        self._readers: Mapping[str, _Reader] | None = None
        self._builder: TreeBuilder | None = None
        self._began = 0
        self._depth = 0

    def taken(self) -> list[tuple[int, "Raw | NoPaper"]]:
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
        except NoPaper as error:
            self.found.append((self._began, error))
        except Remark as remark:
            self._document.warnings.append(str(remark))


def _readers(document: Document, root: str) -> Mapping[str, _Reader]:
    if root not in _KINDS:
        raise document.error(
            f"is XML of a kind that cannot be read: its first element is <{root}>",
            f"Expected is one of: {', '.join(f'<{kind}>' for kind in _KINDS)}.",
        )
    return _KINDS[root]


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


_OAI: dict[str, _Reader] = {
    "record": feeds.oai_record,
    "error": feeds.oai_error,
    "resumptionToken": feeds.oai_list_goes_on,
}
_DBLP: dict[str, _Reader] = {
    **dict.fromkeys(("article", "inproceedings", "incollection", "book"), dblp.publication),
    **dict.fromkeys(("phdthesis", "mastersthesis"), dblp.publication),
    **dict.fromkeys(("proceedings", "www"), dblp.volume),
}
_KINDS: dict[str, dict[str, _Reader]] = {
    "PubmedArticleSet": {"PubmedArticle": pubmed.article, "PubmedBookArticle": pubmed.book},
    "PubmedBookArticleSet": {"PubmedBookArticle": pubmed.book},
    "PubmedArticle": {"PubmedArticle": pubmed.article},
    "PubmedBookArticle": {"PubmedBookArticle": pubmed.book},
    "feed": {"entry": feeds.atom_entry},
    "entry": {"entry": feeds.atom_entry},
    "OAI-PMH": _OAI,
    "ListRecords": _OAI,
    "GetRecord": _OAI,
    "rss": {"item": feeds.rss_item},
    "RDF": {"item": feeds.rss_item, **dict.fromkeys(zotero.KINDS, zotero.item)},
    "dblp": _DBLP,
    "dblpperson": _DBLP,
    "result": {"hit": dblp.hit},
    "xml": {"record": endnote.reference},
    "records": {"record": endnote.reference},
    "article": {"article": journals.article},
    "pmc-articleset": {"article": journals.article},
}
"""By the first element of a file, how each of its records is read."""
