"""The collections tab: which collections are asked, and adding papers to one, with a report on every record."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr

from assistant.app import Assistants
from assistant.html import counted, escaped
from assistant.ui.acts import QUIETLY
from assistant.ui.chat import ChatActions, ChatTab, notice_of
from assistant.ui.render import notice_html
from assistant.ui.session import Notice, Scope, Session
from vectorstore.types import IndexReport, SourceChange, UnreadFile

_SHOWN = 200
"""Records named of each file."""
_INTERVAL = 0.5
"""Seconds between two looks at how far the work is."""
_NOTHING_GIVEN = Notice("There is no file yet.", "Drop files on the field above, or choose some.")


def build_collections_tab(assistants: Assistants, session: gr.State, header: gr.HTML, chat: ChatTab) -> list[Any]:
    """The tab, inside the `gr.Tab` that is open now; returns what `CollectionsActions.open` gives the values of."""
    actions = CollectionsActions(assistants)
    with gr.Column(elem_id="collections"):
        gr.HTML("<h2>What is asked</h2>", apply_default_css=False)
        chosen = gr.CheckboxGroup(label="Collections", show_label=False, elem_id="chosen")
        gr.HTML(_ADDING, apply_default_css=False)
        files = gr.File(file_count="multiple", label="Files of papers", elem_id="files", height=160)
        with gr.Row(elem_id="adding"):
            name = gr.Textbox(label="Into the collection", elem_id="into", max_lines=1, info=_NAMES)
            add = gr.Button("Add papers", variant="primary", elem_id="add")
        report = gr.HTML("", elem_id="report", apply_default_css=False)
    chosen.input(actions.ask_these, [chosen, session], [chosen, header, *chat.all], **QUIETLY)
    add.click(actions.add, [files, name, session], [report, files, add], **{**QUIETLY, "trigger_mode": "once"}).then(
        actions.choice, session, chosen, **QUIETLY
    ).then(ChatActions(assistants).open, session, [header, *chat.all], **QUIETLY)
    return [chosen, name]


_ADDING = """<h2>Add papers</h2>
<p class="hint">Exports of Zotero, Scopus, PubMed, arXiv, OpenReview, OpenAlex or a conference's site, BibTeX, RIS,
tables, JSON, Markdown, text, PDF, or a zip of these. A file of the same name brings its changes; nothing is added
twice.</p>"""
_NAMES = "An existing one, or a new name: lower-case letters, digits, “.”, “_” and “-”."


class CollectionsActions:
    """What the tab does."""

    def __init__(self, assistants: Assistants) -> None:
        self._assistants = assistants
        self._chat = ChatActions(assistants)

    def open(self, session: Session) -> tuple[Any, str]:
        """The choice of collections, and the name of the one that papers are added to if none other is typed."""
        return self.choice(session), self._asked(session)[0]

    def choice(self, session: Session) -> Any:
        """The collections, with those that are asked chosen."""
        return gr.CheckboxGroup(choices=self._assistants.names(), value=list(self._asked(session)))

    def _asked(self, session: Session) -> Sequence[str]:
        return session.scope.names(self._assistants.settings.collections)

    def ask_these(self, names: list[str], session: Session) -> tuple[Any, ...]:
        """Lets questions be asked of these collections from now on; of one at least."""
        before = session.scope
        if names:
            session.scope = Scope(tuple(name for name in self._assistants.names() if name in names))
        try:
            self._assistants.of(session.scope.collections)
        except Exception as error:
            session.scope = before
            gr.Warning(escaped(notice_of(error).message))
        return self.choice(session), *self._chat.open(session)

    async def add(self, files: Sequence[str] | None, name: str, session: Session) -> AsyncGenerator[tuple[Any, ...]]:
        """Reads files into a collection; shows how far it is, then the report."""
        if not files:
            yield notice_html(_NOTHING_GIVEN), gr.skip(), gr.skip()
            return
        started = time.monotonic()
        busy = gr.Button("Adding …", interactive=False)
        yield gr.skip(), gr.skip(), busy
        try:
            paths = [Path(file) for file in files]
            async for step in _steps(lambda told: self._assistants.add(paths, name.strip(), progress=told)):
                if isinstance(step, IndexReport):
                    shown = report_html(step)
                    session.scope = replace(session.scope, collections=(step.collection,), within=None)
                else:
                    yield progress_html(*step, time.monotonic() - started), gr.skip(), gr.skip()
        except Exception as error:
            yield notice_html(notice_of(error)), gr.skip(), gr.Button("Add papers", interactive=True)
            return
        yield shown, None, gr.Button("Add papers", interactive=True)


async def _steps(
    work: Callable[[Callable[[str, int, int], None]], IndexReport],
) -> AsyncGenerator[tuple[str, int, int] | IndexReport]:
    """How far the work is, again and again, at last its report. It goes on when nobody listens any more."""
    latest = ("reading", 0, 0)

    def told(what: str, done: int, total: int) -> None:
        nonlocal latest
        latest = (what, done, total)

    running = asyncio.create_task(asyncio.to_thread(work, told))
    while not running.done():
        yield latest
        await asyncio.wait([running], timeout=_INTERVAL)
    yield running.result()


def progress_html(what: str, done: int, total: int, seconds: float) -> str:
    """How far it is, with the rate and the time left once these can be told."""
    rate = done / seconds if seconds > 1 else 0
    left = f", {rate:.0f} a second, {(total - done) / rate:.0f} s left" if rate and total > done else ""
    counted_so_far = f" {done:,} of {total:,}" if total else " …"
    bar = f'<progress max="{max(total, 1)}" value="{done}" aria-label="{escaped(what)}"></progress>'
    return (
        f'<div class="progressing" role="status"><p>{escaped(what.capitalize())}{counted_so_far}{left}</p>{bar}</div>'
    )


def report_html(report: IndexReport) -> str:
    """What was done with each file and each of its records."""
    files = "".join([*map(_source_html, report.sources), *map(_unread_html, report.unread)])
    total = f"The collection <b>{escaped(report.collection)}</b> has {counted(report.papers, 'paper')} now."
    return f'<section class="report" aria-label="Report" role="status"><p>{total}</p>{files}</section>'


def _source_html(change: SourceChange) -> str:
    counts = {
        "read": change.read,
        "added": change.added,
        "changed": change.changed,
        "unchanged": change.unchanged,
        "removed": change.removed,
        "without abstract": change.title_only,
        "skipped": len(change.skipped),
        "duplicates": len(change.duplicates),
    }
    told = ", ".join(f"{number:,} {name}" for name, number in counts.items() if number or name in ("read", "added"))
    named = f"<b>{escaped(Path(change.path).name)}</b> <small>{escaped(change.format)}</small>"
    records = [
        *(escaped(str(skipped)) for skipped in change.skipped),
        *(f"record {each.position}: the same paper as record {each.of}" for each in change.duplicates),
        *map(escaped, change.warnings),
    ]
    return f'<div class="file"><p>{named}</p><p>{told}</p>{_records_html(records)}</div>'


def _records_html(records: Sequence[str]) -> str:
    if not records:
        return ""
    more = f"<li>and {len(records) - _SHOWN:,} more</li>" if len(records) > _SHOWN else ""
    items = "".join(f"<li>{record}</li>" for record in records[:_SHOWN])
    return f"<details><summary>{counted(len(records), 'remark')}</summary><ul>{items}{more}</ul></details>"


def _unread_html(unread: UnreadFile) -> str:
    named = f"<b>{escaped(Path(unread.path).name)}</b>"
    return f'<div class="file failed"><p>{named}</p><p>{escaped(unread.message)} {escaped(unread.hint)}</p></div>'
