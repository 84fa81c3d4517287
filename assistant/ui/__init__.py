"""The chat in a browser. The only package that imports Gradio."""

import os

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # Gradio asks its makers for news when it is imported otherwise

from assistant.ui.chat import build_chat
from assistant.ui.launch import launch_chat

__all__ = ["build_chat", "launch_chat"]
