"""Many visitors at once: in which order their questions are answered, and how many one of them may ask."""

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from assistant.errors import TooManyQuestions

Item = TypeVar("Item")


@dataclass(frozen=True)
class Waiting:
    """A question waits for others to be answered."""

    ahead: int
    """How many come before it."""


class RateLimit:
    """How often one visitor may do something within a minute; anybody any number of times when `per_minute` is None."""

    def __init__(self, per_minute: int | None, what: str) -> None:
        self._limit = RateLimitItemPerMinute(per_minute) if per_minute else None
        self._what = what
        self._counts = MovingWindowRateLimiter(MemoryStorage())

    def count(self, visitor: str) -> None:
        """Counts one. Raises `TooManyQuestions` when the visitor has done it as often as a minute allows."""
        if self._limit is None or self._counts.hit(self._limit, visitor):
            return
        reset = self._counts.get_window_stats(self._limit, visitor).reset_time
        seconds = max(1, math.ceil(reset - time.time()))
        raise TooManyQuestions(
            f"This server allows you {self._limit.amount} {self._what} a minute.",
            f"Try again in {seconds} seconds.",
            wait_seconds=seconds,
        )


class Visitors:
    """One for a program: whatever door a question comes by, it stands in the same line.

    The line is of the event loop in which it is used first.
    """

    def __init__(self, *, at_once: int, longest: int, per_minute: int | None = None) -> None:
        self.questions = RateLimit(per_minute, "questions")
        self._free = at_once
        self._longest = longest
        self._line: deque[asyncio.Event] = deque()

    async def answered(self, start: Callable[[], AsyncGenerator[Item]]) -> AsyncGenerator[Item | Waiting]:
        """The items that `start` gives when it is this question's turn; until then, how many are before it.

        Raises `TooManyQuestions` when the line is full. Closing it gives the place to the next.
        """
        moved = asyncio.Event()
        if self._free:
            self._free -= 1
        elif len(self._line) >= self._longest:
            raise TooManyQuestions("Too many questions are waiting already.", "Ask again in a minute.", wait_seconds=60)
        else:
            self._line.append(moved)
        try:
            while moved in self._line:
                yield Waiting(self._line.index(moved) + 1)
                await moved.wait()
                moved.clear()
            async with aclosing(start()) as items:
                async for item in items:
                    yield item
        finally:
            self._leave(moved)

    def _leave(self, moved: asyncio.Event) -> None:
        """Lets the next one in, unless this one was still in the line, and tells those behind."""
        behind = 0
        if moved in self._line:
            behind = self._line.index(moved)
            del self._line[behind]
        elif self._line:
            self._line.popleft().set()
        else:
            self._free += 1
        for other in islice(self._line, behind, None):
            other.set()
