"""Events are gone a while after they were written last."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from podless.cache.entry import Entry
from podless.cache.watchcache import Event, WatchCache
from podless.controllers.write import discard
from podless.kinds.kind import Kind
from podless.meta.errors import APIError
from podless.store import StoreError
from podless.verbs.call import API

log = logging.getLogger(__name__)

_TOGETHER = 256  # deletes that are under way at once; they share commits
_ROUND = 1.0  # seconds that what is due may wait for more of it


class _Due(NamedTuple):
    """When an object in this state goes: a Unix time."""

    time: float
    key: str
    revision: int


class Expiry:
    """Deletes each object of a kind when its time is over; every write gives it all of its time again.

    When an object was written is only known while the server runs. After a start it is the latest time that its
    metadata has: of its creation, and of the writes that its managers made.
    """

    def __init__(self, api: API, kind: Kind, seconds: float) -> None:
        self._api = api
        self._seconds = seconds
        self._collection: WatchCache = api.collection(kind)
        self._kind = kind
        self._due: deque[_Due] = deque()  # in the order of time
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin; what is stored is read in the background."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """End; what is over by then goes at the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        await self._collection.load()
        entries = self._collection.under(self._kind.prefix)[0]
        self._due.extend(sorted(_Due(_written(entry) + self._seconds, entry.key, entry.revision) for entry in entries))
        leave = self._collection.add_event_handler(self._note)
        try:
            while True:
                self._wake.clear()
                if not self._due:
                    await self._wake.wait()
                wait = self._due[0].time - time.time()
                await asyncio.sleep(max(wait, 0) + min(_ROUND, self._seconds / 10))
                await self._expire()
        finally:
            leave()

    def _note(self, events: Sequence[Event]) -> None:
        due = time.time() + self._seconds
        for event in events:
            if event.after is not None:
                self._due.append(_Due(due, event.key, event.revision))
        self._wake.set()

    async def _expire(self) -> None:
        """Delete what is over and has not been written since."""
        now = time.time()
        over = []
        while self._due and self._due[0].time <= now:
            one = self._due.popleft()
            entry = self._collection.get(one.key)
            if entry is not None and entry.revision == one.revision:
                over.append(one)
        for start in range(0, len(over), _TOGETHER):
            await asyncio.gather(*map(self._delete, over[start : start + _TOGETHER]))

    async def _delete(self, one: _Due) -> None:
        try:
            await discard(self._api, self._kind, one.key, one.revision)
        except (APIError, StoreError) as error:
            log.warning("%s is over, and stays: %s", one.key, error)


def _written(entry: Entry) -> float:
    """When the object was written last, as far as its metadata tells; a Unix time."""
    metadata: dict[str, Any] = entry.decode()["metadata"]
    times = [metadata["creationTimestamp"]]
    times += [given["time"] for given in metadata.get("managedFields") or () if given.get("time")]
    return max(datetime.fromisoformat(text).timestamp() for text in times)
