"""Ways to make a true sentence false, each a small function that gives None where it does not apply.

`KNOWN` could be looked at while the rules of the check were written, `HELD_OUT` only as totals. A sentence that might
still be true is not made: a new number or name stands nowhere in the abstract, what is exchanged stands on two sides of
a comparison, what is moved to another paper holds words that this one has not, what is denied is neither hedged nor
denied already.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random

from assistant.verification.terms import numbers_in, plain_number
from assistant.wording import content_stems
from benchmarks.truths import Statement, statements_of
from vectorstore.markup import readable
from vectorstore.names import FIELD_ABBREVIATIONS, looks_like_name
from vectorstore.types import Paper

Pattern = Callable[[Statement, Sequence[Paper], Random], Statement | None]
"""A true statement and the other papers -> a false one."""

_NUMBER = re.compile(r"(?<![\w.,/-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w]*[-/]\w)(?![.,]\d)")
_NAME = re.compile(r"(?<![\w-])[^\W_][\w-]*[\w+]")
_COMPARISON = re.compile(
    r"\b(?:outperforms?|outperformed|outperforming|surpass(?:es|ed)?|exceeds?|beats?|than|compared (?:to|with)|unlike|"
    r"instead of|rather than)\b"
)
_COMPARED = re.compile(
    r"^(?P<a>[^,;:]{3,80}?) (?P<verb>(?:(?:significantly|consistently|substantially) )?"
    r"(?:outperforms?|surpass(?:es)?|exceeds?|beats?)|(?:is|are) [\w-]+er than|(?:is|are) more [\w-]+ than) "
    r"(?P<b>[^,;:]{3,80}?)(?P<rest>,? (?:by|on|in|across|for|at|with|when|while|and) .*|\.)$"
)
HEDGED = re.compile(
    r"\b(?:may|might|can|could|not|no|nor|neither|never|without|whether|if|unless|unclear|cannot|fails?|lacks?|rarely|"
    r"hardly|few|little|unlikely|nothing|none|only)\b|n['’]t\b",
    re.IGNORECASE,
)
_TO_BE = re.compile(r"(?<= )(?:is|are|was|were|has been|have been)(?= \w)")
_DENIABLE = (
    "outperform improve achieve reduce increase require enable provide show demonstrate suggest decrease prevent "
    "surpass lead allow introduce propose present support outperform capture exhibit yield affect promote inhibit"
).split()
_DENIED_VERB = re.compile(rf"\b(?P<verb>{'|'.join(_DENIABLE)})(?P<s>s?)\b(?! of)(?=\s\w)")
_DENIALS = [
    (
        re.compile(r"\b(does|do|did|is|are|was|were|has|have|will|should|would|could) not\b(?! only| necessarily)"),
        r"\1",
    ),
    (re.compile(r"\bcannot\b"), "can"),
    (re.compile(r"\bwithout\b"), "with"),
    (
        re.compile(
            r"\bno (?=significant|additional|evidence|effect|difference|change|need|training|prior|access|extra)"
        ),
        "",
    ),
]
_LACKS = [
    (re.compile(r"\bfails? to\b"), "managed to"),
    (re.compile(r"\bfailed to\b"), "managed to"),
    (re.compile(r"\blacks\b"), "has"),
    (re.compile(r"\black\b(?! of)"), "have"),
    (re.compile(r"\b(?:rarely|seldom)\b"), "often"),
    (re.compile(r"\bunable to\b"), "able to"),
    (re.compile(r"\b(avoids?|avoiding|eliminates?|eliminating) (?=the |any )"), "causing "),
]
_RANGE = re.compile(r"(?P<a>\d+(?:\.\d+)?)(?P<unit>%?)(?P<to>\s?[-–]\s?| to | and )(?P<b>\d+(?:\.\d+)?)")
_BETWEEN = re.compile(r"\b(?:from|between|of|ranging from|range) $|\($")
_FLIPS = "increase decrease higher lower improve degrade larger smaller reduce increase more less better worse".split()
_OTHER_FLIPS = (
    "stable unstable,simple complex,similar different,before after,cheap expensive,"
    "supervised unsupervised,efficient inefficient,robust fragile,necessary unnecessary,accelerates slows,"
    "accurate inaccurate,discrete continuous,linear nonlinear,homogeneous heterogeneous,static dynamic,"
    "convex non-convex,lower upper,consistent inconsistent,explicit implicit,effective ineffective,"
    "labeled unlabeled,symmetric asymmetric,common rare,active inactive"
)
_WIDENED = [
    (re.compile(r"\b(?:most|some|many|several) (?=\w+s\b)", re.IGNORECASE), "all "),
    (re.compile(r"\b(?:often|usually|sometimes|typically|generally|frequently)\b", re.IGNORECASE), "always"),
    (re.compile(r"\b(?:may|might|could) (?=\w)"), "will always "),
    (re.compile(r"\bpartially\b|\bpartly\b"), "completely"),
]
_UNITS = {
    "%": "x", "x": "%", "×": "%", "GB": "MB", "B": "M", "M": "B", "K": "M", "k": "M", "million": "billion",
    "billion": "million", "thousand": "million", "years": "months", "days": "years", "months": "days",
    "hours": "seconds", "minutes": "hours", "weeks": "years", "mg": "kg", "patients": "hospitals", "ms": "minutes",
    "bits": "bytes", "tasks": "languages", "datasets": "languages", "points": "times",
}  # fmt: skip
_UNIT = re.compile(rf"(?<=\d)(?P<space>[ -]?)(?P<unit>{'|'.join(map(re.escape, _UNITS))})(?![\w])")
_SPELLED = "two three four five six seven eight nine ten twelve".split()
_SPELLED_NUMBER = re.compile(rf"\b(?:{'|'.join(_SPELLED)})\b(?!-)")
_YEAR = re.compile(r"(?<![\w.,-])(?:19[5-9]\d|20[0-2]\d)(?![\w.,-]\w)")
_OWN_SUBJECT = re.compile(
    r"^(?:We|Our (?:proposed )?(?:method|approach|model|framework|algorithm|system|results))\b(?! also)"
)
_INVENTED_CLAUSES = (
    "and it runs in real time on mobile phones",
    "and it was tested in clinical practice at twelve hospitals",
    "which also halves the electricity bill of the data center",
    "and the source code is written in Rust",
    "while human experts preferred it in a blind survey",
    "and it needs no labelled examples in Chinese",
    "which the authors verified on satellite images of Europe",
    "because the optimizer was restarted every night",
    "and the gains vanish for speech recognition",
    "as confirmed by a survey among software engineers",
)
_MIN_FOREIGN = 3
"""Words of a moved claim that the other abstract does not have."""


def number_changed(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """Another digit in one number."""
    if not (match := _one_of(number_matches(true.sentence), random)):
        return None
    digits = [at for at, char in enumerate(match.group()) if char.isdigit()]
    at = random.choice(digits)
    changed = match.group()[:at] + random.choice("123456789".replace(match.group()[at], "")) + match.group()[at + 1 :]
    return with_number(true, match, changed)


def names_swapped(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """Two names exchanged that stand before and behind a comparison."""
    if not (comparison := _COMPARISON.search(true.sentence)):
        return None
    names = name_matches(true.sentence)
    before = [name for name in names if name.end() <= comparison.start()]
    behind = [name for name in names if name.start() >= comparison.end()]
    if not before or not behind or before[-1].group() == behind[0].group():
        return None
    return _exchanged(true, before[-1], behind[0])


def negation_added(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "is" -> "is not"."""
    match = _TO_BE.search(true.sentence)
    if not match or HEDGED.search(true.sentence) or true.sentence.endswith("?"):
        return None
    words = match.group().split()
    return with_replaced(true, match, " ".join([words[0], "not", *words[1:]]))


