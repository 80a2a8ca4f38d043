"""The only retry loop of clients; the server's own is in verbs/storage.py."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def retry_call(
    work: Callable[[], Awaitable[T]],
    *errors: type[Exception],
    tries: int = 0,
    seconds: float = 0.0,
    pause: float = 0.0,
    growth: float = 1.0,
) -> T:
    """Call `work` until it raises none of these errors, and return its result.

    tries: maximum number of calls (default: no limit). seconds: no further call starts after them (default: no limit).
    pause: seconds between two calls, multiplied by `growth` after each; an error that has a `wait` can ask for more.
    Raises the last error at a limit, and any other error at once.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while True:
        tries -= 1
        try:
            return await work()
        except errors as error:
            if tries == 0 or (seconds and loop.time() > end):
                raise
            pause = max(pause, getattr(error, "wait", 0.0))
        if pause:
            await asyncio.sleep(pause)
        pause *= growth
