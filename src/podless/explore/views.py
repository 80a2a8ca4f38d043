"""A client's view of a resource: its watches, whose events a run can hold."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import orjson

from podless.explore.turns import Take
from podless.http.faults import framing
from podless.http.message import Sink, Stream
from podless.http.stream import error_event
from podless.meta.errors import Expired


class Hold:
    """A client's events of a resource are held. revision: of the state that lists show meanwhile, 0 for the present.

    drop: the events are dropped at the end, not delivered.
    """

    __slots__ = ("drop", "revision", "rounds")

    def __init__(self, rounds: int, *, drop: bool = False, revision: int = 0) -> None:
        self.rounds = rounds
        self.drop = drop
        self.revision = revision


class ResourceView:
    """The watches of a resource that one client has open.

    told: called with each delivered event, as JSON. Each run sets its own. queue: called with the revision of an event,
    and with a function that delivers it at its turn.
    """

    def __init__(self, told: Callable[[bytes], None], queue: Callable[[int, Take], None]) -> None:
        self.hold: Hold | None = None
        self.told = told
        self.queue = queue
        self._open: list[_HeldSink] = []

    def stream(self, answer: Stream) -> Stream:
        """Return a watch whose events this view can hold. Its events are JSON."""

        def start(sink: Sink) -> Callable[[], None]:
            held = _HeldSink(self, sink)
            self._open.append(held)
            held.stop = answer.start(held)
            return lambda: self._leave(held)

        return Stream(start, answer.media, answer.headers)

    def _leave(self, held: _HeldSink) -> None:
        held.over = True
        if held in self._open:
            self._open.remove(held)
        held.stop()

    @property
    def watched(self) -> bool:
        """Whether a watch is open."""
        return any(not held.over for held in self._open)

    @property
    def drops(self) -> bool:
        """Whether the held events are to be dropped at the end.

        They are not if an object was created and deleted meanwhile: a client that never sees it rightly does nothing
        for it, and the run ends in another state than the reference runs.
        """
        return self.hold is not None and self.hold.drop and not any(held.keeps_whole_life() for held in self._open)

    def release(self, *, drop: bool) -> bool:
        """End the hold: drop its events, or deliver them. Return whether a client gets events by that."""
        self.hold = None
        waiting = [held for held in self._open if held.kept]
        for held in waiting:
            held.expire() if drop else held.queue()
        return bool(waiting)

    def cut(self) -> bool:
        """End all watches with 410. Return whether there were any."""
        watched = self.watched
        for held in list(self._open):
            held.expire()
        return watched

    def close(self) -> None:
        """End all watches."""
        for held in list(self._open):
            held.finish()


class _HeldSink:
    """The sink of a watch, in front of the sink of its connection."""

    def __init__(self, view: ResourceView, sink: Sink) -> None:
        self.over = False
        self.kept: deque[bytes] = deque()
        self.stop: Callable[[], None] = lambda: None
        self._view = view
        self._sink = sink
        self._queued = False
        self._revision = 0

    def send(self, data: bytes) -> bool:
        """Keep events until their turn, or until they are no longer held."""
        if self.over:
            return False
        self.kept.extend(framing.JSON_LINES.split(data))
        self.queue()
        return True

    def queue(self) -> None:
        """Request a turn for the first event."""
        if self.kept and not self._queued and self._view.hold is None:
            self._queued = True
            self._revision = max(self._revision, _read_revision(self.kept[0]))  # events of one watch keep their order
            self._view.queue(self._revision, self._deliver)

    def keeps_whole_life(self) -> bool:
        """Return whether the held events tell of an object's creation and of its deletion."""
        added: set[str] = set()
        for event in map(orjson.loads, self.kept):
            uid = ((event.get("object") or {}).get("metadata") or {}).get("uid", "")
            if event.get("type") == "ADDED":
                added.add(uid)
            elif event.get("type") == "DELETED" and uid in added:
                return True
        return False

    def _deliver(self, came: bool) -> None:
        self._queued = False
        if came and self.kept and not self.over and self._view.hold is None:
            event = self.kept.popleft()
            self._view.told(event)
            self._sink.send(event)
            self.queue()

    def pull(self, pieces: Iterator[bytes]) -> None:
        """Send the initial events, or keep them."""
        for piece in pieces:
            if piece:
                self.send(piece)

    def end(self) -> None:
        """End the watch."""
        if not self.over:
            self.over = True
            self._sink.end()

    def expire(self) -> None:
        """Drop the held events and send 410, so that the client lists again."""
        self.kept.clear()
        if not self.over:
            self._sink.send(error_event(Expired("too old resource version: 1 (2)").status(), binary=False))
            self.finish()

    def finish(self) -> None:
        """End the watch from the server's side."""
        self.end()
        self.stop()


def _read_revision(event: bytes) -> int:
    metadata = (orjson.loads(event).get("object") or {}).get("metadata") or {}
    return int(metadata.get("resourceVersion") or 0)
