"""What a click in our own HTML does: `data-act="ask"` on an element starts what is bound to the act "ask".

The script of the page (static/page.js) tells of the click as an event "act:ask" with the element's data; a hidden
component passes that on to Python.
"""

from typing import Any

import gradio as gr

_PASS_ON = 'document.addEventListener("act:%s", (event) => trigger("click", event.detail));'
QUIETLY: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
"""The page shows its own progress, and its actions are no API."""


class Acts:
    """The acts of a page. Their components stand outside the tabs: what is in a tab is not there until it is opened."""

    def __init__(self) -> None:
        self._components: list[gr.HTML] = []

    def on(self, name: str) -> Any:
        """Binds a function to an act, as `component.click` does: `acts.on("ask")(function, inputs, outputs)`."""
        component = gr.HTML("", visible="hidden", js_on_load=_PASS_ON % name, elem_id=f"act-{name}", render=False)
        self._components.append(component)
        return component.click

    def render(self) -> None:
        """Puts the components on the page; to be called outside all tabs."""
        for component in self._components:
            component.render()  # type: ignore[no-untyped-call]


def given(event: gr.EventData, name: str) -> str:
    """The `data-NAME` of the element that was clicked; empty when it has none."""
    return str(getattr(event, name, "") or "")
