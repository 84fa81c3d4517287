"""The chat in a browser. The only package that imports Gradio."""

import os

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # Gradio asks its makers for news when it is imported otherwise

from assistant.ui.launch import ASSETS, launch_chat
from assistant.ui.page import build_page
from assistant.ui.render import NAME

__all__ = ["ASSETS", "NAME", "build_page", "launch_chat"]
