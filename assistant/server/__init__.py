"""`assistant serve`: the chat, the OpenAI-compatible API and the MCP server, for many visitors."""

from assistant.server.application import build_application
from assistant.server.serving import serve

__all__ = ["build_application", "serve"]
