"""Which side of a verb things stand on: "A causes B" is not "B causes A"."""

from collections.abc import Iterator, Set
from dataclasses import dataclass

from assistant.verification.passages import Passage
from assistant.verification.terms import terms_of
from assistant.wording import any_of, pattern, stem

_ACTS = (
    "cause induce drive determine reduce improve increase decrease promote enhance inhibit suppress prevent activate "
    "trigger produce influence affect control regulate predict explain precede accelerate degrade"
)
_ACT = pattern(
    rf"\b(?P<verb>{any_of(_ACTS)})(?:s|d)?\b(?! {any_of('by with when as from through under in on over')}\b)"
    rf"|\b(?P<phrase>{any_of('leads?_to led_to results?_in resulted_in depends?_on')})\b"
)
_NOT_ACTIVE = pattern(rf"\b{any_of('is are was were be been being by')}(?: \w+ly)? $")
"""Before a verb that is passive, or has its subject elsewhere."""


@dataclass(frozen=True)
class Act:
    """An active verb, and the terms before and behind it."""

    verb: str
    before: frozenset[str]
    behind: frozenset[str]


def roles_swapped(sentence: str, passage: Passage) -> bool:
    """Whether a verb of `sentence` has its sides the other way round wherever the passage has that verb."""
    given = list(_acts(passage.text))
    for act in _acts(sentence):
        alike = [other for other in given if other.verb == act.verb]
        if alike and all(_is_crossed(act, other) for other in alike):
            return True
    return False


def _acts(text: str) -> Iterator[Act]:
    for match in _ACT.finditer(text):
        before, behind = text[: match.start()], text[match.end() :]
        if not _NOT_ACTIVE.search(before):
            verb = stem((match["verb"] or match["phrase"]).split()[0])
            yield Act(verb, frozenset(terms_of(before)), frozenset(terms_of(behind)))


def _is_crossed(act: Act, other: Act) -> bool:
    return _is_mostly(act.before, other.behind, other.before) and _is_mostly(act.behind, other.before, other.behind)


def _is_mostly(terms: Set[str], there: Set[str], here: Set[str]) -> bool:
    """Whether more of `terms` stand only `there` than `here`."""
    return len(terms & there - here) > len(terms & here)
