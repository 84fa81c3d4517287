"""What a click in our own HTML does: `data-act="ask"` on an element starts what is bound to the act "ask".

The script of the page (static/page.js) tells of the click as an event "act:ask" with the element's data; a hidden
component passes that on to Python.
"""

from typing import Any

import gradio as gr

_PASS_ON = 'document.addEventListener("act:%s", (event) => trigger("click", event.detail));'
QUIETLY: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
"""The page shows its own progress, and its actions are no API."""


def act(name: str) -> Any:
    """Binds a function to an act, as `component.click` does; call it as `act("ask")(function, inputs, outputs)`."""
    return gr.HTML("", visible="hidden", js_on_load=_PASS_ON % name, elem_id=f"act-{name}").click


def given(event: gr.EventData, name: str) -> str:
    """The `data-NAME` of the element that was clicked; empty when it has none."""
    return str(getattr(event, name, "") or "")
