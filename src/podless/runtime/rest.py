"""Decides when long work on the event loop may continue: after other requests had their turn.

A write takes several iterations of the loop. If long work took part of each, a client that writes every few
milliseconds would fall behind more and more. So some iterations pass between two pieces of work. After a long piece,
such as one call in C, this is too short for a client to send its next request. The work then rests as long as the piece
took, if other work is active.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

_TURNS: Final = 8  # iterations of the loop between two pieces; an empty one takes about 2 us
_LONG_PIECE: Final = 0.004  # seconds; after a longer piece iterations alone are not enough
_EMPTY_TURNS: Final = 0.0001  # seconds of processor time of all these iterations if they are empty
_ACTIVE: Final = 0.05  # seconds for which other work counts as active after it was last seen


class TurnPauses:
    """The pauses of one kind of work on one loop."""

    __slots__ = ("_active",)

    def __init__(self) -> None:
        self._active = 0.0  # loop time until which other work counts as active

    def call_after_pause(self, took: float, callback: Callable[[], object]) -> None:
        """Call back when the work may continue. took: seconds of the piece that has ended."""
        self._pass_turn(asyncio.get_running_loop(), _TURNS, time.thread_time(), took, callback)

    async def wait_pause(self, took: float) -> None:
        """Wait until the work may continue. took: seconds of the piece that has ended."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.call_after_pause(took, lambda: None if turn.done() else turn.set_result(None))
        await turn

    def _pass_turn(
        self, loop: asyncio.AbstractEventLoop, turns: int, began: float, took: float, callback: Callable[[], object]
    ) -> None:
        if turns:
            loop.call_soon(self._pass_turn, loop, turns - 1, began, took, callback)
            return
        now = loop.time()
        if time.thread_time() - began > _EMPTY_TURNS:
            self._active = now + _ACTIVE
        if took > _LONG_PIECE and now < self._active:
            loop.call_later(took, callback)
        else:
            callback()
