"""What an abstract says with a reservation, and a sentence without: "most models", "up to 39 points", "correlated"."""

from assistant.wording import any_of, pattern, stem

_LIMITED = pattern(
    rf"(?<!the )\b{any_of('most some few up_to near nearly almost sometimes may might partly partially potentially')}"
    r"(?: (?:of|the|an?))* (?P<what>[^\W_](?:[\w.-]*\w)?)|\baverage of (?P<mean>\d+(?:\.\d+)?)"
)
_LIMIT_WORDS = (
    "most mostly some few up_to near nearly close almost sometimes may might could can partly partially potentially "
    "majority often frequently generally commonly usually typically largely about approximately around roughly "
    "as_much_as as_many_as at_most maximum tends? virtually averages? mean"
)
_LIMIT = pattern(rf"\b{any_of(_LIMIT_WORDS)}\b|[≤≲~≈∼]")
_WORD = pattern(r"[^\W_](?:[\w.-]*\w)?")
_CORRELATED = pattern(r"\b(?:correlat|associat|co-?occur)\w*|\blinked (?:to|with)\b")
_CAUSED = pattern(
    r"\b(?:caus|determin|driv|induc|trigger)(?:es?|ed|ing|en)?\b"
    rf"|\b{any_of('drove leads?_to led_to due_to because results?_in resulted_in')}\b"
)


def limit_dropped(sentence: str, text: str) -> str | None:
    """What `text` says with a reservation and `sentence`, which has none at all, without."""
    if _LIMIT.search(sentence):
        return None
    said = {stem(word) for word in _WORD.findall(sentence)}
    limited = _LIMITED.finditer(text)
    return next((match.group() for match in limited if stem(match["what"] or match["mean"]) in said), None)


def made_causal(sentence: str, text: str) -> bool:
    """Whether `text` says only that things go together and `sentence` that one brings the other about."""
    is_causal, is_correlation = _CAUSED.search(sentence), _CORRELATED.search(text)
    return bool(is_causal and is_correlation and not _CAUSED.search(text))
