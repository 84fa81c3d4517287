"""BibTeX and BibLaTeX. An entry that cannot be parsed is skipped, and those behind it are read.

bibtexparser splits a file into entries and fields. What it leaves as it is in them is done here: strings joined by "#",
fields that come from the entry named by `crossref`, names, and LaTeX outside formulas.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from vectorstore.loading.cleaning import arxiv_id_in
from vectorstore.loading.document import Document
from vectorstore.loading.fields import NAMES, paper_record, plain_key
from vectorstore.types import PaperRecord, SkippedRecord

if TYPE_CHECKING:
    from bibtexparser.model import Block, ParsingFailedBlock

_BLOCK = re.compile(r"^[ \t]*@\s*[a-z]+\s*[{(]", re.IGNORECASE | re.MULTILINE)
_ENTRY = re.compile(
    r"^[ \t]*@\s*(?!comment|preamble|string)[a-z]+\s*[{(]\s*(?:[^\s{}(),=]+\s*)?[,})]", re.IGNORECASE | re.MULTILINE
)
_LOOSE_START = re.compile(r"^([ \t]*@)\s*([a-z]+)\s*(?=[{(])", re.IGNORECASE | re.MULTILINE)
_UNREAD_START = re.compile(r"[ \t]*@[^\s{}(),=@]{1,80}\s*[{(]")
_PLAIN = r"[^{}@]++|(?<=\\)[{}]|(?<=\S)@"
_NESTED = rf"(?:{_PLAIN}|{{(?:{_PLAIN}|{{(?:{_PLAIN})*+}})*+}})*+"
_BRACED = re.compile(rf"(?<==)\s*+{{{_NESTED}}}")
"""A value with at most two levels of braces in it, and nothing that begins a block."""
_LONG = 200
_ASIDE = "\ue000"
"""Around the name of a value that has been put aside: no text that is read has private characters."""
_PUT_ASIDE = re.compile(rf"{_ASIDE}\d+\n*{_ASIDE}")
_NEXT_FIELD = re.compile(r",\s{0,80}[a-z-]{1,40}\s{0,20}=\s{0,20}[{\"]", re.IGNORECASE)
"""What stands in a field's value when its last brace is missing."""
_NO_ENTRY = re.compile(r"@(?:comment|preamble|string)\b", re.IGNORECASE)
_LONGEST_PREFACE = 200
"""Characters before the first block of a file that does not call itself BibTeX."""
_INHERITED = ("year", "date", "journal", "journaltitle", "booktitle", "eventtitle")
_ADDRESSES = frozenset(("doi", "url", "eprint", "pdf", "link"))
_USED = frozenset((*NAMES, *(name for names in NAMES.values() for name in names))) - {"source", "id"}
"""Fields that tell of a paper. Left out are two that have another meaning here: a database, and a key."""
_AND, _COMMA, _HASH = r"\s+and\s+", r"\s*,\s*", "#"
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_ESCAPED = re.compile(r"\{?\\([_%&#$~])\}?")
_FORMULA = re.compile(r"((?<!\\)\$[^$]{1,2000}\$|\\\(.{1,2000}?\\\))", re.DOTALL)
_RAISED = re.compile(r"\\textsuperscript\s*\{([^{}]*)\}")
_STYLED = re.compile(r"\\(?:text(?:it|bf|sc|tt|rm|sf|up|sl|md|normal|subscript)|emph|mbox)\s*\{([^{}]*)\}")
_SYMBOL = re.compile(r"(\{)?(\\(?:text[a-z]{2,20}|[lc]?dots|copyright))(?:\s*\{\}|(?![a-zA-Z]|\s*\{)[ \t]?)(?(1)\})")
_SYMBOLS = {
    **{"less": "<", "greater": ">", "underscore": "_", "bar": "|", "braceleft": "{", "braceright": "}"},
    **{"quotedbl": '"', "micro": "µ", "minus": "−", "copyright": "©"},
}
"""Those that pylatexenc does not know, without "text" before them."""
_CAPITALS = re.compile(r"(?<![\\\w}\]^])\{([^{}\\\s,]{0,80}[^\W\d_a-z][^{}\\\s,]{0,80})\}")
_DOUBLE_BRACED = re.compile(r"\{\{([^{}\\]*)\}\}")
_TIE = re.compile(r"(?<=[^\W\d_])~(?=\w)")
_MOST_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """What stands in an entry, or why that cannot be told."""

    line: int
    key: str = ""
    values: dict[str, str] = field(default_factory=dict)
    fault: str | None = None


def recognises(document: Document) -> bool:
    """By an entry at its beginning; in a file whose name ends in .bib or .bibtex by any block, anywhere."""
    head = document.head_text
    block = _BLOCK.search(head)
    if block is None or document.is_binary:
        return False
    if document.name.lower().removesuffix(".gz").endswith((".bib", ".bibtex")):
        return True
    preface = head[: block.start()]
    return _ENTRY.search(head) is not None and len(preface) <= _LONGEST_PREFACE and "```" not in preface


