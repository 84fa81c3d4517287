"""Papers as HTML: a page of the table, a paper with its nearest neighbours, the reading list.

The stars, the notes and the checkboxes are filled in by the script of the tab (static/papers.js), from what the browser
keeps.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from assistant.html import button, counted, escaped, rich, shortened
from assistant.takeaway import READING_LIST_AS, Clash, Format, ReadingItem, clashes
from assistant.ui.sources import links_html, spoken, star_html, star_of
from vectorstore.markup import readable
from vectorstore.types import Paper

PAGE = 50
"""Papers of the table at a time."""
_AUTHORS = 4
_GIST = 180
"""Characters of an abstract that stands for a title."""
_LONGEST_LABEL = 120
"""Characters of what a paper is called that is not there any more."""
_ASK = "Ask about this paper"


@dataclass(frozen=True, kw_only=True)
class Listing:
    """One page of the papers that were looked for."""

    papers: Sequence[Paper]
    first: int
    """Which of all that were found is the first of `papers`, from 0."""
    found: int
    remark: str = ""
    """How they were found; empty for all papers."""


@dataclass(frozen=True, kw_only=True)
class LostItem:
    """A paper of the reading list that the collection does not have."""

    paper_id: str
    label: str


def switch_html(view: str) -> str:
    """Between all papers ("all") and the reading list ("reading"); the script tells how many are on it."""
    pressed = {name: str(name == view).lower() for name in ("all", "reading")}
    return (
        '<div class="views" role="group" aria-label="Show">'
        f'<button type="button" data-act="browse" aria-pressed="{pressed["all"]}">All papers</button>'
        f'<button type="button" data-list="reading" aria-pressed="{pressed["reading"]}">Reading list'
        '<span class="kept-count"></span></button></div>'
    )


def listing_html(listing: Listing) -> str:
    """The table, what it shows, and the way to the next page."""
    if not listing.papers:
        return (
            '<section class="listing" aria-label="Papers"><p class="found" role="status">No paper is like that.</p>'
            '<p class="hint">Take a filter away, or search for other words.</p></section>'
        )
    has_when = any(_when(paper) for paper in listing.papers)
    rows = "".join(_row(paper, has_when=has_when) for paper in listing.papers)
    when = '<th scope="col">Presented</th>' if has_when else ""
    return (
        f'<section class="listing" aria-label="Papers">{_found(listing)}<table><thead><tr>'
        '<th scope="col"><input type="checkbox" data-choose-all aria-label="Choose all papers of this page"></th>'
        '<th scope="col"><span class="unseen">Reading list</span></th><th scope="col">Paper</th>'
        f'<th scope="col">Venue</th>{when}</tr></thead><tbody>{rows}</tbody></table>{_pages(listing)}</section>'
    )


def _found(listing: Listing) -> str:
    shown = f"{listing.first + 1:,}–{listing.first + len(listing.papers):,} of {counted(listing.found, 'paper')}"
    ask = button(f"Ask about {_these(listing.found)}", "papers-ask", "quiet") if listing.remark else ""
    remark = f' <span class="remark">{escaped(listing.remark)}</span>' if listing.remark else ""
    return f'<p class="found"><span role="status"><b>{shown}</b>{remark}</span>{ask}</p>'


def _these(found: int) -> str:
    return "this one" if found == 1 else f"these {found:,}"


def _row(paper: Paper, *, has_when: bool) -> str:
    choose = (
        f'<input type="checkbox" data-choose="{escaped(paper.paper_id)}" '
        f'aria-label="{escaped(f"Choose {paper.label}")}">'
    )
    when = f'<td class="when">{_lines(_when(paper))}</td>' if has_when else ""
    return (
        f'<tr><td class="choose">{choose}</td><td class="keep">{star_html(paper)}</td>'
        f'<th scope="row">{_named(paper)}</th><td class="place">{escaped(paper.place)}</td>{when}</tr>'
    )


def _named(paper: Paper) -> str:
    """What it is called, which opens its page; below, its title and authors, or how its abstract begins."""
    title, authors = _title(paper), _few(paper.authors)
    gist = "" if paper.title or authors or paper.is_title_only else shortened(readable(paper.abstract), _GIST)
    below = [("title", rich(title)), ("authors", escaped(authors)), ("gist", escaped(gist))]
    told = "".join(f'<span class="{kind}">{text}</span>' for kind, text in below if text)
    return f"{paper_link(paper)}{told}"


def paper_link(paper: Paper) -> str:
    """A button that opens the paper's page."""
    return button(_name(paper), "paper", "paper-link", paper_id=paper.paper_id)


