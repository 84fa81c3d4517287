"""Numbers as abstracts write them."""

from assistant.wording import any_of, pattern

_UNITS = any_of("one two three four five six seven eight nine")
_TENS = any_of("twenty thirty forty fifty sixty seventy eighty ninety")
NUMBER_WORD = any_of(
    f"{_TENS}-{_UNITS} {_TENS} zero {_UNITS} ten eleven twelve (?:thir|four|fif|six|seven|eigh|nine)teen dozens? "
    "hundreds? thousands? millions? a_single half double twice quadratically linearly exponentially orders_of_magnitude"
)
NUMBER = pattern(
    rf"(?<![\w-])(?:{NUMBER_WORD}(?:(?![\w-])|(?=-{any_of('year month week day hour minute fold')}s?\b))"
    r"|\d[\d.,/–-]*[⁰¹²³⁴⁵⁶⁷⁸⁹]*\s?(?:%|[x×]|[kmbt]b?|gb|bits?|[mkμµn]?[gmls]|min|h|hz)?\+?(?!\w))"
)
"""A number by itself: not the 8 of "LLaMA3.1-8B", nor the one of "one-to-many"."""
_OF_A_KIND = pattern(
    r"\ba single\b|\bps? ?[<>=≤≥]+ ?0?\.?\d+|\bn ?= ?\d+|\d+ ?% ?ci\b"
    rf"|(?<![\w.])(?:\d[\d.,–-]*|{NUMBER_WORD})[ -]?"
    rf"{any_of('[mµμ]?s min seconds? minutes? h hours? days? weeks? months? years?')}\b"
)
_ASKS_THAT_KIND = pattern(
    rf"\b{any_of('times? long old ages? duration latency survival interval significan(?:t|ce) p when period delay')}\b"
)


def values_in(sentence: str, asked: str) -> str:
    """`sentence` without significances, sizes of samples and times, which are values of nothing else.

    They stay when `asked` is about time or significance.
    """
    return sentence if _ASKS_THAT_KIND.search(asked) else _OF_A_KIND.sub(" ", sentence)
