"""Changes the events of a watch as a fault says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from podless.http.faults import framing
from podless.http.faults.fault import InjectedFault
from podless.http.message import JSON, Sink, Stream
from podless.http.stream import error_event
from podless.meta.errors import Expired

_MOST = 1 << 20  # maximum bytes of events that a burst collects


class Disturbed:
    """A sink before the sink of a watch, which applies the fault. It receives batches of whole events."""

    def __init__(self, fault: InjectedFault, media: bytes, sink: Sink) -> None:
        self._fault = fault
        self._frames = framing.JSON_LINES if media == JSON else framing.PROTOBUF_FRAMES
        self._sink = sink
        self._left = fault.cut_after if fault.cut_after is not None else fault.expire_after
        self._over = False
        self._kept: list[bytes] = []
        self._held = 0
        self._timer: asyncio.TimerHandle | None = None
        self._stop: Callable[[], None] = lambda: None

    @classmethod
    def stream(cls, fault: InjectedFault, answer: Stream) -> Stream:
        """Return the stream of a watch, with the fault applied."""

        def start(sink: Sink) -> Callable[[], None]:
            found = cls(fault, answer.media, sink)
            found._stop = answer.start(found)
            if found._left == 0:
                found.send(b"")
            return found._ended

        return Stream(start, answer.media, answer.headers)

    def _ended(self) -> None:
        """Stop at the end of the stream."""
        self._over = True
        self._kept.clear()
        if self._timer is not None:
            self._timer.cancel()
        self._stop()

    def send(self, data: bytes) -> bool:
        """Send events as the fault changes them."""
        if self._over:
            return True
        if not self._fault.burst or self._left == 0:
            return self._send(data)
        self._kept.append(data)
        self._held += len(data)
        if self._held > _MOST:
            return self._flush()
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._fault.burst, self._flush)
        return True

    def _send(self, data: bytes) -> bool:
        sent = self._sink.send(self._changed(data))
        if self._over:
            self._finish()
        return sent

    def _flush(self) -> bool:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        kept = b"".join(self._kept)
        self._kept.clear()
        self._held = 0
        return self._send(kept) if kept and not self._over else True

    def pull(self, pieces: Iterator[bytes]) -> None:
        """Send the initial events as the fault changes them."""

        def changed() -> Iterator[bytes]:
            for piece in pieces:
                if self._over:  # an event of the time before these pieces has ended the watch
                    return
                yield self._changed(piece)
                if self._over:
                    asyncio.get_running_loop().call_soon(self._finish)
                    return

        self._sink.pull(changed())

    def end(self) -> None:
        """End the watch."""
        self._flush()
        if not self._over:
            self._sink.end()

    def _finish(self) -> None:
        self._stop()
        self._sink.end()

    def _changed(self, data: bytes) -> bytes:
        fault, frames, found = self._fault, self._frames, list[bytes]()
        events = frames.split(data)
        for event in framing.compress_events(events, frames) if fault.compress else events:
            if self._left == 0:
                break
            mark = frames.type(event) == b"BOOKMARK"
            if fault.bookmarks and not mark:
                continue
            found += [event] * (1 if mark else fault.duplicate)
            if self._left is not None and not mark:
                self._left -= 1
        if self._left == 0:
            self._over = True
            if fault.expire_after is not None:
                found.append(self._expired())
        return b"".join(found)

    def _expired(self) -> bytes:
        status = Expired("too old resource version: 1 (2)").status()
        return error_event(status, binary=self._frames is framing.PROTOBUF_FRAMES)
