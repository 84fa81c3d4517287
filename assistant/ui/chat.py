"""The chat tab: what is on it, and what each action on it does. Every action works on the session's conversation."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import gradio as gr

from assistant.app import Assistants
from assistant.errors import UserFacingError
from assistant.feedback import FeedbackStore, feedback_on
from assistant.takeaway import TAKEN_AS
from assistant.ui.acts import QUIETLY, Acts, given
from assistant.ui.examples import LOOKED_AT, example_questions, next_questions
from assistant.ui.kept import conversation_of, kept
from assistant.ui.pauses import with_pauses
from assistant.ui.render import conversation_html, header_html, note_html
from assistant.ui.session import Conversation, Exchange, Notice, Scope, Session
from assistant.ui.sources import sources_html
from vectorstore.filters import PaperFilter

_log = logging.getLogger(__name__)

_APOLOGY = Notice(
    "Something went wrong, and there is no answer to this question.",
    "Ask again. If it stays so, the log of the program says why.",
)
_ALWAYS: dict[str, Any] = {**QUIETLY, "trigger_mode": "multiple"}
"""What comes while the same is still going on is not dropped, such as a question right after Stop."""
_ASKING: dict[str, Any] = {**_ALWAYS, "concurrency_limit": None}
"""`ChatActions.ask` sees to it that one answer is written at a time. How many are written for all visitors is up to
`Visitors`."""
_SECONDS_TO_NOTICE = 1.0
"""Gradio notices that a page was closed when something is sent to it, so that nothing new is sent as often."""
Pages = AsyncGenerator[tuple[Any, ...]]


@dataclass(frozen=True)
class ChatTab:
    """The components of the tab that other tabs act on."""

    conversation: gr.HTML
    sources: gr.HTML
    note: gr.HTML
    box: gr.Textbox

    @property
    def all(self) -> list[Any]:
        """In the order in which `ChatActions` gives their values."""
        return [self.conversation, self.sources, self.note, self.box]


def build_chat_tab(
    assistants: Assistants, acts: Acts, session: gr.State, header: gr.HTML, clear: gr.Button, tabs: gr.Tabs
) -> ChatTab:
    """The tab, inside the `gr.Tab` that is open now."""
    actions = ChatActions(assistants)
    with gr.Row(elem_id="page"):
        with gr.Column(elem_id="asking"):
            conversation = gr.HTML(conversation_html(Conversation()), elem_id="conversation", apply_default_css=False)
            with gr.Column(elem_id="composer"):
                note = gr.HTML("", elem_id="note", apply_default_css=False)
                with gr.Row(elem_id="ask-row"):
                    box = _question_box()
                    send = gr.Button("Ask", variant="primary", elem_id="send")
                    stop = gr.Button("Stop", elem_id="stop")
        sources = gr.HTML(sources_html(Conversation()), elem_id="sources", apply_default_css=False)
    tab = ChatTab(conversation, sources, note, box)
    remembered = gr.Textbox(visible="hidden", elem_id="remembered")
    taken = gr.Textbox(visible="hidden", elem_id="taken")

    typed = gr.on([box.submit, send.click], actions.ask, [box, session], tab.all, **_ASKING)
    clicked = acts.on("ask")(actions.ask_clicked, session, tab.all, **_ASKING)
    again = acts.on("retry")(actions.retry, session, tab.all, **_ASKING)
    running = [typed, clicked, again]
    changes = [
        *running,
        *(asked.then(actions.suggest, session, conversation, **_ALWAYS) for asked in running),
        stop.click(actions.stop, session, tab.all, cancels=running, **QUIETLY),
        clear.click(actions.clear, session, [header, *tab.all], cancels=running, **QUIETLY),
        acts.on("undo")(actions.undo, session, tab.all, **QUIETLY),
        acts.on("judge")(actions.judge, session, tab.all, **QUIETLY),
    ]
    for change in changes:
        change.then(actions.remembered, session, remembered, **_ALWAYS).then(
            None, remembered, None, js="(text) => window.assistant.remember(text)", **_ALWAYS
        )
    for asked in running:
        asked.then(actions.give_back, [box, session], box, **QUIETLY)
    acts.on("edit")(actions.edit, session, tab.all, **QUIETLY)
    acts.on("unedit")(actions.unedit, session, tab.all, **QUIETLY)
    acts.on("scope")(actions.narrow, session, [tabs, *tab.all], **QUIETLY)
    acts.on("unscope")(actions.widen, session, tab.all, **QUIETLY)
    acts.on("restore")(actions.restore, session, [header, *tab.all], cancels=running, **QUIETLY)
    acts.on("take")(actions.take, session, taken, **QUIETLY).then(
        None, taken, None, js="(text) => window.assistant.save(text)", **QUIETLY
    )
    return tab


def _question_box() -> gr.Textbox:
    return gr.Textbox(
        placeholder="Ask about these papers",
        label="Question",
        show_label=False,
        container=False,
        lines=1,
        max_lines=8,
        autofocus=True,
        elem_id="question",
    )


class ChatActions:
    """What the tab does; `Session` holds the state, this holds none.

    What is given back are the values of `ChatTab.all`: conversation, sources, note, question box.
    """

    def __init__(self, assistants: Assistants) -> None:
        self._assistants = assistants
        self._feedback = FeedbackStore(assistants.settings.data_dir)

    def open(self, session: Session) -> tuple[Any, ...]:
        """The header and the whole tab, for a page that has just been loaded."""
        names = session.scope.names(self._assistants.settings.collections)
        try:
            assistant = self._assistants.of(names)
            header = header_html(names, assistant.paper_count(), assistant.choices(), assistant.writer)
            first = assistant.papers_of(assistant.paper_ids(PaperFilter())[:LOOKED_AT])
        except Exception as error:
            failed = Conversation([Exchange("", phase="failed", notice=notice_of(error))])
            return header_html(names, 0, None, "quotation"), conversation_html(failed), "", "", gr.skip()
        return header, *self._shown(session, example_questions(first)), gr.skip()

    async def load(self, session: Session) -> tuple[Any, ...]:
        """What `open` gives, unless a question has been asked meanwhile: that stays on the page."""
        opened = await asyncio.to_thread(self.open, session)
        return (opened[0], *self._shown(session), gr.skip()) if session.conversation.exchanges else opened

    async def ask(self, question: str, session: Session, request: gr.Request) -> Pages:
        """The tab again and again while the question waits for its turn and the answer grows."""
        conversation = session.conversation
        if conversation.is_live:
            yield _NOTHING_NEW
            return
        history = conversation.history()
        exchange = conversation.begin(question)
        yield conversation_html(conversation), gr.skip(), note_html(session.scope), ""
        try:
            self._assistants.visitors.questions.count(visitor_of(request))
            assistant = self._assistant(session)
            stream = partial(assistant.astream, question, history, within=session.scope.within)
            coming = with_pauses(self._assistants.visitors.answered(stream), _SECONDS_TO_NOTICE)
            async with aclosing(coming) as events:
                async for event in events:
                    if not exchange.is_live:
                        break
                    if event is None:
                        yield _NOTHING_NEW
                        continue
                    exchange.take(event)
                    sources = gr.skip() if exchange.ahead else sources_html(conversation)
                    yield conversation_html(conversation), sources, gr.skip(), gr.skip()
        except Exception as error:
            exchange.fail(notice_of(error))
        finally:
            exchange.stop()
        # Gradio sends the last page once more at the end, so it must be the one that is true then.
        if session.conversation is conversation:
            yield *self._shown(session), gr.skip()
        else:
            yield _NOTHING_NEW

    async def ask_clicked(self, session: Session, request: gr.Request, event: gr.EventData) -> Pages:
        """The same for a question that stands on the page, or in the address of a link to it."""
        async with aclosing(self.ask(given(event, "question"), session, request)) as pages:
            async for page in pages:
                yield page

    async def retry(self, session: Session, request: gr.Request, event: gr.EventData) -> Pages:
        """Asks the question of an exchange anew, in the place of that exchange and what follows it."""
        at = _number(event, session.conversation)
        if at is None or session.conversation.is_live:
            yield _NOTHING_NEW
            return
        session.conversation.edited = at
        async with aclosing(self.ask(session.conversation.exchanges[at].question, session, request)) as pages:
            async for page in pages:
                yield page

    def suggest(self, session: Session) -> Any:
        """The conversation with what could be asked next: questions that the papers answer."""
        conversation = session.conversation
        last = conversation.exchanges[-1] if conversation.exchanges else None
        if last is None or last.answer is None or last.suggestions:
            return gr.skip()
        try:
            asked = [exchange.question for exchange in conversation.exchanges]
            assistant = self._assistant(session)
            last.suggestions = tuple(next_questions(assistant, conversation.answers(), asked, session.scope.within))
        except Exception as error:  # an answer without suggestions is whole
            _log.warning("No suggestions could be made: %s", type(error).__name__)
        return conversation_html(conversation) if session.conversation is conversation else gr.skip()

    def give_back(self, typed: str, session: Session) -> Any:
        """The question box after an answer: a question that failed comes back, unless another is being typed."""
        exchanges = session.conversation.exchanges
        last = exchanges[-1] if exchanges else None
        comes_back = last and last.notice and last.question.strip() and not typed
        return last.question if last and comes_back else gr.skip()

    def stop(self, session: Session) -> tuple[Any, ...]:
        """The tab, with what was shown when the reader stopped it."""
        session.conversation.stop()
        return *self._shown(session), gr.skip()

    def clear(self, session: Session) -> tuple[Any, ...]:
        """The header and the tab as they were at first, with an empty question box."""
        session.clear()
        return *self.open(session)[:-1], ""

    def undo(self, session: Session) -> tuple[Any, ...]:
        """Takes the last exchange back; its question returns to the box."""
        conversation = session.conversation
        if conversation.is_live or not conversation.exchanges:
            return _NOTHING_NEW
        question = conversation.exchanges.pop().question
        if not conversation.exchanges:
            return *self.open(session)[1:-1], question
        return *self._shown(session), question

    def edit(self, session: Session, event: gr.EventData) -> tuple[Any, ...]:
        """Puts a question into the box; when it is asked, it replaces the exchange and all that follow."""
        at = _number(event, session.conversation)
        if at is None or session.conversation.is_live:
            return _NOTHING_NEW
        session.conversation.edited = at
        return gr.skip(), gr.skip(), self._note(session), session.conversation.exchanges[at].question

    def unedit(self, session: Session) -> tuple[Any, ...]:
        """Leaves the conversation as it was."""
        session.conversation.edited = None
        return gr.skip(), gr.skip(), self._note(session), ""

    def narrow(self, session: Session, event: gr.EventData) -> tuple[Any, ...]:
        """Asks only the chosen papers from now on; the chat tab is opened for that."""
        paper_ids = tuple(given(event, "paperIds").split())
        within = PaperFilter(paper_ids=paper_ids) if paper_ids else None
        session.scope = replace(session.scope, within=within, named=given(event, "named"))
        return gr.Tabs(selected="chat"), gr.skip(), gr.skip(), self._note(session), gr.skip()

    def widen(self, session: Session) -> tuple[Any, ...]:
        """Asks all papers again."""
        session.scope = Scope(session.scope.collections)
        return gr.skip(), gr.skip(), self._note(session), gr.skip()

    def restore(self, session: Session, event: gr.EventData) -> tuple[Any, ...]:
        """A conversation that the browser has kept."""
        session.clear()
        try:
            session.conversation = conversation_of(given(event, "text"))
        except ValueError:
            notice = Notice("This conversation cannot be read any more.", "Begin a new one.")
            session.conversation = Conversation([Exchange("", phase="failed", notice=notice)])
        return *self.open(session)[:-1], ""

    def remembered(self, session: Session) -> str:
        """The conversation as the browser keeps it."""
        return kept(session.conversation)

    def take(self, session: Session, event: gr.EventData) -> str:
        """An answer, or the whole conversation, as a file for the browser to save."""
        conversation, form = session.conversation, TAKEN_AS[given(event, "form")]
        at = _number(event, conversation)
        answers = conversation.answers() if at is None else Conversation([conversation.exchanges[at]]).answers()
        name = "conversation" if at is None else "answer"
        return file_to_save(f"{name}{form.ending}", form.mime, form.text_of(answers))

    def judge(self, session: Session, event: gr.EventData) -> tuple[Any, ...]:
        """Keeps the reader's thumb on an answer, and a note."""
        at = _number(event, session.conversation)
        exchange = None if at is None else session.conversation.exchanges[at]
        verdict: Literal["up", "down"] = "up" if given(event, "verdict") == "up" else "down"
        if exchange is None or exchange.answer is None:
            return _NOTHING_NEW
        names = session.scope.names(self._assistants.settings.collections)
        note = given(event, "note")
        try:
            self._feedback.add(feedback_on(exchange.answer, verdict, note, collection=",".join(names)))
        except UserFacingError as error:
            exchange.notice = notice_of(error)
        else:
            exchange.judged, exchange.judged_note = verdict, note
        return *self._shown(session), gr.skip()

    def _assistant(self, session: Session) -> Any:
        return self._assistants.of(session.scope.collections)

    def _shown(self, session: Session, examples: list[str] | None = None) -> tuple[str, str, str]:
        conversation = session.conversation
        return conversation_html(conversation, examples or []), sources_html(conversation), self._note(session)

    def _note(self, session: Session) -> str:
        return note_html(session.scope, is_editing=session.conversation.edited is not None)


_NOTHING_NEW = (gr.skip(), gr.skip(), gr.skip(), gr.skip())


def file_to_save(name: str, media_type: str, text: str) -> str:
    """What the script of the page needs to save a file."""
    return json.dumps({"name": name, "type": media_type, "text": text})


def visitor_of(request: gr.Request) -> str:
    """Whose questions are counted together: a user's, or those from one address."""
    return request.username or (request.client.host if request.client else "")


def notice_of(error: Exception) -> Notice:
    """What a reader is told of an error; what is not meant for readers goes to the log."""
    if isinstance(error, UserFacingError):
        return Notice(error.message, error.hint)
    _log.exception("A question could not be answered", exc_info=error)
    return _APOLOGY


def _number(event: gr.EventData, conversation: Conversation) -> int | None:
    """Which exchange, from 0, the element belongs to that was clicked."""
    number = given(event, "number")
    at = int(number) - 1 if number.isdecimal() else -1
    return at if 0 <= at < len(conversation.exchanges) else None
