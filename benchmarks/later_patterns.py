"""Ways to make a true sentence false, and to say it otherwise, that were written after the rules of the check.

They say more of the check than the held-out patterns, which whoever wrote the rules had written too. `NOW_KNOWN` are
those for which the rules were mended when their totals had been seen.
"""

import re
from collections.abc import Sequence
from random import Random

from benchmarks.mutation_patterns import (
    HEDGED,
    Pattern,
    all_text,
    if_changed,
    is_foreign_to,
    lowered,
    name_matches,
    number_matches,
    with_number,
    with_replaced,
)
from benchmarks.paraphrase_patterns import Paraphrase
from benchmarks.truths import Statement
from vectorstore.types import Paper

_WELL_KNOWN = "BERT ResNet-50 ImageNet AlphaFold2 DeepMind Kubernetes PostgreSQL MNIST".split()
_CAUSED = re.compile(
    r"^(?P<a>[A-Z][^,;:]{3,70}?)(?<! to)(?<! also) "
    r"(?P<verb>causes?|leads? to|induces?|results? in|drives?|reduces?|improves?|increases?|promotes?|enhances?|"
    r"inhibits?) (?P<b>[^,;:]{3,70})\.$"
)
_FOUND = re.compile(r"\b(?:shows?|demonstrates?|finds?|found|suggests?|reveals?|indicates?|showed|demonstrated) that\b")
_IS = re.compile(r"(?<= )(?:is|are|was|were)(?= \w)")
_ENDS = (
    "especially for users with low income",
    "regardless of the operating system",
    "at no additional cost to hospitals",
    "even on quantum hardware",
    "which won an award at the conference",
    "after two years of fieldwork in Kenya",
)
_OPENINGS = (
    "Using answers of 40,000 volunteers, ",
    "Like most commercial products, ",
    "After a request of the regulator, ",
    "On a single laptop without a battery, ",
    "In cooperation with a car maker, ",
)
_PROPOSED = re.compile(
    r"^(?:In this (?:paper|work), )?[Ww]e (?P<verb>propose|introduce|present|develop) "
    r"(?P<what>(?:an?|the) [^,;:]{3,80}?)(?P<rest>,? (?:that|which|to|for|called|based) .*|\.)$"
)
_PAST = {"propose": "proposed", "introduce": "introduced", "present": "presented", "develop": "developed"}
_INTENSIFIER = re.compile(r"\b(?:significantly|substantially|extensively|highly|very|greatly|remarkably|considerably) ")
_PARENTHESIS = re.compile(r" \([^()]{1,60}\)")
_TRAILING = re.compile(r", (?:which|while|whereas|enabling|making|thereby|allowing|suggesting) [^;]*\.$")
_FEWEST_WORDS = 6
_CONTRACTED = [(re.compile(rf"\b{a} not\b"), f"{a}n't") for a in "does do did is are was were has have".split()]


def number_doubled(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "41" -> "82"."""
    found = [match for match in number_matches(true.sentence) if "," not in match.group()]
    if not found:
        return None
    match = random.choice(found)
    decimals = len(match.group().partition(".")[2])
    return with_number(true, match, f"{2 * float(match.group()):.{decimals}f}") if float(match.group()) else None


def well_known_name(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "QuXal" -> "BERT"."""
    found, other = name_matches(true.sentence), random.choice(_WELL_KNOWN)
    if not found or other.lower() in all_text(true.paper).lower():
        return None
    return with_replaced(true, random.choice(found), other)


def cause_turned(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "A causes B." -> "B causes A."."""
    match = _CAUSED.match(true.sentence)
    if not match or HEDGED.search(true.sentence):
        return None
    effect = match["b"]
    return if_changed(true, f"{effect[0].upper()}{effect[1:]} {match['verb']} {lowered(match['a'])}.")


def finding_denied(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "shows that" -> "could not confirm that"."""
    match = _FOUND.search(true.sentence)
    return with_replaced(true, match, "could not confirm that") if match and not HEDGED.search(true.sentence) else None


def far_from(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "is" -> "is far from"."""
    match = _IS.search(true.sentence)
    if not match or HEDGED.search(true.sentence):
        return None
    return with_replaced(true, match, f"{match.group()} far from")


def moved_in_a_frame(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """Any other paper is said to report it."""
    other = random.choice(others)
    text = f"The authors of {other.label} report the following: {true.sentence}"
    return Statement(other, text) if is_foreign_to(true.sentence, other) else None


def invented_end(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """A short addition that no abstract holds."""
    if not true.sentence.endswith("."):
        return None
    return if_changed(true, f"{true.sentence.rstrip('.')}, {random.choice(_ENDS)}.")


def invented_opening(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """A circumstance that no abstract holds comes first."""
    return if_changed(true, f"{random.choice(_OPENINGS)}{lowered(true.sentence)}")


def proposed_by_nobody(true: Statement, random: Random) -> str | None:
    """As in "We propose a method that ..." -> "A method is proposed that ..."."""
    if not (match := _PROPOSED.match(true.sentence)):
        return None
    return f"{match['what'][0].upper()}{match['what'][1:]} is {_PAST[match['verb']]}{match['rest']}"


def without_intensifiers(true: Statement, random: Random) -> str | None:
    """As in "significantly better" -> "better"."""
    return _other(true, _INTENSIFIER.sub("", true.sentence))


def without_parentheses(true: Statement, random: Random) -> str | None:
    """As in "three metrics (A, B, C)" -> "three metrics"."""
    return _other(true, _PARENTHESIS.sub("", true.sentence))


def without_its_end(true: Statement, random: Random) -> str | None:
    """As in "A does B, while C does D." -> "A does B."."""
    rest = _TRAILING.sub(".", true.sentence)
    return _other(true, rest) if len(rest.split()) >= _FEWEST_WORDS else None


def with_contractions(true: Statement, random: Random) -> str | None:
    """As in "does not" -> "doesn't"."""
    text = true.sentence
    for full, short in _CONTRACTED:
        text = full.sub(short, text)
    return _other(true, text)


NOW_KNOWN: dict[str, tuple[Pattern, ...]] = {"swap": (cause_turned,), "negation": (far_from,)}
MUTATIONS: dict[str, tuple[Pattern, ...]] = {
    "number": (number_doubled,),
    "name": (well_known_name,),
    "moved": (moved_in_a_frame,),
    "negation": (finding_denied,),
    "clause": (invented_end, invented_opening),
}
PARAPHRASES: tuple[Paraphrase, ...] = (
    proposed_by_nobody,
    without_intensifiers,
    without_parentheses,
    without_its_end,
    with_contractions,
)


def _other(true: Statement, sentence: str) -> str | None:
    return sentence if sentence != true.sentence else None
