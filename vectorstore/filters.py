"""Which papers a search is confined to, and how the library asks for them. All conditions are exact."""

import re
import unicodedata
from dataclasses import dataclass

_SAME_VENUE = {"neurips": "nips", "the web conference": "www", "thewebconf": "www"}
"""Conferences that lists call by an older or by another name."""


@dataclass(frozen=True, kw_only=True)
class PaperFilter:
    """All that is given must hold."""

    venue: str | None = None
    """Such as "ICML", in any case."""
    first_year: int | None = None
    last_year: int | None = None
    author: str | None = None
    """A whole name, one with initials, or a surname; accents, case and full stops do not count."""
    with_code: bool = False
    """Only papers whose abstract or addresses lead to code."""

    def __str__(self) -> str:
        """In words, as after "papers"."""
        years = {
            (True, True): f"from {self.first_year} to {self.last_year}",
            (True, False): f"since {self.first_year}",
            (False, True): f"until {self.last_year}",
            (False, False): "",
        }[self.first_year is not None, self.last_year is not None]
        if self.first_year == self.last_year and self.first_year is not None:
            years = f"of {self.first_year}"
        parts = [f"by {self.author}" if self.author else "", f"at {self.venue}" if self.venue else "", years]
        return " ".join(part for part in [*parts, "with code" if self.with_code else ""] if part)


def venue_key(venue: str) -> str:
    """A venue as it is compared."""
    folded = _folded(venue)
    return _SAME_VENUE.get(folded, folded)


def author_key(name: str) -> str:
    """An author's name as it is compared: "Müller, J.-P." and "J. P. Muller" are one."""
    surname, comma, given = name.partition(",")
    return _folded(f"{given} {surname}" if comma else name)


def surname_key(name: str) -> str:
    """The last word of a name as it is compared."""
    return author_key(name).rpartition(" ")[2]


def is_same_author(asked: str, known: str) -> bool:
    """Whether `known`, an `author_key`, may be whom `asked` means.

    Surnames must be equal; of the given names each must be that of the other, or its initial; a surname alone means
    all who bear it.
    """
    *asked_given, asked_surname = author_key(asked).split() or [""]
    *known_given, known_surname = known.split() or [""]
    return asked_surname == known_surname and all(
        a == k or (min(len(a), len(k)) == 1 and a[0] == k[0]) for a, k in zip(asked_given, known_given, strict=False)
    )


def _folded(text: str) -> str:
    """Without case, accents and punctuation."""
    bare = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return " ".join(re.sub(r"[^\w\s]|_", " ", bare.casefold()).split())
