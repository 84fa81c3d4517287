"""Numbers: how a question asks for one, and whether an abstract tells it."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from assistant.evidence.attributes import AUXILIARY, words
from assistant.wording import any_of, content_stems, pattern, stem, stems
from vectorstore.names import TOKEN

NUMBER_WORD = any_of(
    "zero one two three four five six seven eight nine ten eleven twelve twenty thirty fifty dozens? hundreds? "
    "thousands? millions? single half double twice quadratically linearly exponentially orders_of_magnitude"
)
NUMBER = pattern(
    rf"(?<![\w-])(?:{NUMBER_WORD}(?![\w-])"
    r"|\d[\d.,/–-]*[⁰¹²³⁴⁵⁶⁷⁸⁹]*\s?(?:%|[x×]|[kmbt]b?|gb|bits?)?\+?(?!\w))"
)
"""A number by itself: not the 8 of "LLaMA3.1-8B", nor the one of "one-to-many"."""
_NEAR = 7
"""Words between a number and what it is the number of, or between a name and what it is the name of."""

_NOUN_END = (
    rf"(?= {AUXILIARY}\b| \w+ed\b| {any_of('of in on at for from per to that took takes? needs? uses?')}\b|[,?.;]|$)"
)
_HOW_MANY = pattern(
    rf"\b(?:how many|what(?:'s| is| was) the (?:\w+ )?number of) (?:of (?:the|these|those) )?(?P<noun>.+?){_NOUN_END}"
)
_LOOSELY_COUNTED = stems("time fold percent percentage point order thing way kind type bit")
"""What is counted without being named beside the number: "10 times faster" may be "a 10x speed-up"."""
_LONGEST_COUNTED = 4
"""Words; what follows a longer phrase is more than the thing counted."""
_ALIKE = {
    stem(word): stem(group.split()[0])
    for group in (
        "people participants users humans volunteers players persons",
        "models LLMs MLLMs",
        "datasets sets benchmarks corpora",
        "olympiads competitions contests exams",
        "dialogues conversations",
        "components modules parts",
        "expressions regexes",
        "medals golds",
    )
    for word in group.split()
}
"""Words for the same thing, when it is counted."""

_AMOUNT = pattern(
    rf"\bhow {any_of('much large big high low far long fast often')}\b"
    rf"|\bwhat {any_of('percentage percent fraction share proportion ratio factor amount')}\b"
    rf"|\bwhat(?:'s| is| was)? (?:the )?(?:[\w-]+ )?"
    rf"{any_of('average maximum minimum largest smallest highest lowest')}\b"
)
_VALUE = pattern(
    rf"\b(?:which|what)(?:'s| is| was)? (?:the )?(?P<noun>(?:(?!(?:{AUXILIARY}|the|an?|of)\b)[\w-]+ ){{0,3}}?"
    + any_of(
        "rates? width ratio length depth rank scores? saving overhead latency time budget accuracy interval "
        r"frequency improvement gain speed-?up reduction value_of_\w+"
    )
    + rf"){_NOUN_END}"
)
"""Asks for the value of a quantity: "What average pass rate ..."."""
_ASKING_AMOUNT = stems(
    "how much large big high low far long fast often exact average maximum minimum percentage fraction share"
)
_UNITS = {
    pattern(rf"\bwhat {any_of('percentage percent fraction share proportion')}\b"): pattern(
        r"%|percent|\b(?:half|third|quarter|tenth|all)\b"
    ),
    pattern(r"\bhow many (?:percentage )?points\b"): pattern(r"%|\bpoints?\b"),
    pattern(
        rf"\bhow (?:much|many times) {any_of('faster slower quicker longer')}\b"
        r"|\b(?:speeds?|sped)[ -]?up\b|\bslows? down\b"
    ): words("speed* fast* slow* latenc* time times runtime* throughput quick* accelerat* overhead"),
}
"""Amounts that are told in a certain way: how they are asked for, and what a sentence that tells one has."""


@dataclass(frozen=True)
class Told:
    """What a paper tells."""

    sentences: Sequence[str]
    best: Sequence[str]
    """The few sentences most relevant to the question."""
    own_names: Sequence[str]
    """Of the paper's system, its label first."""

    @cached_property
    def text(self) -> str:
        """All of it, the names too."""
        return " ".join([*self.sentences, *self.own_names])

    @cached_property
    def stems(self) -> Set[str]:
        """Of all its words that carry content."""
        return content_stems(self.text)


def are_near(one: re.Pattern[str], other: re.Pattern[str], sentence: str) -> bool:
    """Whether the two stand within a few words of each other in `sentence`."""
    for match in one.finditer(sentence):
        before, after = sentence[: match.start()].split()[-_NEAR:], sentence[match.end() :].split()[:_NEAR]
        if other.search(" ".join([*before, match.group(), *after])):
            return True
    return False


def tells_count(asked: str, told: Told) -> bool:
    """Whether a number stands before the thing counted, as in "17 state-of-the-art LLMs", if `asked` is how many."""
    match = _HOW_MANY.search(asked)
    if not match:
        return True
    nouns = [_counted(word) for word in TOKEN.findall(match["noun"])]
    if not 0 < len(nouns) <= _LONGEST_COUNTED or _LOOSELY_COUNTED & set(nouns):
        return any(NUMBER.search(sentence) for sentence in told.best)
    held = {_counted(word) for word in TOKEN.findall(told.text)}
    noun = next((noun for noun in reversed(nouns) if noun in held), nouns[-1])  # a verb may stand behind the noun
    return any(_counts(sentence.split(), noun) for sentence in told.sentences)


def _counts(tokens: Sequence[str], noun: str) -> bool:
    for at, token in enumerate(tokens):
        if noun in {_counted(part) for part in re.split(r"\W+", token)}:
            phrase = re.split(r"[:;)] ", " ".join(tokens[max(0, at - _NEAR) : at + 1]))[-1]
            if NUMBER.search(phrase):
                return True
    return False


def _counted(word: str) -> str:
    return _ALIKE.get(stem(word), stem(word))


def tells_amount(asked: str, told: Told) -> bool:
    """Whether a number stands near what it is asked of, if `asked` is an amount; for want of words, in the best."""
    units = [unit for asking, unit in _UNITS.items() if asking.search(asked)]
    value = _VALUE.search(asked)
    if not value and not _AMOUNT.search(asked):
        return all(unit.search(" ".join(told.best)) for unit in units)
    wanted = content_stems(value["noun"]) if value else content_stems(asked) & told.stems
    wanted -= content_stems(" ".join(told.own_names)) | _ASKING_AMOUNT
    return any(
        (_number_near(wanted, sentence) if wanted else NUMBER.search(sentence))
        and all(unit.search(sentence) for unit in units)
        for sentence in (told.sentences if wanted else told.best)
    )


def _number_near(wanted: Set[str], sentence: str) -> bool:
    tokens = sentence.split()
    places = [at for at, token in enumerate(tokens) if content_stems(token) & wanted]
    return any(NUMBER.search(" ".join(tokens[max(0, at - _NEAR) : at + _NEAR + 1])) for at in places)