def read(document: Document) -> Iterator[PaperRecord | SkippedRecord]:
    """A paper for each entry. Warnings say which keys and fields are there twice, and which comments have no end."""
    text, aside = _without_long_values(document.text())
    blocks = _blocks(text)
    document.warnings.extend(_oddities(blocks))
    strings = _strings(blocks, aside)
    entries = [entry for block in blocks for entry in _entries(block, strings)]
    by_key = {entry.key.casefold(): entry for entry in reversed(entries)}
    for position, entry in enumerate(entries, start=1):
        if entry.fault:
            yield SkippedRecord(position=position, line=entry.line, reason=entry.fault)
        else:
            values = _inherited(entry.values, by_key) | entry.values
            yield paper_record(_raw(values), position, line=entry.line)


def _without_long_values(text: str) -> tuple[str, dict[str, str]]:
    """`text` with names for its long values, and these by name: the splitter halts at each comma in a value."""
    aside: dict[str, str] = {}

    def name_for(match: re.Match[str]) -> str:
        value = match.group()
        if len(value) < _LONG or _NEXT_FIELD.search(value):
            return value
        line_ends = "\n" * value.count("\n")  # as lines are counted
        name = f"{_ASIDE}{len(aside)}{line_ends}{_ASIDE}"
        aside[name] = value
        return name

    return _BRACED.sub(name_for, text), aside


def _blocks(text: str) -> list["Block"]:
    from bibtexparser.splitter import Splitter

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # what it would log is in the skipped records
    return Splitter(_LOOSE_START.sub(r"\1\2", text)).split().blocks


def _oddities(blocks: list["Block"]) -> Iterator[str]:
    from bibtexparser.model import DuplicateBlockKeyBlock, DuplicateFieldKeyBlock, ParsingFailedBlock

    keys = [block.key for block in blocks if isinstance(block, DuplicateBlockKeyBlock)]
    fields = [name for block in blocks if isinstance(block, DuplicateFieldKeyBlock) for name in block.duplicate_keys]
    if keys:
        yield f"read although an earlier entry has the same key: {_listed(keys)}"
    if fields:
        yield f"fields that are in one entry twice, of which the first is taken: {_listed(fields)}"
    for block in blocks:
        if isinstance(block, ParsingFailedBlock) and (kind := _NO_ENTRY.match(block.raw or "")):
            yield f"the {kind.group()} in line {_line(block)} has no end and is left out"