def _name(paper: Paper) -> str:
    """The label; the whole title where the label is its beginning."""
    title = readable(paper.title or "")
    return title if title.startswith(paper.label.removesuffix(" …")) else paper.label


def _title(paper: Paper) -> str:
    """The title; empty where `_name` says it."""
    title = paper.title or ""
    return title if readable(title) != _name(paper) else ""


def _few(authors: Sequence[str]) -> str:
    more = len(authors) - _AUTHORS
    return ", ".join(authors[:_AUTHORS]) + (f" and {more} more" if more > 0 else "")


def _when(paper: Paper) -> list[str]:
    """When and where it is presented, as far as that is known."""
    place = " · ".join(fact for fact in (paper.track, paper.session, paper.room) if fact)
    return [fact for fact in (paper.starts_at and spoken(paper.starts_at), place) if fact]


def _lines(facts: Sequence[str]) -> str:
    return "".join(f"<span>{escaped(fact)}</span>" for fact in facts)


def _pages(listing: Listing) -> str:
    page, last = listing.first // PAGE, (listing.found - 1) // PAGE
    if not last:
        return ""
    back = button("← Previous", "papers-page", "turn-page", page=str(page - 1)) if page else ""
    on = button("Next →", "papers-page", "turn-page", page=str(page + 1)) if page < last else ""
    return f'<nav class="pages" aria-label="Pages">{back}<span>Page {page + 1:,} of {last + 1:,}</span>{on}</nav>'


def paper_html(paper: Paper, neighbours: Sequence[Paper]) -> str:
    """All that is known of a paper, what can be done with it, and the papers nearest to it."""
    facts = [
        f'<p class="title">{rich(_title(paper))}</p>' if _title(paper) else "",
        f'<p class="authors">{escaped(", ".join(paper.authors))}</p>' if paper.authors else "",
        f'<p class="facts">{_lines([fact for fact in (paper.place, *_when(paper)) if fact])}</p>',
        '<p class="facts">Its source has no abstract: only the title is known.</p>' if paper.is_title_only else "",
    ]
    asks = button(_ASK, "scope", "primary", paper_ids=paper.paper_id, named=paper.label)
    return (
        f'<article class="paper-page" data-paper="{escaped(paper.paper_id)}">{_back()}'
        f'<div class="heading"><h2 tabindex="-1">{escaped(_name(paper))}</h2>{star_html(paper)}</div>{"".join(facts)}'
        f'<div class="actions">{asks}</div>{_note(paper.paper_id, paper.label)}'
        f'<p class="abstract">{rich(paper.abstract)}</p>{_keywords(paper.keywords)}{links_html(paper)}'
        f'<p class="read-from">Read from {escaped(PurePath(paper.source).name)}, record {paper.position:,}.</p>'
        f"{_nearest(neighbours)}</article>"
    )


def _back() -> str:
    return button("← Back", "paper-back", "quiet back-to-list")


def _keywords(keywords: Sequence[str]) -> str:
    return f'<ul class="keywords" aria-label="Keywords">{_items(map(escaped, keywords))}</ul>' if keywords else ""


def _items(contents: Iterable[str]) -> str:
    return "".join(f"<li>{content}</li>" for content in contents)


def _note(paper_id: str, label: str) -> str:
    """For a paper that is on the reading list."""
    return (
        f'<label class="note"><span>Note</span><textarea data-note="{escaped(paper_id)}" rows="2" '
        f'aria-label="{escaped(f"Note on {label}")}" placeholder="Kept in this browser only"></textarea></label>'
    )


