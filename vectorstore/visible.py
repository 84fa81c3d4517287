"""What a reader sees of a text. A model, a terminal or a browser takes in more: that is left out.

Left out are terminal escapes, controls, private characters, and all that Unicode shows as nothing or that turns the
order of the others: zero-width and bidirectional marks, tags, fillers, and variation selectors, which choose the look
of a character and not which one it is. Of the joiners stay those that Persian, Hindi and emoji are written with.
"""

import json
import re
import unicodedata
from functools import cache
from typing import Any

_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]{0,2000}(?:\x07|\x1b\\|\x9c)"  # title, clipboard, links
    r"|\x1b[ -/]*[0-~]?"
)
_LINE_END = re.compile(r"\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_ALL_SEEN = re.compile(r"[\t\n -~\xa0-\xac\xae-\u02ff\u0370-\u052f\u2010-\u2027\u2030-\u205e]*+")
"""Most texts in Western languages: they are told in a third of the time that a look at each character takes."""
_STARTS_ESCAPE = frozenset("\x1b\x90\x98\x9b\x9d\x9e\x9f")
_LINE_ENDS = frozenset("\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
_JOINER = re.compile(r"[\u200c\u200d]+")
_JOINERS = frozenset("\u200c\u200d")
_NOTHING = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""What Unicode lets a program ignore, apart from the categories below."""
_UNSEEN_CATEGORIES = frozenset(("Cc", "Cf", "Co", "Cs", "Zl", "Zp"))
_KILLS_VOWEL = 9
"""The combining class of the sign behind which Hindi and its kin join or part letters."""


def visible(text: str) -> str:
    """`text` without what a reader cannot see; its line ends are all newlines."""
    if _ALL_SEEN.fullmatch(text):
        return text
    chars = set(text)
    if not chars.isdisjoint(_STARTS_ESCAPE):
        text = _ESCAPE.sub("", text)
    if not chars.isdisjoint(_LINE_ENDS):
        text = _LINE_END.sub("\n", text)
    if unseen := [char for char in chars if is_unseen(char)]:
        text = re.sub(f"[{re.escape(''.join(unseen))}]+", "", text)
    return text if chars.isdisjoint(_JOINERS) else _JOINER.sub(_needed, text)


@cache
def is_unseen(char: str) -> bool:
    """Whether `char` is never seen, wherever it stands; a tabulator, a line's end and the joiners may be."""
    if char in "\n\t" or char in _JOINERS:
        return False
    return unicodedata.category(char) in _UNSEEN_CATEGORIES or _NOTHING.match(char) is not None


def visible_json(value: Any, *, indent: int | None = 2) -> str:
    """`value` as JSON; what cannot be seen, or steers a terminal, stands there as the escape that means the same."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return text.translate({ord(char): json.dumps(char)[1:-1] for char in set(text) if is_unseen(char)})


def _needed(match: re.Match[str]) -> str:
    """A single joiner where writing needs one: beside a vowel killer, or between Arabic letters or emoji."""
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
    if not (before and after and len(match.group()) == 1):
        return ""
    beside_killer = _KILLS_VOWEL in (unicodedata.combining(before), unicodedata.combining(after))
    alike = [{unicodedata.bidirectional(char), unicodedata.category(char)} for char in (before, after)]
    is_needed = beside_killer or any(kind in alike[0] & alike[1] for kind in ("AL", "So"))
    return match.group() if is_needed else ""
