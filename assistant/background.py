"""A generator run in a thread of its own, so that whoever stops listening need not wait for its next item."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import closing, suppress
from contextvars import copy_context
from typing import TypeVar, cast

Item = TypeVar("Item")


async def in_background(start: Callable[[threading.Event], Iterator[Item]]) -> AsyncGenerator[Item]:
    """The items that `start` gives, as they come.

    When this is closed, the event that `start` was given is set, and the generator is closed as soon as it heeds that
    or gives its next item.
    """
    loop = asyncio.get_running_loop()
    ready: asyncio.Queue[Item | _End] = asyncio.Queue()
    stop = threading.Event()

    def give(item: "Item | _End") -> None:
        with suppress(RuntimeError):  # the server is gone, and nobody listens
            loop.call_soon_threadsafe(ready.put_nowait, item)

    def run() -> None:
        try:
            with closing(cast("Generator[Item]", start(stop))) as items:
                for item in items:
                    if stop.is_set():
                        return
                    give(item)
        except Exception as error:  # raised again where the items are awaited
            give(_End(error))
        else:
            give(_End(None))

    threading.Thread(target=copy_context().run, args=(run,), name="answer", daemon=True).start()
    try:
        while not isinstance(item := await ready.get(), _End):
            yield item
        if item.error:
            raise item.error
    finally:
        stop.set()


class _End:
    def __init__(self, error: Exception | None) -> None:
        self.error = error
