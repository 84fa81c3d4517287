"""Notices when a client leaves before the first of an answer is there."""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request

Result = TypeVar("Result")


async def unless_gone(request: Request, work: Awaitable[Result]) -> Result:
    """What the work gives. Raises `ClientDisconnect`, and ends the work, when the client leaves before."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
