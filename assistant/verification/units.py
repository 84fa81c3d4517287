"""The numbers of a text with their units and bounds.

"39.63%", "39.63 percentage points" and "39.63 percent" are the same; "over 90%" and "under 90%" are not.
"""

import re
from collections.abc import Iterator

from assistant.verification.terms import NUMBER, plain_number

_SAME_UNITS = [
    "% percent percentage pct point points pp",
    "x × times fold",
    "K k thousand",
    "M million millions",
    "B billion billions bn",
    "T trillion trillions",
    "KB kB",
    "MB",
    "GB",
    "TB",
    "ms millisecond milliseconds",
    "s sec second seconds",
    "min minute minutes",
    "h hour hours",
    "day days",
    "week weeks",
    "month months",
    "year years",
    "bit bits",
    "byte bytes",
    "Hz hertz",
    "kHz",
    "MHz",
    "GHz",
    "mg",
    "g",
    "kg",
    "nm",
    "mm",
    "cm",
    "m metre metres meter meters",
    "km",
]
_UNIT_OF = {unit: line.split()[0] for line in _SAME_UNITS for unit in line.split()}
_NEVER_LEFT_OUT = frozenset("% x K M B T KB MB GB TB".split())
"""A number without any unit is not a number with one of these; "aged 65" may well be "65 years"."""
_ONE_LETTER = frozenset("s h g m".split())
"""Units only right behind a number or a space and not before a hyphen or a bracket: "3 m", but not "3 m-bit"."""
_BEHIND = re.compile(r"[ \u00a0-]?(?P<unit>[%×]|[A-Za-z]+)(?P<then>\S?)")
_LIST = re.compile(r"\s?(?:[-–—/,]|to|and|or|,\s?and)\s?[~≈]?")
"""Between the numbers of a range or list, which have one unit, the last one's."""


_BOUND = re.compile(rf"(?P<sign>[<>≤≥])\s?[~≈∼]?\s?(?P<number>{NUMBER.pattern})")
_ABOVE = frozenset(">≥")


def another_unit(sentence: str, text: str) -> str | None:
    """A number of `sentence`, with its unit, that `text` has only with other units."""
    held: dict[str, set[str | None]] = {}
    for number, unit in _measures(text):
        held.setdefault(number, set()).add(unit)
    for number, unit in _measures(sentence):
        units = held.get(number, set())
        if unit and units and unit not in units and (None not in units or unit in _NEVER_LEFT_OUT):
            return f"{number} {unit}"
    return None


def another_bound(sentence: str, text: str) -> str | None:
    """A number of `sentence` that is its lower bound and only an upper one in `text`, or the other way round."""
    held = set(_bounds(text))
    for number, is_above in _bounds(sentence):
        if (number, not is_above) in held and (number, is_above) not in held:
            return number
    return None


def _bounds(text: str) -> Iterator[tuple[str, bool]]:
    for match in _BOUND.finditer(text):
        yield plain_number(match["number"]), match["sign"] in _ABOVE


def _measures(text: str) -> Iterator[tuple[str, str | None]]:
    unit: str | None = None
    after = len(text)
    for match in reversed(list(NUMBER.finditer(text))):
        own = _unit_behind(text[match.end() :])
        is_in_list = _LIST.fullmatch(text[match.end() : after]) is not None
        unit = own or (unit if is_in_list else None)
        after = match.start()
        yield plain_number(match.group()), unit


def _unit_behind(text: str) -> str | None:
    match = _BEHIND.match(text)
    if not match or (match["unit"] in _ONE_LETTER and match["then"] in ("-", "(", "^")):
        return None
    return _UNIT_OF.get(match["unit"])