def _nearest(neighbours: Sequence[Paper]) -> str:
    if not neighbours:
        return ""
    items = _items([f'{_named(paper)}<span class="place">{escaped(paper.place)}</span>' for paper in neighbours])
    return f'<section class="neighbours"><h3>Nearest papers</h3><ul>{items}</ul></section>'


def missing_html() -> str:
    """For a paper that has gone since its link was made."""
    return (
        f'<article class="paper-page">{_back()}<h2 tabindex="-1">This paper is not there</h2>'
        '<p class="facts">The collection that is open does not have it, or has it no longer.</p></article>'
    )


def reading_html(items: Sequence[ReadingItem], lost: Sequence[LostItem]) -> str:
    """The reading list, what clashes on it at the top."""
    if not items and not lost:
        return (
            '<section class="reading" aria-label="Reading list">'
            '<p class="found">Nothing is on the reading list yet.</p>'
            '<p class="hint">The star ☆ of a paper puts it here. The list is kept in this browser only.</p></section>'
        )
    found = clashes([item.paper for item in items])
    rows = [*(_reading_item(item.paper, found) for item in items), *map(_lost_item, lost)]
    return (
        f'<section class="reading" aria-label="Reading list"><div class="found"><span role="status">'
        f"<b>{counted(len(rows), 'paper')}</b></span>{_ask_all(items)}{_save_as(items)}</div>"
        f'{_clashes(found)}<ul class="items">{_items(rows)}</ul></section>'
    )


def _ask_all(items: Sequence[ReadingItem]) -> str:
    ids = " ".join(item.paper.paper_id for item in items)
    return button("Ask about these", "scope", "quiet", paper_ids=ids, named="the reading list") if items else ""


def _save_as(items: Sequence[ReadingItem]) -> str:
    """The formats; what one has to know of a file stands below its name."""
    has_times = any(item.paper.starts_at for item in items)
    formats = {name: each for name, each in READING_LIST_AS.items() if name != "calendar" or has_times}
    choices = _items([_save_button(name, each, items) for name, each in formats.items()]) if items else ""
    return f'<details class="menu"><summary>Save as</summary><ul>{choices}</ul></details>' if choices else ""


def _save_button(name: str, form: Format[ReadingItem], items: Sequence[ReadingItem]) -> str:
    title = form.title[0].upper() + form.title[1:]
    remark = form.remark_on(items)
    told = f"<small>{escaped(shortened(remark, 400))}</small>" if remark else ""
    return f'<button type="button" class="save" data-list="{escaped(name)}">{escaped(title)}{told}</button>'


def _clashes(found: Sequence[Clash]) -> str:
    if not found:
        return ""
    pairs = [
        f"<b>{escaped(clash.first.label)}</b> and <b>{escaped(clash.second.label)}</b> overlap on "
        f"{escaped(spoken(clash.second.starts_at or ''))}"
        for clash in found
    ]
    return f'<section class="clashes" aria-label="Clashes"><h3>Clashes</h3><ul>{_items(pairs)}</ul></section>'


def _reading_item(paper: Paper, found: Sequence[Clash]) -> str:
    others = [other.label for clash in found if (other := clash.other_than(paper))]
    warning = f'<span class="clash">Clashes with {escaped(", ".join(others))}</span>' if others else ""
    when = [fact for fact in (*_when(paper), paper.place) if fact]
    return (
        f'{star_html(paper)}<div>{_named(paper)}<span class="when">{_lines(when)}</span>{warning}'
        f"{_note(paper.paper_id, paper.label)}</div>"
    )


def _lost_item(item: LostItem) -> str:
    label = shortened(item.label, _LONGEST_LABEL) or "A paper"
    return (
        f"{star_of(item.paper_id, label)}<div><b>{escaped(label)}</b>"
        f'<span class="when">The collection that is open does not have it.</span>{_note(item.paper_id, label)}</div>'
    )
