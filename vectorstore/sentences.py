r"""Sentence spans of an abstract. All quoting rests on them.

A sentence ends at . ! or ? (with the quotes, brackets and markup that close around it) before white space,
unless the full stop belongs to an abbreviation, an initial, inline math, an address or a Markdown link.
Semicolons, colons and enumeration marks such as "(ii)" never end one.
"""

import re
from bisect import bisect_right
from itertools import pairwise

from vectorstore.types import Span

_ENDING = re.compile(r"""[.!?]+(?:["'”’)\]}*_]|\$(?=\s|$))*(?=\s|$)""")
_UNBROKEN = re.compile(
    r"""
      \$\$.+?\$\$ | (?<!\\)\$(?:[^$\s]|[^$\s][^$\n]{0,200}?[^$\s\\])\$(?!\d)   # math, but not "$5 and $10"
    | \[[^\[\]\n]{0,200}\]\([^()\s]*\)                                          # a Markdown link
    | \b(?:https?://|www\.)\S*[^\s.,;:!?)}\]'"*]                                # an address
    """,
    re.VERBOSE,
)
_VIEW = 80
"""Characters before and after a full stop that tell whether it ends a sentence."""
_NEVER_FINAL = frozenset(
    "e.g i.e cf vs viz resp approx ca fig figs eq eqs sec secs tab ref refs no nos vol pp p ed eds prof dr mr mrs ms "
    "st def thm lem prop app w.r.t a.k.a incl esp".split()
)
"""Abbreviations that a sentence does not end with."""
_SOMETIMES_FINAL = frozenset("al etc inc ltd jr sr u.s u.k a.m p.m".split())
"""Abbreviations after which only the next word tells."""
_OPENERS = frozenset(
    "we this these those the our it its they their here there in on to for from with by as at a an both all each "
    "however moreover furthermore additionally finally instead thus hence then while although when if since code "
    "experiments extensive empirically results theoretically existing recent unlike specifically notably".split()
)
"""Words that open a sentence far more often than they follow a name or an abbreviation."""
_LEADING_MARKUP = re.compile(r"^(?:\\[a-zA-Z]+\{|[\"'“‘(\[*_$`])+")
_WORD = re.compile(r"[^\W_][\w'’.-]*")


def sentence_spans(text: str) -> list[Span]:
    """The sentences of `text` in order: no overlap, no outer space, every visible character covered."""
    unbroken = [match.span() for match in _UNBROKEN.finditer(text)]
    starts = [start for start, _ in unbroken]

    def is_broken_off(at: int) -> bool:
        before = bisect_right(starts, at) - 1
        return before < 0 or at >= unbroken[before][1]

    ends = [
        match.end()
        for match in _ENDING.finditer(text)
        if is_broken_off(match.start())
        and _is_final(
            text[max(0, match.start() - _VIEW) : match.start()], match.group(), text[match.end() : match.end() + _VIEW]
        )
    ]
    cuts = [0, *ends, len(text)]
    return [span for start, end in pairwise(cuts) if (span := _trimmed(text, start, end)) is not None]


def _trimmed(text: str, start: int, end: int) -> Span | None:
    piece = text[start:end]
    if not piece.strip():
        return None
    return Span(start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip()))


def _is_final(before: str, ending: str, after: str) -> bool:
    following = _LEADING_MARKUP.sub("", after.lstrip())
    next_word = _WORD.match(following)
    if not after.strip():
        return True
    if next_word and next_word.group().islower():
        return ending[0] in "!?" and next_word.group() in _OPENERS
    if ending[0] != ".":
        return True
    return _full_stop_is_final(before, next_word.group().lower() if next_word else "")


def _full_stop_is_final(before: str, next_word: str) -> bool:
    last_word = re.split(r"[\s(\[{/–—]", before)[-1]
    abbreviation = last_word.lower().lstrip("\"'“‘*_$").rstrip(".")
    if abbreviation in _NEVER_FINAL:
        return False
    if abbreviation in _SOMETIMES_FINAL or _is_initial(last_word):
        return next_word in _OPENERS
    return True


def _is_initial(word: str) -> bool:
    """Whether `word` is an initial of a name ("J", "J.-P"), as in "J. Smith"."""
    return re.fullmatch(r"(?:[A-Z]\.?-?)+", word) is not None and len(word.replace("-", "").replace(".", "")) <= 2
