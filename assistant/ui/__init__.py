"""The chat in a browser. The only package that imports Gradio."""

import os

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # Gradio asks its makers for news when it is imported otherwise

from assistant.ui.launch import launch_chat
from assistant.ui.page import build_page

__all__ = ["build_page", "launch_chat"]
