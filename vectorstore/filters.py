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
    track: str | None = None
    """Such as "Oral", to the letter."""
    session: str | None = None
    """To the letter."""
    paper_ids: tuple[str, ...] | None = None
    """Only papers of these ids; no paper when it is empty."""

    def also(self, other: "PaperFilter | None") -> "PaperFilter":
        """What passes this filter and `other`."""
        if other is None:
            return self
        given = [(getattr(self, name), getattr(other, name)) for name in ("venue", "author", "track", "session")]
        venue, author, track, session = (one if one is not None else two for one, two in given)
        contradicts = any(one is not None and two is not None and one != two for one, two in given)
        ids = self.paper_ids if self.paper_ids is not None else other.paper_ids
        if self.paper_ids is not None and other.paper_ids is not None:
            ids = tuple(paper_id for paper_id in self.paper_ids if paper_id in {*other.paper_ids})
        return PaperFilter(
            venue=venue,
            first_year=max((y for y in (self.first_year, other.first_year) if y is not None), default=None),
            last_year=min((y for y in (self.last_year, other.last_year) if y is not None), default=None),
            author=author,
            with_code=self.with_code or other.with_code,
            track=track,
            session=session,
            paper_ids=() if contradicts else ids,
        )

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
        parts = [
            f"by {self.author}" if self.author else "",
            f"at {self.venue}" if self.venue else "",
            years,
            f"in the track {self.track}" if self.track else "",
            f"in the session {self.session}" if self.session else "",
            "with code" if self.with_code else "",
            f"among the {len(self.paper_ids)} chosen" if self.paper_ids is not None else "",
        ]
        return " ".join(part for part in parts if part)


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