def negation_removed(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "does not" -> "does", "without" -> "with"."""
    return _first_rewritten(true, _DENIALS)


def range_widened(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "from 5 to 10" -> "from 2 to 30"."""
    for match in _RANGE.finditer(true.sentence):
        low, high = match["a"], match["b"]
        is_range = float(low) < float(high) and (
            match["to"].strip() in "-–" or _BETWEEN.search(true.sentence[: match.start()])
        )
        wide = _with_digits(low, float(low) * 0.4), _with_digits(high, float(high) * 3)
        if is_range and not {plain_number(number) for number in wide} & numbers_in(all_text(true.paper)):
            return with_replaced(true, match, f"{wide[0]}{match['unit']}{match['to']}{wide[1]}")
    return None


def moved_to_another_paper(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """Any other paper is cited."""
    other = random.choice(others)
    return Statement(other, true.sentence) if is_foreign_to(true.sentence, other) else None


def invented_clause(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """A clause that no abstract holds comes behind the sentence."""
    return _with_clause(true, random.choice(_INVENTED_CLAUSES))


def direction_flipped(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "increases" -> "decreases"."""
    if HEDGED.search(true.sentence):
        return None
    flips = dict(zip(_FLIPS[::2], _FLIPS[1::2], strict=True)) | dict(zip(_FLIPS[1::2], _FLIPS[::2], strict=True))
    match = re.search(rf"(?<![\w-])(?P<word>{'|'.join(flips)})(?P<end>s|d|ed)?\b(?! bound)", true.sentence)
    if not match:
        return None
    flipped = flips[match["word"]]
    ending = {"d": "ed", "ed": "ed", "s": "s"}.get(match["end"] or "", "")
    return with_replaced(true, match, flipped.removesuffix("e") + ending if ending == "ed" else flipped + ending)


def name_replaced(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """A name of another paper stands in place of one."""
    match = _one_of(name_matches(true.sentence), random)
    theirs = [name.group() for name in name_matches(readable(random.choice(others).abstract))]
    if not match or not theirs or (name := random.choice(theirs)).lower() in all_text(true.paper).lower():
        return None
    return with_replaced(true, match, name)


def number_from_elsewhere(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """A number of another sentence of the abstract stands in place of one."""
    match = _one_of(number_matches(true.sentence), random)
    here = numbers_in(true.sentence)
    there = [number.group() for number in number_matches(readable(true.paper.abstract))]
    there = [number for number in there if plain_number(number) not in here and not _YEAR.fullmatch(number)]
    if not match or not there or _YEAR.fullmatch(match.group()):
        return None
    return with_replaced(true, match, random.choice(there))


def numbers_swapped(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """Two numbers of the sentence exchanged, unless they are items of one list."""
    numbers = number_matches(true.sentence)
    for first, second in pairwise(numbers):
        between = true.sentence[first.end() : second.start()]
        is_list = re.fullmatch(r"[\s%xBMKGk]*(?:,|and|or|to|vs\.?|-|–|\s)*\s*", between) is not None
        if not is_list and len(between) > 8 and first.group() != second.group():
            return _exchanged(true, first, second)
    return None


def decimal_shifted(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "39.63" -> "3.963", "80" -> "800"."""
    if not (match := _one_of(number_matches(true.sentence), random)) or "," in match.group():
        return None
    whole, point, part = match.group().partition(".")
    shifted = f"{whole[:-1] or '0'}.{whole[-1]}{part}" if point else f"{whole}0"
    return with_number(true, match, shifted)


def unit_changed(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "5%" -> "5x", "7B" -> "7M"."""
    if not (match := _one_of(list(_UNIT.finditer(true.sentence)), random)):
        return None
    number = re.search(r"[\d.,]+$", true.sentence[: match.start()])
    changed = f"{match['space']}{_UNITS[match['unit']]}"
    if not number or f"{number.group()}{changed}" in all_text(true.paper):
        return None
    return with_replaced(true, match, changed)


def spelled_number_changed(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "three" -> "seven"."""
    match = _one_of(list(_SPELLED_NUMBER.finditer(true.sentence)), random)
    held = numbers_in(all_text(true.paper))
    free = [word for word in _SPELLED if not numbers_in(word) & held]
    return with_replaced(true, match, random.choice(free)) if match and free else None


def year_changed(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "2009" -> "2013"."""
    if not (match := _one_of(list(_YEAR.finditer(true.sentence)), random)):
        return None
    return with_number(true, match, str(int(match.group()) + random.choice((-7, -4, -1, 1, 4, 7))))


def name_altered(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """Another number in a name: "GPT-4" -> "GPT-7"."""
    numbered = [name for name in name_matches(true.sentence) if re.search(r"\d", name.group())]
    if not (match := _one_of(numbered, random)):
        return None
    digit = re.search(r"\d", match.group())
    assert digit is not None
    changed = match.group()[: digit.start()] + str((int(digit.group()) + 3) % 10) + match.group()[digit.end() :]
    return None if changed.lower() in all_text(true.paper).lower() else with_replaced(true, match, changed)


def comparison_turned(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "A outperforms B" -> "B outperforms A"."""
    match = _COMPARED.match(true.sentence)
    if not match or HEDGED.search(true.sentence):
        return None
    a, b = match["a"], match["b"]
    return if_changed(true, f"{b[0].upper()}{b[1:]} {match['verb']} {lowered(a)}{match['rest']}")


def verb_denied(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "improves" -> "fails to improve"."""
    match = _DENIED_VERB.search(true.sentence)
    if not match or HEDGED.search(true.sentence) or re.search(r"\b(?:to|can|will)\s$", true.sentence[: match.start()]):
        return None
    return with_replaced(true, match, f"{'fails' if match['s'] else 'fail'} to {match['verb']}")


def whole_denied(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "It is not the case that ..."."""
    if HEDGED.search(true.sentence) or true.sentence.endswith("?"):
        return None
    return if_changed(true, f"It is not the case that {lowered(true.sentence)}")


def lack_removed(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "fails to" -> "managed to", "lacks" -> "has"."""
    return _first_rewritten(true, _LACKS)


def moved_to_the_nearest_paper(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """Of fifty other papers, the one that shares most words with the sentence is cited."""
    wanted = content_stems(true.sentence)
    few = random.sample(list(others), min(50, len(others)))
    nearest = max(few, key=lambda paper: len(wanted & content_stems(readable(paper.abstract))))
    return Statement(nearest, true.sentence) if is_foreign_to(true.sentence, nearest) else None


def given_to_another_system(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """The paper's own name gives way to that of another paper, which is cited, or not."""
    own, other = true.paper.label, random.choice(others)
    if own not in true.sentence or not looks_like_name(own) or not looks_like_name(other.label) or " " in other.label:
        return None
    changed = true.sentence.replace(own, other.label)
    paper = true.paper if random.random() < 0.5 else other
    if paper is other and not is_foreign_to(true.sentence, other):
        return None
    return Statement(paper, changed) if other.label.lower() not in all_text(true.paper).lower() else None


def given_to_earlier_work(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "We propose" -> "Earlier methods propose"."""
    match = _OWN_SUBJECT.match(true.sentence)
    return with_replaced(true, match, "Earlier methods") if match else None


def clause_of_another_paper(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """A short sentence of another paper comes behind the sentence."""
    short = [other.sentence for other in statements_of(random.choice(others)) if len(other.sentence.split()) <= 16]
    if not short or not is_foreign_to(clause := random.choice(short), true.paper):
        return None
    return _with_clause(true, f"and {lowered(clause.rstrip('.'))}")


def other_direction_flipped(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "stable" -> "unstable"."""
    if HEDGED.search(true.sentence):
        return None
    pairs = [pair.split() for pair in _OTHER_FLIPS.split(",")]
    flips = dict(pairs) | {b: a for a, b in pairs}
    match = re.search(rf"(?<![\w-])(?:{'|'.join(flips)})(?![\w-])", true.sentence)
    if not match or flips[match.group()] in all_text(true.paper):
        return None
    return with_replaced(true, match, flips[match.group()])


def scope_widened(true: Statement, others: Sequence[Paper], random: Random) -> Statement | None:
    """As in "most" -> "all", "often" -> "always"."""
    if re.search(r"\b(?:all|always|as many|as some|not)\b", true.sentence):
        return None
    return _first_rewritten(true, _WIDENED)


KNOWN: dict[str, tuple[Pattern, ...]] = {
    "number": (number_changed, range_widened, unit_changed),
    "name": (name_replaced,),
    "swap": (names_swapped,),
    "moved": (moved_to_another_paper, given_to_earlier_work),
    "negation": (negation_added, negation_removed),
    "direction": (direction_flipped,),
    "clause": (invented_clause,),
}
"""Patterns by what they change."""
HELD_OUT: dict[str, tuple[Pattern, ...]] = {
    "number": (decimal_shifted, spelled_number_changed, year_changed, number_from_elsewhere),
    "name": (name_altered,),
    "swap": (comparison_turned, numbers_swapped),
    "moved": (moved_to_the_nearest_paper, given_to_another_system),
    "negation": (verb_denied, whole_denied, lack_removed),
    "direction": (other_direction_flipped,),
    "clause": (clause_of_another_paper,),
    "scope": (scope_widened,),
}
"""Patterns of which only totals were seen when the rules were written."""


def number_matches(text: str) -> list[re.Match[str]]:
    return list(_NUMBER.finditer(text))


def name_matches(text: str) -> list[re.Match[str]]:
    """Words written as names; abbreviations of the field and of plural words are none."""
    return [
        match
        for match in _NAME.finditer(text)
        if looks_like_name(match.group()) and match.group().lower() not in FIELD_ABBREVIATIONS
    ]


def _one_of(matches: Sequence[re.Match[str]], random: Random) -> re.Match[str] | None:
    return random.choice(matches) if matches else None


def all_text(paper: Paper) -> str:
    return f"{readable(paper.abstract)} {paper.title or ''} {paper.label} {paper.place}"


def if_changed(true: Statement, sentence: str) -> Statement | None:
    return Statement(true.paper, sentence) if sentence not in all_text(true.paper) else None


def with_replaced(true: Statement, match: re.Match[str], words: str) -> Statement | None:
    return if_changed(true, true.sentence[: match.start()] + words + true.sentence[match.end() :])


def _exchanged(true: Statement, first: re.Match[str], second: re.Match[str]) -> Statement | None:
    text = true.sentence
    between = text[first.end() : second.start()]
    return if_changed(true, text[: first.start()] + second.group() + between + first.group() + text[second.end() :])


def with_number(true: Statement, match: re.Match[str], number: str) -> Statement | None:
    """`number` in place of one, when the paper has it nowhere."""
    return None if plain_number(number) in numbers_in(all_text(true.paper)) else with_replaced(true, match, number)


def _with_digits(like: str, value: float) -> str:
    """`value` with as many decimals as `like` has."""
    return f"{value:.{len(like.partition('.')[2])}f}"


def _first_rewritten(true: Statement, rules: Sequence[tuple[re.Pattern[str], str]]) -> Statement | None:
    for old, new in rules:
        if match := old.search(true.sentence):
            return with_replaced(true, match, match.expand(new))
    return None


def _with_clause(true: Statement, clause: str) -> Statement | None:
    return if_changed(true, f"{true.sentence.rstrip('.')}, {clause}.") if true.sentence.endswith(".") else None


def is_foreign_to(sentence: str, paper: Paper) -> bool:
    return len(content_stems(sentence) - content_stems(all_text(paper))) >= _MIN_FOREIGN


def lowered(sentence: str) -> str:
    """`sentence` to go on with inside another; a name keeps its capital."""
    first = sentence.split()[0]
    return sentence if looks_like_name(first) or first == "I" else sentence[0].lower() + sentence[1:]
