"""A sentence -> its clauses, each a list of terms: stems and numbers in one form, so that two wordings can be compared.

The lists of words hold what any paper may say, whatever it is about; none is taken from one collection.
"""

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from assistant.wording import any_of, content_stems, pattern, stem, stems

NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|(?<![A-Za-z\d.])(?:\d+(?:\.\d+)?|\.\d+)")
_SMALL_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
NUMBER_WORDS = {word: str(value) for value, word in enumerate(_SMALL_NUMBERS)} | {
    word: word
    for word in "twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half".split()
}
_TERM = re.compile(rf"(?P<number>{NUMBER.pattern})|(?P<word>[^\W\d_][\w’']*)")
_CLAUSE_ENDS = pattern(
    r"\s[-–—]+\s|---|[,;:()](?:\s(?!which)|$)|\s\((?!\w\))|\b"
    rf"{any_of('and or but while whereas yet so_that compared_to compared_with than where with')}\b"
)
_BRACKETED_WORD = re.compile(r"(?<=\w) \(([\w-]{2,})\)")
"""An abbreviation behind the words it stands for ends no clause."""
_SAME = [
    "reduce reduction lower cut decrease shrink diminish drop decline suppress minimize fewer less low",
    "increase raise grow boost gain enlarge rise high more great enhance improve improvement better superior scale",
    "outperform surpass beat exceed",
    "underperform worse degrade inferior",
    "require need demand",
    "preserve maintain keep retain stay remain",
    "leverage use employ exploit utilize apply adopt",
    "large big",
    "primary main key core",
    "select choose pick",
    "identify detect recognize",
    "remove ablate eliminate discard",
    "multiple several many various diverse",
    "extra additional",
    "sufficient enough",
    "critical crucial important essential",
    "large-scale large",
    "answer response reply",
    "contain include comprise",
    "quick fast rapid",
    "evaluate test assess measure",
    "generate produce create",
    "fail failure",
    "previous prior earlier existing",
    "recent latest",
]
"""Words of one line say the same for the purpose of finding what a sentence rests on."""
_EMPTY = stems(
    "method approach framework paper work author study technique strategy system algorithm novel new call "
    "achieve reach give yield provide get enable allow let make help lead able show demonstrate find reveal "
    "prove confirm indicate introduce propose present develop offer result experiment consistent significant "
    "substantial compare about simple well much even way bring run build under against behind within across "
    "during per toward upon down one fly how its while during before after whereas however through "
    "approximately roughly nearly almost around time hold serve act form depend follow respectively together "
    "still both though yet there do take become due thus solely mere just "
    "theory theoretical empirical analysis extensive "
    "report state note observe conclude describe explain discuss suggest mention highlight addition additionally "
    "furthermore moreover abstract accord percent percentage"
)
"""Words that say nothing of their own, or that only a reader weighs; small words are none of the terms anyway."""


@dataclass(frozen=True)
class Clause:
    """A part of a sentence between commas and the like."""

    text: str
    terms: tuple[str, ...]

    def __contains__(self, term: str) -> bool:
        return term in self.terms


def clauses_of(text: str) -> list[Clause]:
    """The clauses of `text` that hold a term."""
    text = _BRACKETED_WORD.sub(r" \1", text)
    bounds = [0, *(match.start() for match in _CLAUSE_ENDS.finditer(text)), len(text)]
    pieces = [text[start:end] for start, end in pairwise(bounds)]
    return [Clause(piece, terms) for piece in pieces if (terms := tuple(terms_of(piece)))]


def terms_of(text: str) -> list[str]:
    """Numbers, and stems of words that carry content, in order; words that say the same are one term."""
    terms = (_term(match) for match in _TERM.finditer(text))
    return [term for term in terms if term]


def is_number(term: str) -> bool:
    """Whether a term of `terms_of` is a number."""
    return term[0].isdigit()


def numbers_in(text: str) -> set[str]:
    """The numbers in `text` in one form: "1,520" is "1520", "six" is "6", "24GB" and "39.63%" are "24" and "39.63"."""
    words = {NUMBER_WORDS[word] for word in re.findall(r"[a-z]+", text.casefold()) if word in NUMBER_WORDS}
    return {plain_number(match.group()) for match in NUMBER.finditer(text)} | (words - {"1", "0"})


def plain_number(number: str) -> str:
    """A number in digits in the form in which numbers are compared."""
    number = number.replace(",", "")
    number = f"0{number}" if number.startswith(".") else number
    return number.rstrip("0").rstrip(".") if "." in number else number


def _term(match: re.Match[str]) -> str | None:
    if number := match["number"]:
        return plain_number(number)
    word = re.sub(r"['’]s$", "", match["word"].lower())
    if (number := NUMBER_WORDS.get(word)) and number not in "10":
        return number
    return _meaning(word)


@cache
def _meaning(word: str) -> str | None:
    same = stem(word)
    known = _one_for_all().get(same, same)
    return None if same in _EMPTY or not (content_stems(word) or known != same) else known


@cache
def _one_for_all() -> dict[str, str]:
    return {stem(word): line.split()[0] for line in reversed(_SAME) for word in line.split()}
