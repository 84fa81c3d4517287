"""What can be written in several ways, written in one: bounds of numbers, factors, and abbreviations."""

import re
from collections.abc import Mapping
from functools import reduce

from assistant.wording import any_of, pattern

_NUMBER = r"(?=[~≈∼]?\s?\.?\d)"
_SHARE = r"(?=[~≈∼]?\s?\.?\d[\d.,]*\s?(?:%|percent))"
_SAME = [
    (pattern(rf"(?:\b{any_of('more_than greater_than higher_than')}|>)\s?{_NUMBER}"), ">"),
    (pattern(rf"(?:\b{any_of('less_than fewer_than lower_than')}|<)\s?{_NUMBER}"), "<"),
    (pattern(rf"\b{any_of('over above')} {_SHARE}"), ">"),
    (pattern(rf"\b{any_of('under below')} {_SHARE}"), "<"),
    (pattern(r"(?<=\d)\s?×(?!\w)"), "x"),
]
_BRACKETED = re.compile(r"(?P<before>(?:[\w-]+\s+){1,7})\((?P<short>[A-Za-z]*[A-Z][A-Za-z]*[A-Z])s?\)")
_SMALL_WORDS = frozenset("of to and for the in on with by".split())


def evened(text: str) -> str:
    """`text` with signs for words before numbers."""
    return reduce(lambda evened, same: same[0].sub(same[1], evened), _SAME, text)


def abbreviated(sentence: str, passage: str, abbreviations: Mapping[str, str]) -> str:
    """`sentence` with the abbreviations of which `passage` does not say what they stand for."""
    for short, long in abbreviations.items():
        spelled = pattern(rf"(?<![\w-]){re.sub(r'[ -]', '[ -]', long)}(?=s?(?![\w-]))")
        if re.search(rf"(?<![\w-]){short}", passage) and not spelled.search(passage):
            sentence = spelled.sub(short, sentence)
    return sentence


def abbreviations_of(abstract: str, own_name: str) -> dict[str, str]:
    """What the abstract writes as "words it stands for (ABBR)"; the paper's own name is left as it is."""
    found = {}
    for match in _BRACKETED.finditer(abstract):
        short = match["short"]
        if short != own_name and (long := _long_form(match["before"].split(), short)):
            found[short] = long
    return found


def _long_form(words: list[str], short: str) -> str:
    """The last of `words` whose initials are `short`, in the singular; empty when there are none."""
    for at in reversed(range(len(words))):
        parts = [part for word in words[at:] for part in word.split("-") if part.lower() not in _SMALL_WORDS]
        if "".join(part[:1] for part in parts).lower() == short.lower():
            return re.sub(r"(?<=[^s])s$", "", " ".join(words[at:]).lower())
    return ""
