"""Whether an abstract holds the names that a question brings up; a paper that does not hold one says nothing of it."""

import re
from difflib import get_close_matches

from assistant.wording import content_stems, pattern, stem
from vectorstore.names import TOKEN, looks_like_name, names_in

_SHORT = 3
"""Letters of a word that may be small in a title."""
_ALMOST = 0.8
"""Least likeness (difflib) of a misspelt name to the name that is meant."""
_MISSPELT = 4
"""Letters of a name from which it may be misspelt; a shorter one is another name."""

_OF_A_PLACE = re.compile(r"[A-Z][a-z]+(?:ish|ese|[aei]ans?|ch|ss|i)")
"""Adjectives like "Swiss"; an abstract may name the place, or a city."""


def holds_names(question: str, abstract: str) -> bool:
    """Whether `abstract` holds all names in `question`, be they a little misspelt."""
    return all(
        _holds(name, abstract) or _holds_parts(name, abstract)
        for name in names_in(question)
        if looks_like_name(name) or not (_is_title(question) or _OF_A_PLACE.fullmatch(name))
    )


def _holds(name: str, abstract: str) -> bool:
    tokens = {token.lower() for token in TOKEN.findall(abstract)}
    return (
        name.lower() in abstract.lower()
        or stem(name) in content_stems(abstract)
        or any(len(token) >= _MISSPELT and name.lower().startswith(token) for token in tokens)  # "Ghanaian"
        or _is_spelled_out(name, abstract)
        or (len(name) >= _MISSPELT and bool(get_close_matches(name.lower(), tokens, n=1, cutoff=_ALMOST)))
    )


def _holds_parts(name: str, abstract: str) -> bool:
    """Whether the abstract holds the names in a compound: "HIV" of "HIV-related"."""
    parts = re.split(r"[-/]", name)
    names = [part for part in parts if looks_like_name(part)]
    return 0 < len(names) < len(parts) and all(
        re.search(rf"\b{re.escape(part)}\b", abstract) or _is_spelled_out(part, abstract) for part in names
    )


def _is_spelled_out(name: str, abstract: str) -> bool:
    """Whether the letters of an abbreviation begin words that stand side by side: "MR" and "magnetic resonance"."""
    initials = r"[ -]".join(rf"\b{re.escape(letter)}\w{{2,}}" for letter in name)
    return name.isupper() and pattern(initials).search(abstract) is not None


def _is_title(question: str) -> bool:
    """Whether the words of `question` have capital letters as in a title, where they tell no names."""
    words = [word for word in TOKEN.findall(question) if len(word) > _SHORT]
    return bool(2 * sum(word[0].isupper() for word in words) > len(words))
