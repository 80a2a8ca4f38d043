"""A client's view of a resource: its watches, whose events can be held back, delivered late or dropped.

The gate keeps a ResourceView for each client and resource, and puts it in front of the client's watches. So a schedule
can show a controller an old state, as a slow cache would.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import orjson

from podless.explore.turns import Take
from podless.http.faults import carry
from podless.http.message import Sink, Stream
from podless.http.stream import error_event
from podless.meta.errors import Expired
from podless.runtime.dataclass import dataclass


@dataclass(slots=True)
class Hold:
    """A client's events of a resource are held. revision: of the state that lists show meanwhile, 0 for the present.

    drop: the events are dropped at the end, not delivered.
    """

    rounds: int
    drop: bool = False
    revision: int = 0


class ResourceView:
    """The watches of a resource that one client has open.

    on_event: called with each delivered event, as JSON. Each run sets its own. queue_turn: called with the revision of
    an event, and with a function that delivers it at its turn.
    """

    def __init__(self, on_event: Callable[[bytes], None], queue_turn: Callable[[int, Take], None]) -> None:
        self.hold: Hold | None = None
        self.on_event = on_event
        self.queue_turn = queue_turn
        self._open: list[_HeldSink] = []

    def wrap_stream(self, answer: Stream) -> Stream:
        """Return a watch whose events this view can hold. Its events are JSON."""

        def start_stream(sink: Sink) -> Callable[[], None]:
            watch = _HeldSink(self, sink)
            self._open.append(watch)
            watch.stop_stream = answer.start(watch)
            return lambda: self._remove_watch(watch)

        return Stream(start_stream, answer.media, answer.headers)

    def _remove_watch(self, watch: _HeldSink) -> None:
        watch.has_ended = True
        if watch in self._open:
            self._open.remove(watch)
        watch.stop_stream()

    @property
    def is_watched(self) -> bool:
        """Whether a watch is open."""
        return any(not watch.has_ended for watch in self._open)

    @property
    def will_drop(self) -> bool:
        """Whether the held events are to be dropped at the end.

        They are not if an object was created and deleted meanwhile. A client that never sees it rightly does nothing
        for it, so the run would end in another state than the reference runs.
        """
        return self.hold is not None and self.hold.drop and not any(watch.keeps_whole_life() for watch in self._open)

    def release_events(self, *, drop: bool) -> bool:
        """End the hold: drop its events, or deliver them. Return whether a client gets events by that."""
        self.hold = None
        waiting = [watch for watch in self._open if watch.events]
        for watch in waiting:
            watch.expire_watch() if drop else watch.request_turn()
        return bool(waiting)

    def cut_watches(self) -> bool:
        """End all watches with 410. Return whether there were any."""
        watched = self.is_watched
        for watch in list(self._open):
            watch.expire_watch()
        return watched

    def end_watches(self) -> None:
        """End all watches."""
        for watch in list(self._open):
            watch.finish_watch()


class _HeldSink:
    """The sink of a watch, in front of the sink of its connection."""

    def __init__(self, view: ResourceView, sink: Sink) -> None:
        self.has_ended = False
        self.events: deque[bytes] = deque()
        self.stop_stream: Callable[[], None] = lambda: None
        self._view = view
        self._sink = sink
        self._queued = False
        self._revision = 0

    def send(self, data: bytes) -> bool:
        """Keep events until their turn, or until they are no longer held."""
        if self.has_ended:
            return False
        self.events.extend(carry.JSON_LINES.split_events(data))
        self.request_turn()
        return True

    def request_turn(self) -> None:
        if self.events and not self._queued and self._view.hold is None:
            self._queued = True
            self._revision = max(self._revision, _read_revision(self.events[0]))  # events of one watch keep their order
            self._view.queue_turn(self._revision, self._deliver_event)

    def keeps_whole_life(self) -> bool:
        """Return whether the held events tell of an object's creation and of its deletion."""
        added: set[str] = set()
        for event in map(orjson.loads, self.events):
            uid = ((event.get("object") or {}).get("metadata") or {}).get("uid", "")
            if event.get("type") == "ADDED":
                added.add(uid)
            elif event.get("type") == "DELETED" and uid in added:
                return True
        return False

    def _deliver_event(self, came: bool) -> None:
        self._queued = False
        if came and self.events and not self.has_ended and self._view.hold is None:
            event = self.events.popleft()
            self._view.on_event(event)
            self._sink.send(event)
            self.request_turn()

    def send_initial(self, pieces: Iterator[bytes]) -> None:
        """Send the initial events, or keep them."""
        for piece in pieces:
            if piece:
                self.send(piece)

    def end(self) -> None:
        """End the watch."""
        if not self.has_ended:
            self.has_ended = True
            self._sink.end()

    def expire_watch(self) -> None:
        """Drop the held events and send 410, so that the client lists again."""
        self.events.clear()
        if not self.has_ended:
            self._sink.send(error_event(Expired("too old resource version: 1 (2)").status(), binary=False))
            self.finish_watch()

    def finish_watch(self) -> None:
        """End the watch from the server's side."""
        self.end()
        self.stop_stream()


def _read_revision(event: bytes) -> int:
    metadata = (orjson.loads(event).get("object") or {}).get("metadata") or {}
    return int(metadata.get("resourceVersion") or 0)
