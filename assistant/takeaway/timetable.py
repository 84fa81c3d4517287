"""When papers are presented, and which of them at the same time in different places."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import combinations

from vectorstore.types import Paper

LENGTH = timedelta(minutes=30)
"""Kept for each paper, as no source says when it ends: a talk is shorter, at a poster one may stay longer."""


@dataclass(frozen=True)
class Clash:
    """Two papers that nobody can hear both of; the first begins no later than the second."""

    first: Paper
    second: Paper

    def __str__(self) -> str:
        return " and ".join(f"{paper.label} ({time_and_place(paper)})" for paper in (self.first, self.second))

    def other_than(self, paper: Paper) -> Paper | None:
        """The one that `paper` clashes with; None when it is neither of the two."""
        return {self.first.paper_id: self.second, self.second.paper_id: self.first}.get(paper.paper_id)


def start_of(paper: Paper) -> datetime | date | None:
    """When it is presented: a time with or without an offset, or a day; None when it is not known.

    Midnight without an offset is a day: so readers of files write dates.
    """
    try:
        start = datetime.fromisoformat(paper.starts_at or "")
    except ValueError:
        return None
    if not date.min.year < start.year < date.max.year:  # where the time in UTC, or the end, may be no date
        return None
    return start.date() if start.tzinfo is None and start.time() == time.min else start


def time_and_place(paper: Paper) -> str:
    """Such as "2026-07-15 11:00 UTC-07:00, Oral, Session 3, Hall A", as far as it is known."""
    start = start_of(paper)
    when = f"{start:%Y-%m-%d %H:%M} {start.tzname() or ''}".strip() if isinstance(start, datetime) else str(start or "")
    return ", ".join(part for part in (when, paper.track, paper.session, paper.room) if part)


def clashes(papers: Sequence[Paper]) -> tuple[Clash, ...]:
    """Pairs that overlap and are known to be in different places, in order of time.

    Times with an offset and times without one are not compared, and a day clashes with nothing.
    """
    timed = [(paper, start) for paper in papers if isinstance(start := start_of(paper), datetime)]
    return tuple(clash for kind in _comparable(timed) for clash in _clashes(kind))


def without_time(papers: Iterable[Paper]) -> list[Paper]:
    """Those of which it is not known when they are presented."""
    return [paper for paper in papers if start_of(paper) is None]


def _comparable(timed: Iterable[tuple[Paper, datetime]]) -> tuple[list[tuple[Paper, datetime]], ...]:
    with_offset, without = [], []
    for paper, start in timed:
        if start.tzinfo:
            with_offset.append((paper, start.astimezone(UTC)))
        else:
            without.append((paper, start))
    return with_offset, without


def _clashes(timed: list[tuple[Paper, datetime]]) -> Iterable[Clash]:
    ordered = sorted(timed, key=lambda pair: pair[1])
    for (first, start), (second, later) in combinations(ordered, 2):
        if later - start < LENGTH and _are_apart(first, second):
            yield Clash(first, second)


def _are_apart(paper: Paper, other: Paper) -> bool:
    """Whether their sessions or rooms differ, and neither is the same: the posters of a session are in many rooms."""
    places = [(paper.session, other.session), (paper.room, other.room)]
    known = [mine == theirs for mine, theirs in places if mine and theirs]
    return bool(known) and not any(known)
