"""How long work tells what it has done so far."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much."""


def silent(what: str, done: int, total: int) -> None:
    """The `Progress` that shows nothing."""
