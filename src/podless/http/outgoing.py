"""The sending side of a connection: whole answers, long ones piece by piece as the client reads, and streams.

Pieces are made when the client has read the earlier ones; what exists and is unread is charged to its user (held.py).
The connection cuts off a client that reads nothing for some time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator

from podless.codec import gotext
from podless.http import sending
from podless.http.clientmemory import ANSWERS, STREAMS, ClientMemory
from podless.http.limits import Limits
from podless.http.message import MAX_LOGGED, LazyBody, Response, Sink, Stream
from podless.http.sending import CHUNKED, PLAIN, DatedHeads, DiscardingTransport, Framing, JoinedPieces
from podless.runtime.pace import Pace
from podless.runtime.slices import IncompleteItem, SlicedIterator
from podless.runtime.traces import trace_error

log = logging.getLogger("podless")

_HIGH, _LOW = 1 << 16, 1 << 14  # bytes in the transport: above the first sending pauses, below the second it continues
_MAKING = 0.001  # seconds of making pieces, after which other users have their turn
_TURN = 1 << 18  # bytes sent in one turn; encrypting them takes less than a millisecond
_NOWHERE = DiscardingTransport()
_FULL = "unread data of its user has reached the limit of --max-held-megabytes"
Piece = bytes | memoryview


class OutgoingAnswers:
    """Sends to one client. user: is charged. writable: None while the client reads as fast as the server sends.

    since: loop time at which the client was last seen reading, 0 while no bytes wait for it.
    """

    __slots__ = (
        "_buffered", "_loop", "_sink", "clock", "limits", "memory", "pace", "since", "transport", "user", "writable",
    )  # fmt: skip

    def __init__(self, memory: ClientMemory, limits: Limits, clock: DatedHeads, pace: Pace) -> None:
        self.memory = memory
        self.pace = pace
        self.limits = limits
        self._loop = asyncio.get_running_loop()
        self._sink: StreamSink | None = None
        self._buffered = 0  # charged bytes in the transport's buffer
        self.clock = clock
        self.transport: asyncio.Transport = _NOWHERE
        self.user = ""
        self.writable: asyncio.Event | None = None
        self.since = 0.0

    def open(self, transport: asyncio.Transport) -> None:
        """Start sending to a connected client."""
        self.transport = transport
        transport.set_write_buffer_limits(_HIGH, _LOW)

    def close(self) -> None:
        """Stop when the client has disconnected."""
        self.transport = _NOWHERE
        self._release_buffered()
        self.memory.end_read(self)
        if self._sink is not None:
            self._sink.drop_pieces()
            self._sink = None
        if self.writable is not None:
            self.writable.set()

    def cut_off(self, reason: str = "the server needs the memory of its unread data") -> None:
        """Disconnect the client, and log the reason."""
        log.warning("http: closed a connection of %s: %s", gotext.quote(self.user[:MAX_LOGGED]), reason)
        transport = self.transport
        self.close()
        transport.abort()

    def pause_sending(self) -> None:
        """Note that the client reads more slowly than the server sends."""
        self.writable = asyncio.Event()
        self.since = self._loop.time()
        size = self.transport.get_write_buffer_size()
        if self.memory.charge_holder(self.user, size, ANSWERS, self, alone=True):
            self._buffered = size
        else:
            self.cut_off(_FULL)

    def resume_sending(self) -> None:
        """Note that the client reads again."""
        self.since = 0.0
        self._release_buffered()
        if self.writable is not None:
            self.writable.set()
            self.writable = None
        if self._sink is not None:
            self._sink.send_soon()

    def _release_buffered(self) -> None:
        if self._buffered:
            size, self._buffered = self._buffered, 0
            self.memory.release_bytes(self.user, size, ANSWERS, self)

    # answers

    def make_head(self, answer: Response, end: bytes, flow: bytes, chunked: bool = True) -> bytes:
        """Return the head of an answer. end: lines about the connection. flow: lines that name its FlowSchema.

        chunked: use it if the length is unknown.
        """
        length = b"Content-Length: %d\r\n" % answer.size
        if answer.size < 0:
            length = b"Transfer-Encoding: chunked\r\n" if chunked else b""
        return self.clock.make_head(answer.status, answer.media, answer.headers, length + end, flow)

    def charge_answer(self, answer: Response) -> bool:
        """Charge the bytes that exist only for a long answer, before it starts. Returns False if there is no room.

        A list of stored bytes has none at the start; `ClientMemory.begin_read` counts objects that are replaced
        meanwhile. One answer is always sent if nothing else is charged.
        """
        return not answer.own_size or self.memory.charge_holder(self.user, answer.own_size, STREAMS, self, alone=True)

    def send_body(self, head: bytes, answer: Response, chunked: bool, on_sent: Callable[[], None]) -> None:
        """Send a long, charged body piece by piece as the client reads it. on_sent: called when everything is sent.

        chunked: use it if the length is unknown.
        """
        chunks, own_size = answer.chunks, answer.own_size
        self._sink = sink = StreamSink(self, CHUNKED if chunked else PLAIN, on_sent, own_size)
        self.transport.write(head)
        sink.start(
            self.pace.slice_iterator(iter(chunks))
            if isinstance(chunks, LazyBody)
            else JoinedPieces(sending.slice_chunks(chunks))
        )
        sink.end()

    # streams

    def start_stream(
        self, head: bytes, answer: Stream, framing: Framing, on_end: Callable[[], None]
    ) -> Callable[[], None]:
        """Start a stream. on_end: called when it has ended in order. Returns a function that stops it."""
        self.transport.write(head)
        sink = self._sink = StreamSink(self, framing, on_end)
        return answer.start(sink)

    @property
    def closing_bytes(self) -> bytes:
        """The bytes that end the current stream in order."""
        return self._sink.last if self._sink is not None else b""

    def end_stream(self) -> None:
        """Note that the stream has ended."""
        self._sink = None
        self.memory.end_read(self)

    def write_piece(self, data: Piece) -> None:
        """Send a piece. It is charged if the client has stopped reading since the piece was begun."""
        if self.writable is not None:
            if not self.memory.charge_holder(self.user, len(data), ANSWERS, self, alone=True):
                self.cut_off(_FULL)
                return
            self._buffered += len(data)
        self.transport.write(data)


class StreamSink(Sink):
    """Writes a stream's framed pieces. They are queued while the client does not read; too many cut it off.

    Pieces are shared by all clients with the same view, and framed when they are written. size: charged bytes besides
    the queued ones.
    """

    def __init__(self, out: OutgoingAnswers, framing: Framing, on_end: Callable[[], None], size: int = 0) -> None:
        self._out = out
        self._wrap, self.last = framing
        self._on_end = on_end
        self._finished = False
        self._ending = False
        self._source: SlicedIterator[Piece] | JoinedPieces | None = None
        self._waiting: deque[Piece] = deque()
        self._size = 0
        self._own_size = size
        self._due = False
        self._begun = False  # a piece needs another slice

    def send(self, data: Piece) -> bool:
        """Queue one piece. Return False if the client is gone, or was too slow and is now disconnected."""
        out = self._out
        if self._finished or out.transport is _NOWHERE:
            return False
        if self._source is None and not self._waiting and out.writable is None:
            out.transport.write(self._wrap(data))
            return True
        if self._size + len(data) > out.limits.buffer:
            out.cut_off("the client reads a watch too slowly")
            return False
        if not out.memory.charge_holder(out.user, len(data), STREAMS, out):
            out.cut_off(_FULL)
            return False
        self._waiting.append(data)
        self._size += len(data)
        return True

    def send_initial(self, pieces: Iterator[Piece]) -> None:
        self.start(self._out.pace.slice_iterator(pieces))

    def start(self, source: SlicedIterator[Piece] | JoinedPieces) -> None:
        """Send the pieces of a source first, as `send_initial` does."""
        self._source = source
        self._out.memory.begin_read(self._out)
        self.send_soon()  # not now: the first pieces of many answers would fill one iteration of the loop

    def send_soon(self) -> None:
        """Continue in a later turn of the loop, because the client reads again."""
        if not self._due and (self._source is not None or self._waiting or self._ending):
            self._due = True
            self._out.pace.run_soon(self._out.user, self._send_next)

    def _send_next(self) -> None:
        self._due = False
        out, budget, until = self._out, _TURN, time.perf_counter() + _MAKING
        # a begun piece is completed even if the client does not read: decoded, its object takes much memory
        while not self._finished and (out.writable is None or self._begun) and out.transport is not _NOWHERE:
            try:
                piece = self._take_piece()
                self._begun = False
            except IncompleteItem:
                self._begun = self._due = True
                out.pace.run_soon(out.user, self._send_next, first=True)
                return
            except Exception as error:
                log.error("http: an answer could not be produced: %s", trace_error(error))
                out.cut_off("its answer could not be produced")
                return
            if piece is None:
                if self._ending:
                    self._end_stream()
                return
            if piece:
                out.write_piece(self._wrap(piece))
            budget -= len(piece)
            if budget <= 0 or time.perf_counter() > until:
                self.send_soon()
                return

    def _take_piece(self) -> Piece | None:
        """Return the next piece to send."""
        if self._source is not None:
            piece = self._source.next_item()
            if piece is not None:
                return piece
            self._source = None
            self._out.memory.end_read(self._out)  # from here on it follows live changes
        if not self._waiting:
            return None
        piece = self._waiting.popleft()
        self._size -= len(piece)
        self._release_bytes(len(piece))
        return piece

    def end(self) -> None:
        if self._finished or self._out.transport is _NOWHERE:
            return
        if self._source is not None or self._waiting:
            self._ending = True
        else:
            self._end_stream()

    def _end_stream(self) -> None:
        self._finished = True
        if self.last:
            self._out.transport.write(self.last)
        self._release_charge()
        self._out.end_stream()
        self._on_end()

    def drop_pieces(self) -> None:
        """Drop everything, because the client is gone."""
        self._finished = True
        if self._source is not None:
            self._source.close()
            self._source = None
        self._waiting.clear()
        self._release_charge()

    def _release_charge(self) -> None:
        size, self._size, self._own_size = self._size + self._own_size, 0, 0
        if size:
            self._release_bytes(size)

    def _release_bytes(self, size: int) -> None:
        self._out.memory.release_bytes(self._out.user, size, STREAMS, self._out)
