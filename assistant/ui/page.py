"""The page: a header, and one tab each for the chat, the papers, their map and the collections."""

import os
from typing import Any

import gradio as gr

from assistant.app import Assistants
from assistant.html import button, escaped
from assistant.takeaway import TAKEN_AS
from assistant.ui.acts import QUIETLY, Acts
from assistant.ui.chat import ChatActions, build_chat_tab
from assistant.ui.collections import CollectionsActions, build_collections_tab
from assistant.ui.map import build_map_tab
from assistant.ui.papers import build_papers_tab
from assistant.ui.render import NAME, header_html
from assistant.ui.session import Session

_AT_ONCE = 8
"""Runs of one action at the same time, apart from those that `Visitors` lets in."""
_RUNS = 256
"""Of all actions together. A question that waits for its turn is one, so it must be far more than may wait."""
_WAITING = 1_000
"""Actions that may wait; one more is refused."""
_PAGES = 1_000
"""Pages that are remembered, those used last: 0.1 MB each, and their conversations. Gradio drops none by itself."""
_NEVER = str(2**62)


def build_page(assistants: Assistants) -> gr.Blocks:
    """The page. It keeps nothing: each browser session has its own conversation, which its browser keeps."""
    page: Any
    acts = Acts()
    with gr.Blocks(title=NAME, analytics_enabled=False, fill_height=True, fill_width=True) as page:
        session = gr.State(Session())
        with gr.Row(elem_id="top"):
            header = gr.HTML(header_html([], 0, None, "quotation"), elem_id="header", apply_default_css=False)
            gr.HTML(_CONVERSATIONS, elem_id="kept", apply_default_css=False)
            account = gr.HTML("", elem_id="account", apply_default_css=False)
            clear = gr.Button("New conversation", elem_id="clear", size="sm")
        with gr.Tabs(selected="chat", elem_id="tabs") as tabs:
            with gr.Tab("Chat", id="chat"):
                chat = build_chat_tab(assistants, acts, session, header, clear, tabs)
            with gr.Tab("Papers", id="papers", render_children=True) as papers:
                build_papers_tab(assistants, acts, session, page, tabs, papers, chat.note)
            with gr.Tab("Map", id="map") as map_tab:
                build_map_tab(assistants, session, map_tab)
            with gr.Tab("Collections", id="collections", render_children=True):
                collections = build_collections_tab(assistants, session, header, chat)
        acts.render()
        page.load(ChatActions(assistants).load, session, [header, *chat.all], **QUIETLY)
        page.load(_account_html, None, account, **QUIETLY)
        page.load(CollectionsActions(assistants).open, session, collections, **QUIETLY)
    page.max_threads, page.state_session_capacity = _RUNS, _PAGES
    os.environ["GRADIO_ANALYTICS_CACHE_FREQUENCY"] = _NEVER  # else up to 40 ms after each action, which nobody looks at
    page.queue(default_concurrency_limit=_AT_ONCE, max_size=_WAITING)
    return page  # type: ignore[no-any-return]


def _account_html(request: gr.Request) -> str:
    """Who has logged in, where users do, and the way out."""
    if not request.username:
        return ""
    name = escaped(request.username)
    return f'<form method="post" action="/logout"><span>{name}</span><button class="quiet">Log out</button></form>'


_SAVES = " ".join(button(form.title, "take", "quiet", form=name) for name, form in TAKEN_AS.items())
_CONVERSATIONS = f"""
<details class="menu conversations"><summary>Conversations</summary>
<div><ul aria-label="Conversations"></ul><p class="empty">Conversations are kept in this browser only.</p>
<p class="saves">Save the open one as {_SAVES}</p></div>
</details>
"""
"""Filled in by the script of the page, from what the browser keeps."""
