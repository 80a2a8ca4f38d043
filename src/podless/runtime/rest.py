"""When long work on the event loop may go on: after other requests had their turn.

A write takes several turns of the loop. If long work took part of each, a client that writes every few milliseconds
would fall behind more and more. So some turns pass between two pieces of work. After a long piece, such as one call in
C, that is not enough time for a client to ask again, so the work rests as long as the piece took if others are active.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

_TURNS: Final = 8  # of the loop between two pieces; an empty one takes about 2 us
_LONG: Final = 0.002  # seconds of a piece after which turns alone are not enough
_LITTLE: Final = 0.0001  # seconds of processor time that empty turns may take
_ACTIVE: Final = 0.05  # seconds for which others count as active after they were last seen


class Rest:
    """The rests of one kind of work on one loop."""

    __slots__ = ("_active",)

    def __init__(self) -> None:
        self._active = 0.0  # until when others count as active

    def call(self, took: float, callback: Callable[[], object]) -> None:
        """Call back when the work may go on. took: seconds of the piece that has ended."""
        self._pass_turn(asyncio.get_running_loop(), _TURNS, time.thread_time(), took, callback)

    async def take(self, took: float) -> None:
        """Wait until the work may go on. took: seconds of the piece that has ended."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.call(took, lambda: None if turn.done() else turn.set_result(None))
        await turn

    def _pass_turn(
        self, loop: asyncio.AbstractEventLoop, turns: int, began: float, took: float, callback: Callable[[], object]
    ) -> None:
        if turns:
            loop.call_soon(self._pass_turn, loop, turns - 1, began, took, callback)
            return
        now = loop.time()
        if time.thread_time() - began > _LITTLE:
            self._active = now + _ACTIVE
        if took > _LONG and now < self._active:
            loop.call_later(took, callback)
        else:
            callback()
