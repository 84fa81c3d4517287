"""Ways to say a true sentence a little differently, each a small function that gives None where it does not apply.

`KNOWN` could be looked at while the rules of the check were written, `HELD_OUT` only as totals.
"""

import re
from collections.abc import Callable, Mapping
from random import Random

from benchmarks.truths import Statement
from vectorstore.names import looks_like_name

Paraphrase = Callable[[Statement, Random], str | None]
"""A true statement -> another wording of it."""

_FIRST_PERSON = [("We", "The authors"), ("we", "the authors"), ("Our", "Their"), ("our", "their")]
_SYNONYMS = (
    "demonstrate show,demonstrates shows,propose introduce,proposes introduces,improves enhances,utilizes uses,"
    "leverages uses,reduces lowers,outperforms surpasses,achieves reaches,employ use,investigate study,enables allows,"
    "obtain get,requires needs,numerous many,substantially significantly"
)
_OTHER_SYNONYMS = (
    "indicate suggest,indicates suggests,develop devise,mitigate alleviate,mitigates alleviates,novel new,"
    "evaluate assess,examine investigate,accurately precisely,rapidly quickly,crucial vital,challenging difficult,"
    "facilitates eases,primarily mainly,simultaneously concurrently,generate produce,identify find,construct build"
)
_CONNECTIVES = (
    "However,=Yet; Furthermore,=Moreover,; Moreover,=In addition,; due to=because of; in order to=to; such as=like; "
    "as well as=and; while=whereas; Therefore,=Hence,; since=because; Additionally,=Also,; prior to=before"
)
_BRITISH = (
    "optimiz optimis,generaliz generalis,behavior behaviour,modeling modelling,analyz analys,labeled labelled,"
    "color colour,tumor tumour,minimiz minimis,maximiz maximis,characteriz characteris,utiliz utilis,recogniz recognis"
)
_PERCENT = re.compile(r"(?<=\d)\s?%(?! point)")
_PER_CENT = re.compile(r"(?<=\d) percent\b(?!age)")
_ADVERB = re.compile(
    r"^(?:Furthermore|Moreover|Additionally|In addition|Finally|Specifically|In particular|Notably|Importantly|"
    r"Interestingly|Overall|To this end|In this paper|In this work|Here), (?=\w)"
)
_LEADING_PHRASE = re.compile(
    r"^(?P<phrase>(?:In|On|For|With|Across|Under|At|By|To|During) [^,;:()]{5,60}), (?P<rest>[^,;:]{20,200})\.$"
)
_TRAILING_PHRASE = re.compile(r"^(?P<rest>[^,;:]{20,200}?)(?P<phrase> by \w+ing [^,;:()]{5,60})\.$")
_OUR_METHOD = re.compile(r"\b[Oo]ur (?:proposed )?(?:method|approach|model|framework)\b")
_BRACKETED = re.compile(r" \([A-Z][\w-]{1,9}\)")
_BIG_NUMBER = re.compile(r"(?<![\w.,])(\d{1,3}),(\d{3})(?![\d,])|(?<![\w.,:-])([1-9]\d?)(\d{3})(?![\w.,/-]\w|\w)")
_SPELLED = "two three four five six seven eight nine ten eleven twelve".split()
_SMALL_NUMBER = re.compile(rf"(?<= )(?:{'|'.join(_SPELLED)})(?= [a-z]+s\b)")
_FRAMES = ("The paper shows that ", "According to the paper, ", "The authors report that ")
_OTHER_FRAMES = ("The abstract states that ", "The study finds that ", "As the authors write, ", "It is shown that ")


def in_a_frame(true: Statement, random: Random) -> str | None:
    """As in "The paper shows that ..."."""
    return _framed(true.sentence, random.choice(_FRAMES))


def of_the_authors(true: Statement, random: Random) -> str | None:
    """As in "we" -> "the authors"."""
    return _changed(true.sentence, _of_the_authors(true.sentence))


def with_synonyms(true: Statement, random: Random) -> str | None:
    """As in "demonstrate" -> "show"."""
    return _changed(true.sentence, _with_words(true.sentence, _pairs(_SYNONYMS)))


def percent_spelled(true: Statement, random: Random) -> str | None:
    """As in "5%" -> "5 percent", and back."""
    text = true.sentence
    return _changed(text, _PER_CENT.sub("%", text) if _PER_CENT.search(text) else _PERCENT.sub(" percent", text))


