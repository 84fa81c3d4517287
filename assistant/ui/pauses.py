"""Items that may be long in coming, with signs of life between them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TypeVar

Item = TypeVar("Item")


async def with_pauses(items: AsyncGenerator[Item], seconds: float) -> AsyncGenerator[Item | None]:
    """The items as they come, and None whenever none has come for so long. Closing this closes them at once."""
    async with aclosing(items):
        while True:
            coming = asyncio.ensure_future(anext(items))
            try:
                while not (await asyncio.wait({coming}, timeout=seconds))[0]:
                    yield None
                item = await coming
            except StopAsyncIteration:
                return
            finally:
                coming.cancel()
                with suppress(asyncio.CancelledError, StopAsyncIteration, Exception):
                    await coming
            yield item
