"""Work that would keep all others waiting, on a thread of its own: one piece at a time."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_SWITCH = 0.0005  # seconds after which a thread that computes lets the event loop go on


class Offload:
    """Runs functions beside the event loop, which goes on meanwhile."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def run(self, work: Callable[[], T]) -> T:
        """What the function gives. Raises what it raises."""
        async with self._turn:
            loop = asyncio.get_running_loop()
            done: asyncio.Future[T] = loop.create_future()

            def settle(result: T | None, error: BaseException | None) -> None:
                if done.done():
                    return
                if error is not None:
                    done.set_exception(error)
                else:
                    done.set_result(result)  # type: ignore[arg-type]

            def body() -> None:
                result, error = None, None
                try:
                    result = work()
                except BaseException as caught:
                    error = caught
                with contextlib.suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(settle, result, error)

            before = sys.getswitchinterval()
            sys.setswitchinterval(_SWITCH)
            try:
                threading.Thread(target=body, daemon=True).start()
                return await done
            finally:
                sys.setswitchinterval(before)
