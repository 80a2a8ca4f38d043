"""Limits the objects that one run of Python's garbage collector looks through.

A run holds the interpreter for 0.2 to 0.4 us per object, so a run over a million objects blocks the loop for too long.
Long work pauses the collector (runtime/gcpause.py), and all objects that it creates are young when the pause ends. So
the objects of each run are estimated before it. If they are too many, all objects are exempted from collection, like
those of the start, which takes no time. Exempt objects are freed as usual when nothing refers to them; only unreachable
cycles stay. The exemption ends when few of them are left. If many are left, one long run collects their unreachable
cycles: memory that is never freed would be worse.
"""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress
from typing import Final, Literal

MOST: Final = 150_000  # young objects that one run looks through: up to 60 ms
_UNKNOWN: Final = 2_000_000  # exempt objects that no run has looked through: at least 200 MB
_WAITS: Final = 2.0, 64.0  # seconds from an exemption to the first count of the exempt objects, and between later ones
# young objects that start a run, and runs that start one of the next generation: the middle one stays small
_THRESHOLDS: Final = 20_000, 4, 100


class Collector:
    """The collector of a process that serves on one event loop. Call `start` and `stop` on this loop.

    most, unknown: as above. few: number of exempt objects at which the exemption ends. waits: minimum and maximum
    seconds before the exempt objects are counted, which takes 20 to 50 ns per object.
    """

    def __init__(
        self,
        most: int = MOST,
        few: int = MOST,
        unknown: int = _UNKNOWN,
        waits: tuple[float, float] = _WAITS,
    ) -> None:
        self._most = most
        self._few = few
        self._unknown = unknown
        self._waits = waits
        self._wait = waits[0]
        self._second = self._last = 0  # maximum objects of these generations
        self._examined = 0  # number of exempt objects after the last run over them
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop

    def start(self) -> None:
        """Exempt the objects of the start, because they live as long as the process, and begin to collect."""
        self._loop = asyncio.get_running_loop()
        gc.freeze()
        self._examined = gc.get_freeze_count()
        gc.set_threshold(*_THRESHOLDS)
        gc.callbacks.append(self._before_run)
        gc.enable()

    def stop(self) -> None:
        """Stop limiting the runs. Exempt objects stay exempt."""
        if self._before_run in gc.callbacks:
            gc.callbacks.remove(self._before_run)
        if self._timer is not None:
            self._timer.cancel()

    def _before_run(self, phase: Literal["start", "stop"], info: dict[str, int]) -> None:
        """Exempt all objects if the run would look through too many. Called on any thread, before and after a run."""
        if phase == "stop":
            return
        young, generation = gc.get_count()[0], info["generation"]
        self._second += young
        if generation == 0:
            if young > self._most:
                self._exempt_all()
            return
        if self._second > self._most:
            self._exempt_all()
            return
        self._last += self._second
        self._second = 0
        if self._last > self._most:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._limit_last)
        if generation == 2 and self._last > 2 * self._most:
            self._exempt_all()

    def _exempt_all(self) -> None:
        gc.freeze()
        self._second = self._last = 0
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._await_count)

    def _limit_last(self) -> None:
        """Collect the last generation, and exempt the rest, so that later runs do not look through it again.

        Only gc.get_objects could tell whether many are left, and it exposes the unfinished tuples of other threads.
        """
        if self._last <= self._most:
            return  # done since this was scheduled
        gc.collect()
        exempt = gc.get_freeze_count()
        self._exempt_all()
        self._examined += gc.get_freeze_count() - exempt

    def _await_count(self) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(self._wait, self._count_exempt)
            self._wait = min(2 * self._wait, self._waits[1])

    def _count_exempt(self) -> None:
        """Count the exempt objects. End the exemption if few are left; collect them once if they are far too many."""
        self._timer = None
        exempt = gc.get_freeze_count()
        if exempt <= self._few:
            gc.unfreeze()
            self._last += exempt
            self._wait = self._waits[0]
            self._examined = 0
        elif exempt - self._examined > self._unknown:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._examined = gc.get_freeze_count()
        else:
            self._await_count()
