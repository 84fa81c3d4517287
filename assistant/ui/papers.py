"""The papers tab: the collection as a table that is searched and filtered, a paper's page, the reading list.

The reading list is kept by the browser, which sends it along whenever it is to be shown or saved.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr
from pydantic import BaseModel, TypeAdapter, ValidationError

from assistant.app import Assistants
from assistant.chain import Assistant
from assistant.errors import UserFacingError
from assistant.html import counted
from assistant.takeaway import READING_LIST_AS, ReadingItem
from assistant.ui.acts import QUIETLY, Acts, given
from assistant.ui.chat import file_to_save, notice_of
from assistant.ui.papers_html import (
    PAGE,
    Listing,
    LostItem,
    listing_html,
    missing_html,
    paper_html,
    reading_html,
    switch_html,
)
from assistant.ui.render import note_html, notice_html
from assistant.ui.session import Session
from vectorstore.facets import Choices
from vectorstore.filters import PaperFilter
from vectorstore.visible import visible

_NEAREST = 200
"""Papers that a search finds."""
_LONGEST_QUERY = 600
"""Characters."""
_SELECTION = """
<div class="selection" role="region" aria-label="Chosen papers" hidden><span role="status"></span>
<button type="button" data-chosen="ask">Ask about these</button>
<button type="button" class="quiet" data-chosen="clear">Clear</button></div>
"""
"""Filled in by the script of the tab, which knows what was chosen on other pages of the table."""


@dataclass(frozen=True)
class Found:
    """The papers that were looked for."""

    ids: list[str]
    remark: str
    """How they were found; empty for all papers."""
    within: PaperFilter
    """What exactly these papers pass."""


@dataclass(frozen=True)
class Filters:
    """The components in which a reader says which papers are wanted."""

    query: gr.Textbox
    venue: gr.Dropdown
    first_year: gr.Dropdown
    last_year: gr.Dropdown
    track: gr.Dropdown
    session: gr.Dropdown
    with_code: gr.Checkbox

    @property
    def all(self) -> list[Any]:
        """In the order in which `PapersActions` takes their values."""
        return [*vars(self).values()]


def build_papers_tab(
    assistants: Assistants,
    acts: Acts,
    session: gr.State,
    page: gr.Blocks,
    tabs: gr.Tabs,
    tab: gr.Tab,
    note: gr.HTML,
) -> None:
    """The tab, inside the `gr.Tab` that is open now; `note` is where the chat says which papers it asks."""
    actions = PapersActions(assistants)
    with gr.Column(elem_id="papers"):
        switch = gr.HTML(switch_html("all"), elem_id="papers-switch", apply_default_css=False)
        filters = _filters()
        table = gr.HTML("", elem_id="papers-table", apply_default_css=False)
        reading = gr.HTML("", elem_id="papers-reading", apply_default_css=False)
        paper = gr.HTML("", elem_id="papers-paper", apply_default_css=False)
        gr.HTML(_SELECTION, elem_id="papers-selection", apply_default_css=False)
    known = gr.State()
    saved = gr.Textbox(visible="hidden", elem_id="saved-list")

    for opened in (page.load, tab.select):
        opened(actions.open, [known, session], [known, *filters.all, table], **QUIETLY)
    wanted = [session, *filters.all]
    changed = [filters.query.submit, *(each.input for each in filters.all[1:])]
    gr.on(changed, actions.search, wanted, table, trigger_mode="always_last", **QUIETLY)
    acts.on("papers-page")(actions.turn, wanted, table, **QUIETLY)
    acts.on("papers-ask")(actions.ask_found, wanted, [tabs, note, table], **QUIETLY)
    acts.on("paper")(actions.show, session, [tabs, paper], **QUIETLY)
    acts.on("paper-back")(lambda: "", None, paper, **QUIETLY)
    acts.on("browse")(lambda: (switch_html("all"), "", ""), None, [switch, reading, paper], **QUIETLY)
    acts.on("reading")(actions.read, session, [switch, reading, paper], **QUIETLY)
    acts.on("save-reading")(actions.save, session, saved, **QUIETLY).then(
        None, saved, None, js="(text) => window.assistant.save(text)", **QUIETLY
    )


def _filters() -> Filters:
    with gr.Row(elem_id="papers-filters"):
        query = gr.Textbox(
            label="Search",
            placeholder="Meaning, words or an author, then Enter",
            max_lines=1,
            max_length=_LONGEST_QUERY,
            elem_id="papers-query",
        )
        return Filters(
            query=query,
            venue=_dropdown("Venue"),
            first_year=_dropdown("From"),
            last_year=_dropdown("To"),
            track=_dropdown("Track"),
            session=_dropdown("Session"),
            with_code=gr.Checkbox(label="Has code", visible=False, elem_id="papers-code"),
        )


def _dropdown(label: str) -> gr.Dropdown:
    return gr.Dropdown([("Any", "")], value="", label=label, visible=False, min_width=90)


def _updates(choices: Choices) -> list[Any]:
    """The filters but for the query, with what there is to choose from; a choice of one is not shown."""
    kinds: list[Mapping[Any, int]] = [choices.venues, choices.years, choices.years, choices.tracks, choices.sessions]
    return [
        *(gr.Dropdown(_counted(values), value="", visible=len(values) > 1) for values in kinds),
        gr.Checkbox(value=False, visible=choices.with_code > 0),
    ]


def _counted(values: Mapping[Any, int]) -> list[tuple[str, Any]]:
    return [("Any", ""), *((f"{visible(str(value))} ({count:,})", value) for value, count in values.items())]


def papers_found(
    assistant: Assistant,
    query: str = "",
    venue: str = "",
    first_year: int | str = "",
    last_year: int | str = "",
    track: str = "",
    session: str = "",
    with_code: bool = False,
) -> Found:
    """The papers that pass all filters. With a query the nearest first, or those of the author whom it names."""
    filtered = PaperFilter(
        venue=venue or None,
        first_year=int(first_year) if first_year else None,
        last_year=int(last_year) if last_year else None,
        track=track or None,
        session=session or None,
        with_code=with_code,
    )
    query = " ".join(query.split())[:_LONGEST_QUERY]
    if not query:
        return Found(assistant.paper_ids(filtered), str(filtered), filtered)
    by_author = replace(filtered, author=query)
    theirs = assistant.paper_ids(by_author)
    if theirs and " " in query:
        return Found(theirs, str(by_author), by_author)
    nearest = assistant.search(query, _NEAREST, within=None if filtered == PaperFilter() else filtered)
    ids = [*dict.fromkeys([*theirs, *(passage.paper.paper_id for passage in nearest)])]
    kind = f"by {query}, then the nearest" if theirs else "nearest first"
    return Found(ids, f"{filtered} {kind}".strip(), PaperFilter(paper_ids=tuple(ids)))


class _Kept(BaseModel):
    """What the browser keeps of a paper of the reading list."""

    note: str = ""
    label: str = ""
    at: float = 0


_READING_LIST = TypeAdapter(dict[str, _Kept])


def reading_list(assistant: Assistant, text: str) -> tuple[list[ReadingItem], list[LostItem]]:
    """What the browser keeps, as JSON: the papers, those with a time first, and those that are not in the collection.

    Anything else is an empty list.
    """
    try:
        kept = _READING_LIST.validate_json(text)
    except ValidationError:
        return [], []
    papers = {paper.paper_id: paper for paper in assistant.papers_of([*kept])}
    order = sorted(kept, key=lambda paper_id: kept[paper_id].at)
    items = [ReadingItem(papers[paper_id], kept[paper_id].note) for paper_id in order if paper_id in papers]
    items.sort(key=lambda item: (not item.paper.starts_at, item.paper.starts_at or ""))
    return items, [LostItem(paper_id=each, label=kept[each].label) for each in order if each not in papers]


class PapersActions:
    """What the tab does. The values of filters come in the order of `Filters.all`."""

    def __init__(self, assistants: Assistants) -> None:
        self._assistants = assistants

    def open(self, known: object, session: Session) -> tuple[Any, ...]:
        """The filters and all papers; nothing new when the collection is as `known`."""
        try:
            assistant = self._assistant(session)
            choices = assistant.choices()
            now = (session.scope.collections, assistant.paper_count(), choices)
            if now == known:
                return (gr.skip(),) * 9
            return now, "", *_updates(choices), self._listing(session, 0)
        except Exception as error:
            return None, *(gr.skip(),) * 7, notice_html(notice_of(error))

    def search(self, session: Session, *wanted: Any) -> str:
        """The first page of the papers that are wanted."""
        return _or_notice(lambda: self._listing(session, 0, *wanted))

    def turn(self, event: gr.EventData, session: Session, *wanted: Any) -> str:
        """Another page of them."""
        page = given(event, "page")
        return _or_notice(lambda: self._listing(session, int(page) if page.isdecimal() else 0, *wanted))

    def ask_found(self, session: Session, *wanted: Any) -> tuple[Any, ...]:
        """Asks all papers that are wanted from now on, and no others; the chat tab is opened for that."""
        try:
            found = papers_found(self._assistant(session), *wanted)
        except Exception as error:
            return gr.skip(), gr.skip(), notice_html(notice_of(error))
        named = f"{counted(len(found.ids), 'paper')} {found.remark}"
        session.scope = replace(session.scope, within=found.within, named=named)
        note = note_html(session.scope, is_editing=session.conversation.edited is not None)
        return gr.Tabs(selected="chat"), note, gr.skip()

    def show(self, event: gr.EventData, session: Session) -> tuple[Any, ...]:
        """The page of a paper; the tab is opened for that."""
        return gr.Tabs(selected="papers"), _or_notice(lambda: self._page(session, given(event, "paperId")))

    def read(self, event: gr.EventData, session: Session) -> tuple[str, str, str]:
        """The reading list instead of all papers."""
        listed = given(event, "list")
        return switch_html("reading"), _or_notice(lambda: self._reading(session, listed)), ""

    def save(self, event: gr.EventData, session: Session) -> str:
        """The reading list as a file for the browser to save; empty when it cannot be made."""
        form = READING_LIST_AS[given(event, "form")]
        try:
            items, _ = reading_list(self._assistant(session), given(event, "list"))
        except UserFacingError as error:
            raise gr.Error(f"{error.message} {error.hint}", print_exception=False) from error
        return file_to_save(f"reading-list{form.ending}", form.mime, form.text_of(items))

    def _listing(self, session: Session, page: int, *wanted: Any) -> str:
        assistant = self._assistant(session)
        found = papers_found(assistant, *wanted)
        first = page * PAGE if page * PAGE < len(found.ids) else 0
        papers = assistant.papers_of(found.ids[first : first + PAGE])
        return listing_html(Listing(papers=papers, first=first, found=len(found.ids), remark=found.remark))

    def _page(self, session: Session, paper_id: str) -> str:
        assistant = self._assistant(session)
        papers = assistant.papers_of([paper_id])
        return paper_html(papers[0], assistant.neighbours(paper_id)) if papers else missing_html()

    def _reading(self, session: Session, listed: str) -> str:
        return reading_html(*reading_list(self._assistant(session), listed))

    def _assistant(self, session: Session) -> Assistant:
        return self._assistants.of(session.scope.collections)


def _or_notice(make: Callable[[], str]) -> str:
    """What `make` gives, or why there is nothing to show."""
    try:
        return make()
    except Exception as error:
        return notice_html(notice_of(error))
