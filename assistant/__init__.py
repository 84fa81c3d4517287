"""Ask questions about research-paper abstracts; every sentence of an answer rests on a checked quotation.

from assistant import build_assistant
answer = build_assistant().ask("Which paper fits a 70B model on a 24GB GPU?")
print(answer.text)
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assistant.app import build_assistant
    from assistant.chain import Assistant
    from assistant.errors import UserFacingError
    from assistant.types import Answer

__all__ = ["Answer", "Assistant", "UserFacingError", "build_assistant"]

_HOMES = {
    "Answer": "assistant.types",
    "Assistant": "assistant.chain",
    "UserFacingError": "assistant.errors",
    "build_assistant": "assistant.app",
}


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used, so that `assistant --help` need not load what it does not use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
