"""Numbers: how a question asks for one, and whether an abstract tells it."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from assistant.evidence.attributes import AUXILIARY, words
from assistant.evidence.numbers import NUMBER, values_in
from assistant.wording import any_of, content_stems, pattern, stem, stems
from vectorstore.names import TOKEN

_NEAR = 7
"""Words between a number and what it is the number of, or between a name and what it is the name of."""

_AFTER_NOUN = any_of("of in on at for from per to that after before during when with by took takes? needs? uses?")
_NOUN_END = rf"(?= {AUXILIARY}\b| \w+ed\b| {_AFTER_NOUN}\b|[,?.;]|$)"
_HOW_MANY = pattern(
    rf"\b(?:how many|what(?:'s| is| was) the (?:\w+ )?number of) (?:of (?:the|these|those) |(?:cases|instances) of )?"
    rf"(?P<noun>.+?){_NOUN_END}"
)
_LOOSELY_COUNTED = stems("time fold percent percentage point order thing way kind type bit")
"""What is counted without being named beside the number: "10 times faster" may be "a 10x speed-up"."""
_SURELY_NOUNS = 2
"""Words; in a longer phrase the second or third may be a verb."""
_LONGEST_COUNTED = 4
"""Words; what follows a longer phrase is more than the thing counted."""
_ALIKE = {
    stem(word): stem(group.split()[0])
    for group in (
        "people participants users humans volunteers players persons patients subjects individuals respondents",
        "models LLMs MLLMs",
        "datasets sets benchmarks corpora",
        "olympiads competitions contests exams",
        "dialogues conversations",
        "components modules parts",
        "expressions regexes",
        "medals golds",
        "animals mice rats",
        "minutes min mins",
        "hours h hr hrs",
        "seconds s sec",
        "days d",
        "weeks wk wks",
        "months mo",
        "years yr yrs y",
        "women woman females female girls girl",
        "men man males male boys boy",
    )
    for word in group.split()
}
"""Words for the same thing, when it is counted."""
_PERSONS = stems("women men children infants newborns adults adolescents students residents mothers volunteers cases")
"""Who may be meant when people are counted."""
_NUMBER_BEHIND = pattern(r"^\S*(?:(?: \S+){0,2} ?[(\[](?:\w+, )?n ?= ?\d| of \d)")
"""A number behind what it counts: "participants (n = 368)", "casts of 230 patients"."""
_HAPPENS = any_of(
    "relapsed recovered responded developed required underwent suffered experienced refused withdrew failed died "
    "took stopped used needed received chose"
)
"""What happens to some of a group."""
_PEOPLE = stem("people")
_OF_A_GROUP = pattern(r"\bhow many (?:of|cases)\b")
_SHARE = pattern(r"\d[\d.]*\s?\\?%")
"""No count, unless it is asked how many of a group there are."""
_BRACKETS = pattern(r"\([^()]*\)")
_OF_THOSE = pattern(
    rf"\b(?:how many|what {any_of('share proportion percentage percent fraction part')}) of (?P<whole>.+?) "
    rf"(?:{any_of('were was are had have got')}(?! to\b) |(?={_HAPPENS}\b))(?P<part>.+?)"
    rf"(?= {any_of('in on at for from with by than after before during when')}\b|[,?.;]|$)"
)
"""Counts those of a group that are, or have, something."""
_SAYS_NOTHING = stems(
    "found include enrol recruit study analyse analyze examine test evaluate involve compare perform report measure "
    "take part consider collect assess train try identify observe need"
)
"""What is said of all that take part, so that it singles out nobody."""

_AMOUNT = pattern(
    rf"\bhow {any_of('much large big high low far long often')}\b"
    rf"|\bwhat {any_of('percentage percent fraction share proportion ratio factor amount')}\b"
    rf"|\bwhat(?:'s| is| was)? (?:the )?(?:[\w-]+ )?"
    rf"{any_of('average maximum minimum largest smallest highest lowest')}\b"
)
_VALUE = pattern(
    rf"\b(?:which|what)(?:'s| is| was)? (?:the )?(?P<noun>(?:(?!(?:{AUXILIARY}|the|an?|of)\b)[\w-]+ ){{0,3}}?"
    + any_of(
        "rates? width ratio length depth rank scores? saving overhead latency time budget accuracy interval "
        r"frequency improvement gain speed-?up reduction value_of_\w+ levels? concentrations? coefficients? "
        "percentages? prevalence incidence mortality sensitivity specificity weight height pressure volume thickness "
        "strength survival"
    )
    + rf"){_NOUN_END}"
    rf"|\b(?:which|what) (?:is|was|were|are) the (?:mean|median|average|total|baseline|peak) (?P<mean>.+?){_NOUN_END}"
    rf"|\bhow {any_of('high low large big strong thick heavy')} {any_of('is was were are')} (?:the )?"
    rf"(?P<size>[\w-]+(?: [\w-]+){{0,3}}?){_NOUN_END}"
)
"""Asks for the value of a quantity: "What average pass rate ...", "What was the mean ...", "How high was ..."."""
_CHANGES = stems("improvement gain reduction increase decrease saving")
_CHANGE = pattern(rf"\d ?\\?%|\d ?[x×]|\b{any_of('points? fold times magnitude percent twice half')}\b")
"""Quantities that are told without being named, and how: "outperforms it by 20%"."""
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
    if len(nouns) > _SURELY_NOUNS and nouns[-1] not in held:
        return False
    counted = {next((noun for noun in reversed(nouns) if noun in held), nouns[-1])}  # a verb may stand behind the noun
    counted |= set(nouns[:2]) if len(nouns) > _SURELY_NOUNS else set()
    counted |= _PERSONS if _PEOPLE in counted else set()
    shares = bool(_OF_A_GROUP.search(asked))
    return any(_counts(sentence if shares else _SHARE.sub("", sentence), counted) for sentence in told.sentences)


def _counts(sentence: str, nouns: Set[str]) -> bool:
    tokens = sentence.split()
    places = [at for at, token in enumerate(tokens) if nouns & {_counted(part) for part in re.split(r"\W+", token)}]
    return any(_number_before(tokens, at) or _NUMBER_BEHIND.search(" ".join(tokens[at : at + _NEAR])) for at in places)


def _number_before(tokens: Sequence[str], at: int) -> bool:
    before = _BRACKETS.sub("", " ".join(tokens[max(0, at - _NEAR) : at]))
    return bool(NUMBER.search(re.split(r"[:;)] ", f"{before} ")[-1]))


def tells_part(asked: str, told: Told) -> bool:
    """Whether a number stands near what is said of a part, if `asked` is how many of a group are or have something."""
    match = _OF_THOSE.search(asked)
    if not match:
        return True
    wanted = content_stems(match["part"]) - content_stems(" ".join([match["whole"], *told.own_names])) - _SAYS_NOTHING
    return not wanted or any(_number_near(wanted, sentence) for sentence in told.sentences)


def _counted(word: str) -> str:
    return _ALIKE.get(stem(word), stem(word))


def alike(words: Set[str]) -> Set[str]:
    """The stems, one for all words for the same thing."""
    return {_ALIKE.get(word, word) for word in words}


def quantity_in(asked: str) -> str:
    """The quantity whose value is asked for, as in "Which mean pass rate ..."; empty when there is none."""
    value = _VALUE.search(asked)
    return (value["noun"] or value["mean"] or value["size"]) if value else ""


def tells_amount(asked: str, told: Told) -> bool:
    """Whether a number stands near what it is asked of, if `asked` is an amount; for want of words, in the best."""
    units = [unit for asking, unit in _UNITS.items() if asking.search(asked)]
    quantity = quantity_in(asked)
    if not quantity and not _AMOUNT.search(asked):
        return all(unit.search(" ".join(told.best)) for unit in units)
    wanted = content_stems(quantity) if quantity else content_stems(asked) & told.stems
    if quantity and wanted & _CHANGES:
        return any(_CHANGE.search(sentence) for sentence in told.sentences)
    wanted -= content_stems(" ".join(told.own_names)) | _ASKING_AMOUNT
    return any(
        (_number_near(wanted, values_in(sentence, asked)) if wanted else NUMBER.search(sentence))
        and all(unit.search(sentence) for unit in units)
        for sentence in (told.sentences if wanted else told.best)
    )


def _number_near(wanted: Set[str], sentence: str) -> bool:
    tokens, meant = sentence.split(), alike(wanted)
    places = [at for at, token in enumerate(tokens) if alike(content_stems(token)) & meant]
    return any(NUMBER.search(" ".join(tokens[max(0, at - _NEAR) : at + _NEAR + 1])) for at in places)
