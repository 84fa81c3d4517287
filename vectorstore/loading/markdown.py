"""Markdown with front matter: what is known of a paper between two lines "---", then its abstract."""

import re
from collections.abc import Iterator, Mapping
from datetime import date

import yaml

from vectorstore.loading.document import Document
from vectorstore.loading.fields import paper_record
from vectorstore.types import PaperRecord, SkippedRecord

_FRONT = re.compile(r"\A---[ \t]*\n(?P<front>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)(?P<body>.*)", re.DOTALL)
_HEADING = re.compile(r"^#{1,6} +(?P<text>.*?)#*\s*$", re.MULTILINE)
_IS_ABSTRACT = re.compile(r"(?:abstract|summary)\W*", re.IGNORECASE)


def recognises(document: Document) -> bool:
    """By its first line, and a field that a paper has in the front matter."""
    match = _FRONT.match(document.head_text.replace("\r\n", "\n"))
    return (
        match is not None and re.search(r"(?i)^(?:title|abstract|authors?|doi)\s*:", match["front"], re.M) is not None
    )


def read(document: Document) -> Iterator[PaperRecord | SkippedRecord]:
    """The one paper that it is about; the front matter's abstract, or else the body up to a second section.

    Raises `SourceError` when its front matter is not YAML.
    """
    match = _FRONT.match(document.text())
    if match is None:
        raise document.error("has no end to its front matter", "End it with a line '---'.")
    fields = _fields(document, match["front"])
    yield paper_record({**_body(match["body"]), **fields}, 1)


def _fields(document: Document, front: str) -> dict[str, object]:
    try:
        has_aliases = any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(front))
        fields = None if has_aliases else yaml.safe_load(front)  # aliases of aliases grow without end
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", 0) + 2
        raise document.error(
            f"has front matter that is not YAML, near line {line}", "Put values with a colon in quotes."
        ) from error
    if not isinstance(fields, Mapping):
        raise document.error("has front matter that cannot be read", "Give lines like 'title: ...'.")
    return {str(name): str(value) if isinstance(value, date) else value for name, value in fields.items()}


def _body(body: str) -> dict[str, object]:
    """The first heading as title; as abstract the section of that name, or else what stands before the next heading."""
    headings = list(_HEADING.finditer(body))
    ends = [*(heading.start() for heading in headings[1:]), len(body)]
    sections = [
        (heading["text"].strip(), body[heading.end() : end]) for heading, end in zip(headings, ends, strict=False)
    ]
    named = next((text for name, text in sections if _IS_ABSTRACT.fullmatch(name)), None)
    opening = body[: headings[0].start()] if headings else body
    abstract = named or opening.strip() or (sections[0][1] if sections else "")
    title = next((name for name, _ in sections[:1] if not _IS_ABSTRACT.fullmatch(name)), None)
    return {"title": title, "abstract": abstract}