def with_other_connectives(true: Statement, random: Random) -> str | None:
    """As in "However," -> "Yet"."""
    text = true.sentence
    for old, new in (pair.strip().split("=") for pair in _CONNECTIVES.split(";")):
        text = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, text)
    return _changed(true.sentence, text)


def without_opening(true: Statement, random: Random) -> str | None:
    """As in "Furthermore, we" -> "We"."""
    rest = _ADVERB.sub("", true.sentence)
    return _changed(true.sentence, rest[0].upper() + rest[1:])


def with_other_synonyms(true: Statement, random: Random) -> str | None:
    """As in "mitigate" -> "alleviate"."""
    return _changed(true.sentence, _with_words(true.sentence, _pairs(_OTHER_SYNONYMS)))


def in_another_frame(true: Statement, random: Random) -> str | None:
    """As in "The study finds that ..."."""
    return _framed(true.sentence, random.choice(_OTHER_FRAMES))


def with_its_phrase_moved(true: Statement, random: Random) -> str | None:
    """As in "On A, B does C." -> "B does C on A.", and "A does B by doing C." -> "By doing C, A does B."."""
    if match := _LEADING_PHRASE.match(true.sentence):
        return f"{match['rest'][0].upper()}{match['rest'][1:]} {_lowered(match['phrase'])}."
    if match := _TRAILING_PHRASE.match(true.sentence):
        phrase = match["phrase"].strip()
        return f"{phrase[0].upper()}{phrase[1:]}, {_lowered(match['rest'])}."
    return None


def in_british_spelling(true: Statement, random: Random) -> str | None:
    """As in "behavior" -> "behaviour"."""
    text = true.sentence
    for american, british in (pair.split() for pair in _BRITISH.split(",")):
        text = re.sub(rf"\b{american}", british, text)
    return _changed(true.sentence, text)


def without_its_abbreviation(true: Statement, random: Random) -> str | None:
    """As in "large language models (LLMs)" -> "large language models"."""
    return _changed(true.sentence, _BRACKETED.sub("", true.sentence))


def with_numbers_written_otherwise(true: Statement, random: Random) -> str | None:
    """As in "1,520" -> "1520", "three tasks" -> "3 tasks", and back for large ones."""
    text = _SMALL_NUMBER.sub(lambda match: str(_SPELLED.index(match.group()) + 2), true.sentence)
    text = _BIG_NUMBER.sub(lambda match: f"{match[1]}{match[2]}" if match[1] else f"{match[3]},{match[4]}", text)
    return _changed(true.sentence, text)


def named_by_its_label(true: Statement, random: Random) -> str | None:
    """As in "Our method" -> the paper's own name."""
    label = true.paper.label
    if not looks_like_name(label) or " " in label:
        return None
    return _changed(
        true.sentence, re.sub(r"\b[Oo]ur (?:proposed )?(?:method|approach|model|framework)\b", label, true.sentence)
    )


KNOWN: tuple[Paraphrase, ...] = (
    in_a_frame,
    in_another_frame,
    with_its_phrase_moved,
    without_its_abbreviation,
    of_the_authors,
    with_synonyms,
    percent_spelled,
    with_other_connectives,
    without_opening,
)
HELD_OUT: tuple[Paraphrase, ...] = (
    with_other_synonyms,
    in_british_spelling,
    with_numbers_written_otherwise,
    named_by_its_label,
)


def _framed(sentence: str, frame: str) -> str | None:
    without = _ADVERB.sub("", sentence)
    bare = without[0].upper() + without[1:]
    return None if sentence.endswith("?") else frame + _lowered(_of_the_authors(bare))


def _of_the_authors(sentence: str) -> str:
    return _with_words(sentence, dict(_FIRST_PERSON))


def _with_words(sentence: str, words: Mapping[str, str]) -> str:
    pattern = rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])"
    return re.sub(pattern, lambda match: words[match.group()], sentence)


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split() for pair in text.split(","))


def _changed(old: str, new: str) -> str | None:
    return new if new != old else None


def _lowered(sentence: str) -> str:
    first = sentence.split()[0]
    return sentence if looks_like_name(first) or first == "I" else sentence[0].lower() + sentence[1:]
