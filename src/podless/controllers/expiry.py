"""Deletes Events some time after their last write."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from podless.apis.core.group import EVENTS
from podless.cache.entry import Entry
from podless.cache.events import CacheEvent
from podless.controllers.controller import KindController
from podless.controllers.write import discard_object
from podless.runtime import clock
from podless.verbs.call import API


class ObjectExpiry(KindController):
    """Deletes each Event some time after its last write.

    Keys are those of Events. seconds: the time. While the server runs, an object's revision shows when it was written.
    For objects that were written earlier, it is the latest time in their metadata: of the creation, or of a manager's
    write. So any server can take over from another.
    """

    name = "event-expiry-controller"
    kind = EVENTS

    def __init__(self, api: API, seconds: float) -> None:
        super().__init__(api)
        self._seconds = seconds
        self._grain = min(1.0, seconds / 10)  # seconds by which a delete can be late, so that deletes are batched
        self._revisions: deque[int] = deque()  # one for each grain of time with a write
        self._times: deque[float] = deque()

    async def begin(self) -> None:
        """Start; stored objects are read in the background."""
        self.leave.append(clock.CURRENT.get().add_listener(self._handle_advance))
        self.run_once("load", self._load_objects)

    async def _load_objects(self) -> None:
        await self._collection.load()
        self.leave.append(self._collection.add_event_handler(self._note_events))
        for entry in self._list_stored():
            self.queue.add(entry.key, self._seconds_left(entry))

    def _note_events(self, events: Sequence[CacheEvent]) -> None:
        now = clock.time()
        if events and (not self._times or now >= self._times[-1] + self._grain):
            self._revisions.append(events[0].revision)
            self._times.append(now)
            while self._times[0] < now - 2 * self._seconds:
                self._revisions.popleft()
                self._times.popleft()
        for event in events:
            if event.after is not None:
                self.queue.add(event.key, self._seconds + self._grain)

    def _handle_advance(self, seconds: float) -> None:
        """Check all objects again after the clock was advanced."""
        for entry in self._list_stored():
            self.queue.add(entry.key)

    async def reconcile(self, key: str) -> None:
        entry = self._collection.get(key)
        if entry is None:
            return
        seconds = self._seconds_left(entry)
        if seconds > 0:
            self.queue.add(key, seconds)  # written again since it was queued
        else:
            await discard_object(self.api, self.kind, key, entry.revision)

    def _seconds_left(self, entry: Entry) -> float:
        index = bisect_right(self._revisions, entry.revision)
        written = self._times[index - 1] if index else _last_write_time(entry)
        return max(written + self._seconds + self._grain - clock.time(), 0.0)


def _last_write_time(entry: Entry) -> float:
    """Return the latest write time in the object's metadata, as a Unix time."""
    metadata: dict[str, Any] = entry.decode()["metadata"]
    times = [stamp] if (stamp := metadata.get("creationTimestamp")) else []
    times += [stamp["time"] for stamp in metadata.get("managedFields") or () if stamp.get("time")]
    return max((datetime.fromisoformat(text).timestamp() for text in times), default=0.0)
