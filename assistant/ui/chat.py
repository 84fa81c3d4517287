"""The chat: what is on the page, and what each action on it does. Every action works on the session's conversation."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any

import gradio as gr

from assistant.background import in_background
from assistant.chain import Assistant
from assistant.errors import UserFacingError
from assistant.ui.examples import example_questions
from assistant.ui.render import NAME, conversation_html, header_html
from assistant.ui.session import Conversation, Exchange, Notice
from assistant.ui.sources import sources_html

_log = logging.getLogger(__name__)

_AT_ONCE = 8
"""Answers written at the same time; more questions wait."""
_WAITING = 64
"""Questions that may wait; one more is refused."""
_APOLOGY = Notice(
    "Something went wrong, and there is no answer to this question.",
    "Ask again. If it stays so, the log of the program says why.",
)
_QUIETLY: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
"""The page shows its own progress, and its actions are no API."""
_ASKING: dict[str, Any] = {**_QUIETLY, "trigger_mode": "multiple"}
"""A question right after Stop is not dropped; `ChatActions.ask` sees to it that one answer is written at a time."""
_EXAMPLE_CLICKED = """
element.addEventListener("click", (event) => {
  const example = event.target.closest(".example");
  if (example) trigger("click", { question: example.textContent });
});
"""


def build_chat(assistant: Assistant) -> gr.Blocks:
    """The page. It keeps nothing: each browser session has its own conversation, which ends with it."""
    actions = ChatActions(assistant)
    header_value, conversation_value, sources_value = actions.open(Conversation())
    chat: gr.Blocks
    with gr.Blocks(title=NAME, analytics_enabled=False, fill_height=True, fill_width=True) as chat:
        session = gr.State(Conversation())
        with gr.Row(elem_id="top"):
            header = _html(header_value, "header")
            clear = gr.Button("New conversation", elem_id="clear", size="sm")
        with gr.Row(elem_id="page"):
            with gr.Column(elem_id="asking"):
                conversation = _html(conversation_value, "conversation", js_on_load=_EXAMPLE_CLICKED)
                with gr.Row(elem_id="composer"):
                    box = _question_box()
                    send = gr.Button("Ask", variant="primary", elem_id="send")
                    stop = gr.Button("Stop", elem_id="stop")
            sources = _html(sources_value, "sources")

        columns, growing = [conversation, sources], [conversation, sources, box]
        typed = gr.on([box.submit, send.click], actions.ask, [box, session], growing, **_ASKING)
        clicked = conversation.click(actions.ask_example, session, growing, **_ASKING)
        for asked in (typed, clicked):
            asked.then(actions.give_back, [box, session], box, **_QUIETLY)
        stop.click(actions.stop, session, columns, cancels=[typed, clicked], **_QUIETLY)
        clear.click(actions.clear, session, [header, *growing], cancels=[typed, clicked], **_QUIETLY)
        chat.load(actions.open, session, [header, *columns], **_QUIETLY)
    chat.queue(default_concurrency_limit=_AT_ONCE, max_size=_WAITING)
    return chat


def _html(value: str, elem_id: str, *, js_on_load: str | None = None) -> gr.HTML:
    return gr.HTML(value, elem_id=elem_id, js_on_load=js_on_load, apply_default_css=False)


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
    """What the page does; `Conversation` holds the state, this holds none."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    def open(self, conversation: Conversation) -> tuple[str, str, str]:
        """The header and both columns, for a page that has just been loaded."""
        try:
            papers = self._assistant.papers()
        except Exception as error:
            failed = Exchange("", phase="failed", notice=_notice(error))
            return header_html([], self._assistant.writer), conversation_html([failed]), sources_html(conversation)
        header = header_html(papers, self._assistant.writer)
        return header, conversation_html(conversation.exchanges, example_questions(papers)), sources_html(conversation)

    async def ask(self, question: str, conversation: Conversation) -> AsyncGenerator[tuple[Any, ...]]:
        """Conversation, sources and question box, again and again while the answer grows."""
        if conversation.is_live:
            yield gr.skip(), gr.skip(), gr.skip()
            return
        history = conversation.history()
        exchange = conversation.begin(question)
        yield conversation_html(conversation.exchanges), gr.skip(), ""
        try:
            stream = partial(self._assistant.stream, question, history)
            async with aclosing(in_background(lambda stop: stream(stop=stop))) as events:
                async for event in events:
                    if not exchange.is_live:
                        break
                    exchange.take(event)
                    yield conversation_html(conversation.exchanges), sources_html(conversation), gr.skip()
        except Exception as error:
            exchange.fail(_notice(error))
        finally:
            exchange.stop()
        # Gradio sends the last page once more at the end, so it must be the one that is true then.
        if conversation.exchanges:
            yield conversation_html(conversation.exchanges), sources_html(conversation), gr.skip()
        else:
            yield gr.skip(), gr.skip(), gr.skip()

    async def ask_example(self, conversation: Conversation, event: gr.EventData) -> AsyncGenerator[tuple[Any, ...]]:
        """The same for the example that was clicked."""
        async with aclosing(self.ask(str(event.question), conversation)) as pages:
            async for page in pages:
                yield page

    def give_back(self, typed: str, conversation: Conversation) -> Any:
        """The question box after an answer: a question that failed comes back, unless another is being typed."""
        last = conversation.exchanges[-1] if conversation.exchanges else None
        comes_back = last and last.notice and last.question.strip() and not typed
        return last.question if last and comes_back else gr.skip()

    def stop(self, conversation: Conversation) -> tuple[str, str]:
        """Both columns, with what was shown when the reader stopped it."""
        conversation.stop()
        return conversation_html(conversation.exchanges), sources_html(conversation)

    def clear(self, conversation: Conversation) -> tuple[str, str, str, str]:
        """The page as it was at first, with an empty question box."""
        conversation.clear()
        return *self.open(conversation), ""


def _notice(error: Exception) -> Notice:
    """What a reader is told of an error; what is not meant for readers goes to the log."""
    if isinstance(error, UserFacingError):
        return Notice(error.message, error.hint)
    _log.exception("A question could not be answered", exc_info=error)
    return _APOLOGY
