"""The numbers of a sentence, each with the terms it stands among: what it counts, and what else is said of it."""

import re
from dataclasses import dataclass

from assistant.verification.terms import NUMBER, clauses_of, plain_number, terms_of
from assistant.wording import any_of, pattern, stems

_UNITS = stems("b m k gb mb x percent percentage point bit time fold pass")
"""Not what a number counts: "39.63 percentage points" can be points of anything."""
_PHRASE_ENDS = pattern(rf"\s{any_of('of on in by to from over across for at is are was were that with when upon')}\s")
_LEADING_OF = pattern(r"^\s*[%\w]{0,3}\s+of\s")
_IN_NAME = re.compile(r"[^\W\d_][\w.]*-$")
"""Before the 8 of "LLaMA3.1-8B"."""
_LONGEST_PHRASE = 3
_NEAR = 4
"""Terms before a number that are looked at."""


@dataclass(frozen=True)
class Quantity:
    """A number and its neighbours in the same clause."""

    number: str
    counted: frozenset[str]
    """What follows it at once: LLM in "a 70B LLM", heads in "3% of the heads"."""
    around: frozenset[str]
    """The terms between the numbers before and after it, apart from what those count."""


def quantities_in(text: str) -> list[Quantity]:
    """The numbers of `text` that are written in digits, in order."""
    return [quantity for clause in clauses_of(text) for quantity in _in_clause(clause.text)]


def _in_clause(text: str) -> list[Quantity]:
    matches = [match for match in NUMBER.finditer(text) if not _IN_NAME.search(text[: match.start()])]
    bounds = [0, *(at for match in matches for at in match.span()), len(text)]
    gaps = [text[bounds[at] : bounds[at + 1]] for at in range(0, len(bounds), 2)]
    found = []
    left = frozenset(terms_of(gaps[0])[-_NEAR:])
    for match, gap in zip(matches, gaps[1:], strict=True):
        counted = _counted(gap)
        rest = frozenset(terms_of(gap)) - counted
        found.append(Quantity(plain_number(match.group()), counted, (left | counted | rest) - _UNITS))
        left = frozenset(term for term in terms_of(gap)[-_NEAR:] if term in rest)
    return found


def _counted(behind: str) -> frozenset[str]:
    phrase = _LEADING_OF.sub(" ", behind)
    ending = _PHRASE_ENDS.search(phrase)
    terms = [term for term in terms_of(phrase[: ending.start() if ending else None]) if term not in _UNITS]
    return frozenset(terms[:_LONGEST_PHRASE])
