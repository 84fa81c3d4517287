"""What a question confines the search to, in its own words: "papers by Pieter Abbeel at ICML since 2020".

A year, a venue or a name stands in questions about content as well ("the 2012 challenge", "optimised by Adam"). It is
taken for a filter only beside a word for papers or beside another filter, and only when the collection knows the author
or the venue.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from assistant.routing import read_question
from assistant.types import Question
from assistant.wording import any_of, content_stems, pattern, stems
from vectorstore.filters import PaperFilter

_PAPERS = any_of("papers? works? articles? abstracts? publications? stud(?:y|ies) research")
_MADE = any_of("published presented written authored appeared appearing accepted")
_TAKEN = "\0"
"""Stands where a filter was taken from the text."""
_BESIDE = rf"(?:\b(?:{_PAPERS}|{_MADE})\b(?:[\s,]+{_MADE}\b)?|{_TAKEN})[\s,]*"
_YEAR = r"(?:19|20)\d\d"
_WHEN = (
    rf"(?:between\s+(?P<low>{_YEAR})\s+and\s+(?P<high>{_YEAR})\b"
    rf"|(?:from\s+)?(?P<first>{_YEAR})\s*(?:-|–|to)\s*(?P<last>{_YEAR})\b"
    rf"|(?:since|starting in)\s+(?P<since>{_YEAR})\b|after\s+(?P<after>{_YEAR})\b|before\s+(?P<before>{_YEAR})\b"
    rf"|(?:until|up to|through)\s+(?P<until>{_YEAR})\b|(?:(?:in|from|of|for)\s+)?(?P<in>{_YEAR})\b)"
)
_WHEN_BESIDE = pattern(rf"(?P<beside>{_BESIDE}){_WHEN}")
_WHEN_LAST = pattern(rf"(?<!data)(?<!dataset)(?<!datasets)\s+(?!\d){_WHEN}(?=[\s?.!]*$)")
_YEAR_OF_PAPERS = pattern(rf"\b(?P<in>{_YEAR})\s+(?={_PAPERS}\b)")
_BY = pattern(rf"(?P<beside>{_BESIDE})?\b(?:by|from|of)\s+(?:the\s+)?(?:authors?\s+)?")
_OWNER = pattern(rf"(?P<name>(?:[^\W\d_][\w.-]*\s+){{0,3}}[^\W\d_][\w-]*)['’]s?\s+(?={_PAPERS}\b)")
_NAME = re.compile(r"(?:[^\W\d_][\w.’'-]*[ \t]*){1,4}")
_VENUE = pattern(
    rf"\b(?:at|in|from|of)\s+(?:the\s+)?(?P<a>[^\W\d_][\w+&-]*)(?P<year>\s+{_YEAR})?\b"
    rf"|\b(?P<b>[^\W\d_][\w+&-]*)(?P<year_b>\s+{_YEAR})?(?=\s+{_PAPERS}\b)"
)
_DID_WRITE = pattern(
    r"\b(?:did|has|have|does)\s+(?P<name>(?:[^\W\d_][\w.-]*\s+){1,4})(?:publish(?:ed)?|write|written|author(?:ed)?|present(?:ed)?)\b"
)
_TAKEN_WITH_VERB = pattern(
    rf"\s*(?:(?:\b(?:that|which)\s+)?\b(?:are|were|was|is)\s+)?(?:\b{_MADE}\s*)?(?:{_TAKEN}[\s,]*)+"
)
_ASKING = stems(
    "paper work article abstract publication study research list show find name tell give count number there are any "
    "all please what which who how many here collection publish write present author"
)
_HOW_MANY = pattern(r"\bhow many\b|\bnumber of\b|\bcount\b")
_LONG_VENUE = 5
"""Letters; a shorter venue is known by its capitals ("ACL", not "at alt")."""


class Catalogue(Protocol):
    """What a collection knows of authors and venues."""

    def has_author(self, name: str) -> bool:
        """Whether a paper is by `name`."""
        ...

    def venue(self, name: str) -> str | None:
        """The venue of that name as the collection writes it, if any paper is from there."""
        ...


def read_confined(text: str, catalogue: Catalogue) -> Question:
    """What is asked, in what way, and of which papers."""
    found = confined(text, catalogue)
    if found.within is None:
        return read_question(text)
    asked = replace(read_question(found.text), within=found.within, standalone=text)
    if content_stems(asked.topic) - _ASKING:
        return asked
    return replace(asked, kind="count" if _HOW_MANY.search(text) else "list", topic="")


@dataclass(frozen=True)
class Confined:
    """A question and what it confines the search to."""

    text: str
    """Without the words of the filter."""
    within: PaperFilter | None


def confined(question: str, catalogue: Catalogue) -> Confined:
    """`question` without what confines it."""
    within = PaperFilter()
    text, within = _take_venue(question, within, catalogue)
    text, within = _take_author(text, within, catalogue)
    text, within = _take_years(text, within)
    if within == PaperFilter():
        return Confined(question, None)
    rest = " ".join(_TAKEN_WITH_VERB.sub(" ", text).split())
    return Confined(re.sub(r"\s+([?.!,])", r"\1", rest).strip(" ,"), within)


def _take_author(text: str, within: PaperFilter, catalogue: Catalogue) -> tuple[str, PaperFilter]:
    for start, end, name in _possible_authors(text):
        if catalogue.has_author(name):
            return text[:start] + _TAKEN + text[end:], replace(within, author=name)
    return text, within


def _possible_authors(text: str) -> Iterator[tuple[int, int, str]]:
    """Where names may stand, the longest first; one word alone only beside a word for papers."""
    for match in _OWNER.finditer(text):
        words = match["name"].split()
        for length in range(len(words), 0, -1):
            name = " ".join(words[-length:])
            if name[:1].isupper():
                yield match.end("name") - len(name), match.end(), name
    for match in _DID_WRITE.finditer(text):
        yield match.start(), match.end(), match["name"].strip()
    for match in _BY.finditer(text):
        following = _NAME.match(text, match.end())
        words = following.group().split() if following else []
        for length in range(len(words), 0, -1):
            name = " ".join(words[:length]).removesuffix("'s").rstrip(".,'’")
            if length > 1 or (match["beside"] and name[:1].isupper()):
                yield match.end("beside") if match["beside"] else match.start(), _end_of(text, name, match.end()), name


def _end_of(text: str, name: str, start: int) -> int:
    """Where `name`, whose words may stand further apart in `text`, ends."""
    found = re.compile(r"\s+".join(map(re.escape, name.split()))).match(text, start)
    return found.end() if found else start


def _take_venue(text: str, within: PaperFilter, catalogue: Catalogue) -> tuple[str, PaperFilter]:
    for match in _VENUE.finditer(text):
        name = match["a"] or match["b"]
        known = catalogue.venue(name) if len(name) >= _LONG_VENUE or name.isupper() or not name[1:].islower() else None
        if known:
            year = int(match["year"] or match["year_b"] or 0) or None
            within = replace(within, venue=known, first_year=year, last_year=year)
            return text[: match.start()] + _TAKEN + text[match.end() :], within
    return text, within


def _take_years(text: str, within: PaperFilter) -> tuple[str, PaperFilter]:
    patterns = [_WHEN_BESIDE, _YEAR_OF_PAPERS]
    if re.search(rf"\b{_PAPERS}\b|{_TAKEN}", text, re.IGNORECASE):
        patterns.append(_WHEN_LAST)
    match = next((found for each in patterns if (found := each.search(text))), None)
    if not match or within.first_year is not None:
        return text, within
    first, last = _years({name: int(year) for name, year in match.groupdict().items() if year and year.isdigit()})
    start = match.end("beside") if match.groupdict().get("beside") else match.start()
    return text[:start] + _TAKEN + text[match.end() :], replace(within, first_year=first, last_year=last)


def _years(given: dict[str, int]) -> tuple[int | None, int | None]:
    """The first and the last year, by the words before them."""
    if "in" in given:
        return given["in"], given["in"]
    if "after" in given:
        return given["after"] + 1, None
    if "before" in given:
        return None, given["before"] - 1
    first = given.get("low", given.get("first", given.get("since")))
    return first, given.get("high", given.get("last", given.get("until")))
