"""Waits until a controller has done everything that follows from the events and answers that it got."""

from __future__ import annotations

import asyncio
import time

from podless.explore.instances import Instances
from podless.explore.laboratory import Laboratory
from podless.explore.turns import Turns

_PAUSE, _LONGEST_PAUSE = 0.001, 0.01  # minimum and maximum seconds between two checks
# limits after which a controller counts as never resting: checks without computing, clock ticks of computing, and
# seconds, because a busy machine may not let it compute for long
_LOOKS, _TICKS, _LONGEST = 150, 100, 60.0
_HOPELESS = 3  # failures to rest in a row, after which podless waits no longer
# iterations of the event loop in which the server answers, or lets pass, all requests that clients have sent
LOOP_TURNS = 20


class Stillness:
    """Checks whether the instances of a controller and the server's own controllers have finished their work."""

    def __init__(self, laboratory: Laboratory, instances: Instances) -> None:
        self._laboratory = laboratory
        self._instances = instances
        self._restless = 0

    async def wait_for_stillness(self, turns: Turns) -> None:
        """Return when all threads wait, and no request is being sent or carried out."""
        instances, pause, looks = self._instances, _PAUSE, 0
        ticks, until = instances.ticks, time.monotonic() + _LONGEST
        while looks < _LOOKS and instances.ticks < ticks + _TICKS and time.monotonic() < until:
            if await self._is_still(turns):
                self._restless = 0
                return
            looks += not instances.is_running
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, _LONGEST_PAUSE)
        self._restless += 1

    async def _is_still(self, turns: Turns) -> bool:
        if turns.busy or self._laboratory.is_connecting:
            return False
        await self._laboratory.finish_controllers()
        if self._laboratory.is_delivering:  # events go before the answer of the write that made them
            return False
        if self._restless >= _HOPELESS:
            return not turns.busy
        if not self._instances.are_still():
            return False
        count = turns.count
        for _ in range(LOOP_TURNS):
            await asyncio.sleep(0)
        changed = turns.busy or count != turns.count or self._laboratory.is_connecting
        return not changed and not self._laboratory.is_delivering and self._instances.are_still()
