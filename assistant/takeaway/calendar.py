"""A reading list as a calendar: an event for each paper of which it is known when it is presented."""

from collections.abc import Sequence
from datetime import UTC, datetime

from icalendar import Calendar, Event

from assistant.takeaway.markdown import link_of
from assistant.takeaway.reading_list import ReadingItem
from assistant.takeaway.timetable import LENGTH, Clash, clashes, start_of, time_and_place, without_time
from vectorstore.markup import readable
from vectorstore.types import Paper
from vectorstore.visible import visible

_WRITTEN_AT = datetime(1970, 1, 1, tzinfo=UTC)
"""Which every event must say; always the same, so that the same list is the same file."""


def list_calendar(items: Sequence[ReadingItem]) -> str:
    """As RFC 5545 has it. Times with an offset are given in UTC; those without stay so, for any place's clocks."""
    calendar = Calendar()
    calendar.add("prodid", "-//abstract-assistant//reading list//EN")
    calendar.add("version", "2.0")
    found = clashes([item.paper for item in items])
    for item in items:
        if start_of(item.paper):
            calendar.add_component(_event(item, found))
    text: bytes = calendar.to_ical()
    return text.decode()


def remark_on_calendar(items: Sequence[ReadingItem]) -> str:
    """What a reader has to know of the calendar."""
    missing = without_time(item.paper for item in items)
    told = [f"No time is known of {', '.join(paper.label for paper in missing)}: not in the calendar."] * bool(missing)
    starts = [start for item in items if isinstance(start := start_of(item.paper), datetime)]
    if starts:
        told.append(f"{LENGTH.seconds // 60} minutes are kept for each paper, as its end is not known.")
    if any(start.tzinfo is None for start in starts):
        told.append("Some times are without a time zone; a calendar shows them as those of the place where it is.")
    return " ".join(told)


def _event(item: ReadingItem, found: Sequence[Clash]) -> Event:
    paper, start = item.paper, start_of(item.paper)
    event = Event()
    event.add("uid", f"{paper.paper_id}@abstract-assistant")
    event.add("dtstamp", _WRITTEN_AT)
    if isinstance(start, datetime):
        start = start.astimezone(UTC) if start.tzinfo else start
        event.add("dtend", start + LENGTH)
    event.add("dtstart", start)
    event.add("summary", visible(_summary(paper)))
    if place := ", ".join(part for part in (paper.room, paper.session) if part):
        event.add("location", visible(place))
    if told := "\n\n".join(_told(item, found)):
        event.add("description", visible(told))
    return event


def _summary(paper: Paper) -> str:
    title = readable(paper.title or "")
    return f"{paper.label}: {title}" if title not in ("", paper.label) else paper.label


def _told(item: ReadingItem, found: Sequence[Clash]) -> list[str]:
    others = [other for clash in found if (other := clash.other_than(item.paper))]
    warnings = [f"Clashes with {other.label} ({time_and_place(other)})." for other in others]
    return [part for part in (item.note.strip(), *warnings, link_of(item.paper)) if part]
