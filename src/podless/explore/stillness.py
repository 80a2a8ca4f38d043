"""Waits until a controller has done everything that follows from what it was sent."""

from __future__ import annotations

import asyncio

from podless.explore.instances import Instances
from podless.explore.laboratory import Laboratory
from podless.explore.turns import Turns

_PAUSE, _LONGEST_PAUSE = 0.001, 0.01  # seconds between two looks
_LOOKS = 150  # after which a controller counts as one that never rests
_HOPELESS = 3  # turns in a row in which it did not, after which it is no longer waited for
TURNS = 20  # of the event loop, in which the server answers, or lets pass, all that clients have sent


class Stillness:
    """Knows when the instances of a controller and the server's own controllers have nothing more to do."""

    def __init__(self, laboratory: Laboratory, instances: Instances) -> None:
        self._laboratory = laboratory
        self._instances = instances
        self._restless = 0

    async def wait(self, turns: Turns) -> None:
        """Return when all threads wait, and no request is being sent or carried out."""
        pause = _PAUSE
        for _ in range(_LOOKS):
            if await self._is_still(turns):
                self._restless = 0
                return
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, _LONGEST_PAUSE)
        self._restless += 1

    async def _is_still(self, turns: Turns) -> bool:
        if turns.busy or self._laboratory.connecting:
            return False
        await self._laboratory.finish_controllers()
        if self._restless >= _HOPELESS:
            return not turns.busy
        if not self._instances.are_still():
            return False
        count = turns.count
        for _ in range(TURNS):
            await asyncio.sleep(0)
        changed = turns.busy or count != turns.count or self._laboratory.connecting
        return not changed and self._instances.are_still()
