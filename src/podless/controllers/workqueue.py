"""A work queue of keys: each is processed once however often it is added, and retried after a failure.

As in client-go's work queue, a key that is added while it is processed is queued again afterwards.
"""

from __future__ import annotations

import asyncio
import heapq
import math

_FIRST_RETRY = 0.05  # seconds after the first failure; the delay doubles with each further one
_LAST_RETRY = 60.0


class WorkQueue:
    """A queue of keys with due times. If a key is added several times, the earliest counts."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._due: dict[str, float] = {}
        self._times: list[tuple[float, str]] = []  # a heap; entries that differ from _due are ignored
        self._in_progress: set[str] = set()
        self._added_meanwhile: dict[str, float] = {}
        self._failures: dict[str, int] = {}
        self._awaited: dict[str, list[asyncio.Future[None]]] = {}
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._due) + len(self._in_progress)

    def add(self, key: str, delay: float = 0.0) -> None:
        """Add a key, due after some seconds, or earlier if it already is."""
        time = self._loop.time() + delay if delay else 0.0
        waiting = self._added_meanwhile if key in self._in_progress else self._due
        if time >= waiting.get(key, time + 1):
            return
        waiting[key] = time
        if waiting is self._due:
            heapq.heappush(self._times, (time, key))
            self._changed.set()

    def take_due(self, limit: int) -> list[str]:
        """Return due keys, the earliest first. Call `finish_key` for each."""
        now = self._loop.time()
        results: list[str] = []
        while len(results) < limit and self._next_due() <= now:
            key = heapq.heappop(self._times)[1]
            del self._due[key]
            self._in_progress.add(key)
            results.append(key)
        return results

    def take_key(self, key: str) -> bool:
        """Take one key if it is due, and return whether it was. Call `finish_key` for it."""
        if self._due.get(key, math.inf) > self._loop.time():
            return False
        del self._due[key]
        self._in_progress.add(key)
        return True

    def finish_key(self, key: str, *, failed: bool = False) -> None:
        """Note that a key was processed. A failed one is queued again, with a growing delay."""
        self._in_progress.discard(key)
        added_at = self._added_meanwhile.pop(key, None)
        if failed:
            failures = self._failures[key] = self._failures.get(key, 0) + 1
            self.add(key, min(_FIRST_RETRY * 2 ** min(failures - 1, 20), _LAST_RETRY))
        else:
            self._failures.pop(key, None)
        if added_at is not None:
            self.add(key, max(added_at - self._loop.time(), 0.0))
        for future in self._awaited.pop(key, ()):
            if not future.done():
                future.set_result(None)
        self._changed.set()

    @property
    def busy(self) -> bool:
        """Whether keys are due or in progress."""
        if not self._due:  # the usual case, when a request waits
            return bool(self._in_progress)
        return bool(self._in_progress) or self._next_due() <= self._loop.time()

    def is_busy(self, within: float) -> bool:
        """Return whether keys are in progress, or due within some seconds."""
        return bool(self._in_progress) or self._next_due() <= self._loop.time() + within

    def has_key(self, key: str) -> bool:
        """Return whether a key waits or is in progress."""
        return key in self._due or key in self._in_progress

    def is_taken(self, key: str) -> bool:
        """Return whether a key is in progress."""
        return key in self._in_progress

    async def wait_for_key(self, key: str) -> None:
        """Wait until a key is no longer in progress."""
        future = self._loop.create_future()
        self._awaited.setdefault(key, []).append(future)
        await future

    async def wait_due(self) -> None:
        """Wait until a key is due, or one in progress is done."""
        self._changed.clear()
        time = self._next_due()
        if time <= self._loop.time():
            return
        timer = self._loop.call_at(time, self._changed.set) if time != math.inf else None
        try:
            await self._changed.wait()
        finally:
            if timer is not None:
                timer.cancel()

    def _next_due(self) -> float:
        """Return the time at which the next key is due."""
        while self._times and self._due.get(self._times[0][1]) != self._times[0][0]:
            heapq.heappop(self._times)
        return self._times[0][0] if self._times else math.inf
