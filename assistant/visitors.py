"""Many visitors at once: in which order their questions are answered, and how many one of them may ask."""

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TypeVar

from assistant.errors import TooManyQuestions

Item = TypeVar("Item")
_MINUTE = 60.0
_REQUESTS = 4
"""Times as many requests as questions: some clients send several for one, or some that are no questions."""
_SECONDS_BETWEEN_POSITIONS = 1.0
"""How often somebody in the line is told how many are before, at most: a page is drawn anew for it."""


@dataclass(frozen=True)
class Waiting:
    """A question waits for others to be answered."""

    ahead: int
    """How many come before it."""


class RateLimit:
    """How often one visitor may do something within a minute; anybody any number of times when `per_minute` is None.

    For one thread. Who has done nothing for a minute is forgotten.
    """

    def __init__(self, per_minute: int | None, what: str) -> None:
        self._per_minute = per_minute
        self._what = what
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        """When each visitor did it within the last minute; whoever did it last comes last."""

    def count(self, visitor: str) -> None:
        """Counts one. Raises `TooManyQuestions` when the visitor has done it as often as a minute allows."""
        if self._per_minute is None:
            return
        now = time.monotonic()
        self._forget_before(now - _MINUTE)
        times = self._times.setdefault(visitor, deque())
        while times and times[0] <= now - _MINUTE:
            times.popleft()
        if len(times) >= self._per_minute:
            seconds = math.ceil(times[0] + _MINUTE - now)
            raise TooManyQuestions(
                f"This server allows you {self._per_minute} {self._what} a minute.",
                f"Try again in {seconds} seconds.",
                wait_seconds=seconds,
            )
        times.append(now)
        self._times.move_to_end(visitor)

    def _forget_before(self, time: float) -> None:
        while self._times and next(iter(self._times.values()))[-1] <= time:
            self._times.popitem(last=False)


class Visitors:
    """One for a program: whatever door a question comes by, it stands in the same line.

    The line is of the event loop in which it is used first.
    """

    def __init__(self, *, at_once: int, longest: int, per_minute: int | None = None) -> None:
        self.questions = RateLimit(per_minute, "questions")
        self.requests = RateLimit(_REQUESTS * per_minute if per_minute else None, "requests")
        self._free = at_once
        self._longest = longest
        self._line: deque[asyncio.Event] = deque()

    async def answered(self, start: Callable[[], AsyncGenerator[Item]]) -> AsyncGenerator[Item | Waiting]:
        """The items that `start` gives when it is this question's turn; until then, how many are before it.

        Raises `TooManyQuestions` when the line is full. Closing it gives the place to the next.
        """
        turn = asyncio.Event()
        if self._free:
            self._free -= 1
        elif len(self._line) >= self._longest:
            raise TooManyQuestions("Too many questions are waiting already.", "Ask again in a minute.", wait_seconds=60)
        else:
            self._line.append(turn)
        try:
            async with aclosing(self._positions(turn)) as positions:
                async for position in positions:
                    yield position
            async with aclosing(start()) as items:
                async for item in items:
                    yield item
        finally:
            self._leave(turn)

    async def _positions(self, turn: asyncio.Event) -> AsyncGenerator[Waiting]:
        """How many are before it whenever that has changed, until it is its turn."""
        told = None
        while turn in self._line:
            position = Waiting(self._line.index(turn) + 1)
            if position != told:
                yield position
            told = position
            with suppress(TimeoutError):
                async with asyncio.timeout(_SECONDS_BETWEEN_POSITIONS):
                    await turn.wait()

    def _leave(self, turn: asyncio.Event) -> None:
        """Lets the next one in, unless this one was still in the line."""
        if turn in self._line:
            self._line.remove(turn)
        elif self._line:
            self._line.popleft().set()
        else:
            self._free += 1
