"""Waits until a controller has done everything that follows from what it was sent."""

from __future__ import annotations

import asyncio
import time

from podless.explore.instances import Instances
from podless.explore.laboratory import Laboratory
from podless.explore.turns import Turns

_PAUSE, _LONGEST_PAUSE = 0.001, 0.01  # seconds between two looks
# after which a controller counts as one that never rests: looks at which it did not compute, clock ticks of computing,
# and seconds, because a busy machine may not let it compute for long
_LOOKS, _TICKS, _LONGEST = 150, 100, 60.0
_HOPELESS = 3  # turns in a row in which it did not, after which it is no longer waited for
LOOP_TURNS = 20  # of the event loop, in which the server answers, or lets pass, all that clients have sent


class Stillness:
    """Knows when the instances of a controller and the server's own controllers have nothing more to do."""

    def __init__(self, laboratory: Laboratory, instances: Instances) -> None:
        self._laboratory = laboratory
        self._instances = instances
        self._restless = 0

    async def wait(self, turns: Turns) -> None:
        """Return when all threads wait, and no request is being sent or carried out."""
        instances, pause, looks = self._instances, _PAUSE, 0
        ticks, until = instances.ticks, time.monotonic() + _LONGEST
        while looks < _LOOKS and instances.ticks < ticks + _TICKS and time.monotonic() < until:
            if await self._is_still(turns):
                self._restless = 0
                return
            looks += not instances.running
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, _LONGEST_PAUSE)
        self._restless += 1

    async def _is_still(self, turns: Turns) -> bool:
        if turns.busy or self._laboratory.connecting:
            return False
        await self._laboratory.finish_controllers()
        if self._laboratory.delivering:  # an event goes before the answer of the write that made it
            return False
        if self._restless >= _HOPELESS:
            return not turns.busy
        if not self._instances.are_still():
            return False
        count = turns.count
        for _ in range(LOOP_TURNS):
            await asyncio.sleep(0)
        changed = turns.busy or count != turns.count or self._laboratory.connecting
        return not changed and not self._laboratory.delivering and self._instances.are_still()