def _listed(names: list[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - _MOST_NAMED} more" if len(distinct) > _MOST_NAMED else ""
    return ", ".join(distinct[:_MOST_NAMED]) + more


def _strings(blocks: list["Block"], aside: Mapping[str, str]) -> dict[str, str]:
    """What each @string stands for, by its name in lower case, and what has been put aside."""
    from bibtexparser.model import String

    strings = dict(aside)
    for block in blocks:
        if isinstance(block, String):
            strings[block.key.casefold()] = _value(block.value, strings)
    return strings


def _entries(block: "Block", strings: Mapping[str, str]) -> Iterator[_Entry]:
    """The entry in a block; none in a comment, unless something there begins like one."""
    from bibtexparser.model import Entry, ImplicitComment, ParsingFailedBlock

    line = _line(block)
    found = (_mended(block) or block) if isinstance(block, ParsingFailedBlock) else block
    if isinstance(found, Entry):
        values: dict[str, str] = {}
        for entry_field in found.fields:
            values.setdefault(entry_field.key.casefold(), _value(entry_field.value, strings))
        yield _Entry(line=line, key=found.key, values=values)
    elif isinstance(found, ParsingFailedBlock) and not _NO_ENTRY.match(found.raw or ""):
        reason = str(getattr(found.error, "abort_reason", "") or found.error).strip().rstrip(".")
        yield _Entry(line=line, fault=f"its BibTeX cannot be parsed: {reason}")
    elif isinstance(found, ImplicitComment):
        for number, text in enumerate(found.comment.split("\n"), start=line):
            if start := _UNREAD_START.match(text):
                yield _Entry(line=number, fault=f"an entry cannot begin with {start.group().strip()!r}")


def _mended(block: "ParsingFailedBlock") -> "Block | None":
    """The entry in a block that is only a duplicate, or that lacks nothing but its last brace."""
    from bibtexparser.model import Entry
    from bibtexparser.splitter import Splitter

    if inner := block.ignore_error_block:
        return inner
    blocks = Splitter(f"{(block.raw or '').rstrip()}\n}}").split().blocks
    if len(blocks) != 1 or not isinstance(entry := blocks[0], Entry):
        return None
    return None if any(_NEXT_FIELD.search(entry_field.value) for entry_field in entry.fields) else entry


def _line(block: "Block") -> int:
    return (block.start_line or 0) + 1


def _value(text: str, strings: Mapping[str, str]) -> str:
    """A field's value without what encloses it, with the strings it names."""
    if _ASIDE in text:
        text = _PUT_ASIDE.sub(lambda match: strings[match.group()], text).strip()
    parts = [part.strip() for part in (_parts(text, _HASH) if "#" in text else [text])]
    return "".join(_enclosed(part) if part[:1] in ('"', "{") else strings.get(part.casefold(), part) for part in parts)


def _enclosed(part: str) -> str:
    return part[1:-1] if len(part) > 1 and part[0] + part[-1] in ('""', "{}") else part


@cache
def _separator_or_bracket(separator: str) -> re.Pattern[str]:
    return re.compile(rf"\\.|[{{}}\"]|(?P<separator>{separator})", re.IGNORECASE | re.DOTALL)


def _parts(text: str, separator: str) -> list[str]:
    """`text` split where the separator is in no braces and no quotation marks that enclose a part."""
    parts, start, depth, is_quoted = [], 0, 0, False
    for match in _separator_or_bracket(separator).finditer(text):
        token = match.group()
        if token == '"' and depth == 0:
            is_quoted = separator == _HASH and not is_quoted
        elif token in ("{", "}"):
            depth = max(0, depth + (1 if token == "{" else -1))
        elif match["separator"] is not None and depth == 0 and not is_quoted:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def _inherited(values: Mapping[str, str], by_key: Mapping[str, _Entry]) -> dict[str, str]:
    """What an entry takes over from the volume it is in."""
    parent = by_key.get(values.get("crossref", "").casefold()) if values.get("crossref") else None
    if parent is None:
        return {}
    passed = {name: parent.values[name] for name in _INHERITED if parent.values.get(name)}
    return {"booktitle": parent.values["title"], **passed} if parent.values.get("title") else passed


def _raw(values: Mapping[str, str]) -> dict[str, Any]:
    raw: dict[str, Any] = {
        name: _readable(name, text) for name, text in values.items() if plain_key(name) in _USED and text.strip()
    }
    if "title" in raw and values.get("subtitle", "").strip():
        raw["title"] = f"{raw['title']}: {_readable('title', values['subtitle'])}"
    archive = (values.get("eprinttype") or values.get("archiveprefix") or "arxiv").casefold()
    if archive != "arxiv" and (eprint := raw.pop("eprint", None)):
        raw.setdefault("pmid" if archive == "pubmed" else "url", eprint)
    if "eprint" not in raw and (arxiv_id := _arxiv_id_in_words(values)):
        raw["eprint"] = arxiv_id
    return raw


def _readable(name: str, text: str) -> str | list[dict[str, str]]:
    if name == "author":
        return _names(text)
    if name in _ADDRESSES:
        return _ESCAPED.sub(r"\1", " ".join(text.split()))
    if name == "abstract":
        return _without_layout("\n\n".join(" ".join(part.split()) for part in _PARAGRAPH.split(text)))
    return _without_layout(" ".join(text.split()))


def _arxiv_id_in_words(values: Mapping[str, str]) -> str | None:
    """From "arXiv preprint arXiv:1234.56789" as Google Scholar has it, or DBLP's volume "abs/1234.56789" of CoRR."""
    volume = values.get("volume", "")
    texts = [values.get(name, "") for name in ("journal", "note", "howpublished")]
    texts.append(f"arxiv:{volume.removeprefix('abs/')}" if volume.startswith("abs/") else "")
    return next((found for text in texts if (found := arxiv_id_in(text))), None)


def _names(text: str) -> str | list[dict[str, str]]:
    names = [part for part in _parts(" ".join(text.split()), _AND) if part.strip("{} ").casefold() != "others"]
    if len(names) == 1 and ";" in names[0]:
        return names[0]
    return [_name(name) for name in names]


def _name(name: str) -> dict[str, str]:
    """By its parts, so that the comma in a group's name in braces does not look like one between parts."""
    parts = _parts(name.strip(), _COMMA)
    named = dict(part.partition("=")[::2] for part in parts)
    if "family" in named:  # BibLaTeX's "family=Byron, given=Ada"
        family = f"{named.get('prefix', '')} {named['family']} {named.get('suffix', '')}".strip()
        return {"family": family, "given": named.get("given", "")}
    if len(parts) == 2:
        return {"family": parts[0], "given": parts[1]}
    if len(parts) == 3:
        return {"family": f"{parts[0]} {parts[1]}", "given": parts[2]}
    return {"family": name.strip()}


def _without_layout(text: str) -> str:
    """`text` without the LaTeX for how words look, and with symbols for their names; formulas stay as they are."""
    if not any(char in text for char in "\\{~"):
        return text
    parts = _FORMULA.split(text)
    return "".join(part if at % 2 else _without_commands(part) for at, part in enumerate(parts))


def _without_commands(text: str) -> str:
    if "\\" in text:
        text = _SYMBOL.sub(lambda match: _symbol(match[2]), text)
        text = _STYLED.sub(r"\1", _STYLED.sub(r"\1", _RAISED.sub(r"^\1", text)))
    if "{" in text:
        text = _DOUBLE_BRACED.sub(r"\1", _CAPITALS.sub(r"\1", _CAPITALS.sub(r"\1", text)))
    return _TIE.sub(" ", text)


@cache
def _symbol(command: str) -> str:
    from pylatexenc.latex2text import LatexNodes2Text

    known = _SYMBOLS.get(command[1:].removeprefix("text"))
    return known or str(LatexNodes2Text().latex_to_text(command)) or command
