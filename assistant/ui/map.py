"""The map tab: the collection as a picture, made when the tab is opened."""

from collections.abc import Iterator

import gradio as gr

from assistant.app import Assistants
from assistant.html import counted
from assistant.ui.acts import QUIETLY
from assistant.ui.atlas import atlas_html
from assistant.ui.chat import notice_of
from assistant.ui.render import notice_html
from assistant.ui.session import Session


def build_map_tab(assistants: Assistants, session: gr.State, tab: gr.Tab) -> None:
    """What is inside `tab`, which is open now."""

    def shown(session: Session) -> Iterator[str]:
        """The map, with the papers of the last answer marked; before it, that it is being made."""
        try:
            assistant = assistants.of(session.scope.collections)
            papers = counted(assistant.paper_count(), "paper")
            yield f'<p class="waiting" role="status">Laying out {papers} by meaning …</p>'
            cited = next((each.citations for each in reversed(session.conversation.exchanges) if each.citations), [])
            yield atlas_html(
                assistant.atlas(), assistant.papers(), highlighted={citation.paper.paper_id for citation in cited}
            )
        except Exception as error:
            yield notice_html(notice_of(error))

    picture = gr.HTML("", elem_id="atlas", apply_default_css=False)
    tab.select(shown, session, picture, **QUIETLY)
