"""A connection to a member of an etcd cluster: gRPC calls over HTTP/2, on the event loop.

It implements the parts of RFC 9113 and of gRPC that a client of one server needs. A call costs a tenth of one with the
gRPC library, which has its own threads.
"""

from __future__ import annotations

import asyncio
import math
import struct
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import cast
from urllib.parse import unquote

import hpack

from podless.runtime.dataclass import dataclass

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_HEAD = struct.Struct(">HBBBL")  # head of a frame: length (two fields), type, flags, stream
_SETTING = struct.Struct(">HL")
_NUMBER = struct.Struct(">L")
_PREFIX = struct.Struct(">BL")  # head of a gRPC message: compressed or not, length
_DATA, _HEADERS, _RESET, _SETTINGS, _PING, _GOAWAY, _WINDOW, _CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
_ENDS, _ACK, _END_HEADERS, _PADDED, _WEIGHED = 1, 1, 4, 8, 32  # flags of frames
_TABLE, _PUSH, _STREAMS, _INITIAL, _FRAME = 1, 2, 3, 4, 5  # identifiers of settings
_REFUSED, _CANCEL = 7, 8  # error codes of a reset stream
_MAX_WINDOW = (1 << 31) - 1  # bytes that a peer may send ahead; also the highest stream number
_CREDIT_STEP = 1 << 24  # bytes read until the peer gets more credit
_MAX_ANSWER = 1 << 30  # maximum bytes of an answer
_CACHED_BLOCKS = 256  # cached header blocks
_FRAME_SIZE = 1 << 14  # bytes of a frame, if the peer does not allow longer ones
_ACK_DELAY = 0.01  # seconds that an acknowledgement waits for data to be sent with it
_PONG_DELAY = 0.5  # seconds before a ping is answered; etcd sends its next ping with the answer after that
_CHECK_INTERVAL = 0.5  # seconds between two checks whether the peer still answers
_PING_AFTER = 1.5  # seconds without a byte until a waiting call pings the peer
_PING_TIMEOUT = 2.0  # seconds without an answer to a ping after which the peer counts as gone
_IDLE_PING = 6.0  # seconds between pings of an idle connection; etcd rejects more than one in 5
OK, CANCELLED, INVALID, DEADLINE, EXHAUSTED, OUT_OF_RANGE, UNAVAILABLE = 0, 1, 3, 4, 8, 11, 14  # gRPC status codes


class ChannelError(Exception):
    """A call failed.

    code: the gRPC status. text: from the peer. unsent: the peer has certainly not started the call.
    """

    def __init__(self, code: int, text: str, *, unsent: bool = False) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.unsent = unsent


@dataclass(slots=True, eq=False)
class ChannelCall:
    """One call.

    answer: the answer, or the error. on_message: receives each message instead, for calls with several. on_end: called
    at once when the call ends. deadline: loop time at which it times out, approximately.
    """

    channel: Channel
    number: int
    window: int
    on_message: Callable[[bytes], None] | None
    answer: asyncio.Future[bytes]
    on_end: Callable[[bytes | ChannelError], None] | None = None
    deadline: float = math.inf
    parts: list[bytes] = field(default_factory=list)
    size: int = 0
    credit: int = 0

    def cancel_call(self) -> None:
        """Cancel the call."""
        self.channel.cancel_call(self)


class Channel(asyncio.Protocol):
    """The protocol of a connection. ready: done when the peer has answered. usable: accepts calls."""

    def __init__(self, authority: str, *, secure: bool) -> None:
        self.loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = self.loop.create_future()
        self.usable = False
        self.closed: asyncio.Future[None] = self.loop.create_future()
        self._fields = [(":method", "POST"), (":scheme", "https" if secure else "http"), (":authority", authority)]
        self._heads: dict[str, bytes] = {}
        self._decoder = hpack.Decoder()
        self._decoded: dict[bytes, dict[bytes, bytes]] = {}
        self._transport: asyncio.Transport | None = None
        self._incomplete = b""
        self._calls: dict[int, ChannelCall] = {}
        self._next = 1
        self._window = self._initial = 65535
        self._max_frame = _FRAME_SIZE
        self._credit = 0
        self._queue: deque[tuple[ChannelCall, bytes, bool]] = deque()
        self._block: tuple[int, int, bytes] | None = None  # an incomplete header block: stream, flags, bytes
        self._outgoing: list[bytes] = []  # sent at the end of this iteration of the loop
        self._acknowledgements = b""  # sent with these bytes, or soon after
        self._last_received = self._last_ping = self.loop.time()
        self._has_news = True  # bytes have arrived since the last ping, except its answer
        self._ping_pending = False  # a ping is unanswered
        self._timer: asyncio.TimerHandle | None = None

    # called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the client's preface and settings."""
        self._transport = cast(asyncio.Transport, transport)
        settings = b"".join(_SETTING.pack(*setting) for setting in ((_TABLE, 0), (_PUSH, 0), (_INITIAL, _MAX_WINDOW)))
        room = _make_frame(_WINDOW, 0, 0, _NUMBER.pack(_MAX_WINDOW - 65535))
        self._transport.write(_PREFACE + _make_frame(_SETTINGS, 0, 0, settings) + room)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail all calls."""
        self._end_calls(str(exc or "the connection has ended"))

    def data_received(self, data: bytes) -> None:
        """Process received bytes."""
        self._last_received = self.loop.time()
        if self._incomplete:
            data = self._incomplete + data
        at, size = 0, len(data)
        try:
            while size - at >= 9:
                high, low, kind, flags, number = _HEAD.unpack_from(data, at)
                length = high << 8 | low
                if length > _FRAME_SIZE:
                    raise ValueError("an HTTP/2 frame is too long")
                end = at + 9 + length
                if end > size:
                    break
                if kind == _DATA and self._block is None:
                    self._take_data(flags, number & _MAX_WINDOW, data[at + 9 : end])
                else:
                    self._take_frame(kind, flags, number & _MAX_WINDOW, data[at + 9 : end])
                at = end
        except (ValueError, IndexError, struct.error, hpack.HPACKError) as error:
            self._end_calls(f"the peer does not speak HTTP/2: {error}")
            return
        self._incomplete = data[at:] if at else data

    # frames

    def _take_frame(self, kind: int, flags: int, number: int, body: bytes) -> None:
        if self._block is not None and kind != _CONTINUATION:
            raise ValueError("an HTTP/2 header block is incomplete")
        if kind == _HEADERS:
            body = _strip_padding(flags, body)
            self._take_headers(flags, number, body[5:] if flags & _WEIGHED else body)
        elif kind == _CONTINUATION:
            self._take_continuation(flags, number, body)
        elif kind == _WINDOW:
            self._widen_window(number, _NUMBER.unpack(body)[0] & _MAX_WINDOW)
        elif kind == _PING:
            self._answer_ping(flags, body)
        elif kind == _SETTINGS:
            if not flags & _ACK:
                self._take_settings(body)
        elif kind == _RESET:
            (code,) = _NUMBER.unpack(body)
            refusal = ChannelError(UNAVAILABLE, "the call was broken off", unsent=code == _REFUSED)
            self._finish_call(self._calls.get(number), refusal)
        elif kind == _GOAWAY:
            self._accept_no_more(_NUMBER.unpack_from(body)[0] & _MAX_WINDOW)

    def _take_data(self, flags: int, number: int, body: bytes) -> None:
        self._has_news = True
        size = len(body)
        self._credit += size
        if self._credit > _CREDIT_STEP:
            self._send_later(_make_frame(_WINDOW, 0, 0, _NUMBER.pack(self._credit)))
            self._credit = 0
        call = self._calls.get(number)
        if call is None:
            return
        call.parts.append(_strip_padding(flags, body) if flags & _PADDED else body)
        call.size += size
        if call.size > _MAX_ANSWER:
            raise ValueError("an answer exceeds 1 GiB")
        if call.on_message is not None:
            call.credit += size
            if call.credit > _CREDIT_STEP:
                self._send_later(_make_frame(_WINDOW, 0, number, _NUMBER.pack(call.credit)))
                call.credit = 0
            _hand_over(call, call.on_message)
        if flags & _ENDS:
            self._finish_call(call, ChannelError(UNAVAILABLE, "an answer has no end"))

    def _take_headers(self, flags: int, number: int, block: bytes) -> None:
        if not flags & _END_HEADERS:
            self._block = number, flags, block
            return
        self._has_news = True
        fields = self._decode_block(block)
        call = self._calls.get(number)
        if call is None:
            return
        status = fields.get(b"grpc-status")
        if status == b"0":
            self._finish_call(call, None)
        elif status is not None:
            text = unquote(fields.get(b"grpc-message", b"").decode("latin-1"))
            self._finish_call(call, ChannelError(int(status), text))
        elif flags & _ENDS or fields.get(b":status", b"200") != b"200":
            text = fields.get(b":status", b"").decode("latin-1")
            self._finish_call(call, ChannelError(UNAVAILABLE, f"the peer answers {text}"))

    def _decode_block(self, block: bytes) -> dict[bytes, bytes]:
        """Return the fields of a header block; the last one of a name counts. Most blocks have come before."""
        table = self._decoder.header_table  # the dynamic table, which etcd does not use, as it was asked
        fields = self._decoded.get(block)
        if fields is not None and not table.dynamic_entries:
            return fields
        is_alone, limit = not table.dynamic_entries, table.maxsize
        fields = {bytes(name): bytes(value) for name, value in self._decoder.decode(block, raw=True)}
        if is_alone and not table.dynamic_entries and limit == table.maxsize and len(self._decoded) < _CACHED_BLOCKS:
            self._decoded[block] = fields
        return fields

    def _take_continuation(self, flags: int, number: int, body: bytes) -> None:
        if self._block is None or self._block[0] != number or len(self._block[2]) > _CREDIT_STEP:
            raise ValueError("an HTTP/2 CONTINUATION frame is out of order")
        before, self._block = self._block, None
        self._take_headers(before[1] | flags & _END_HEADERS, number, before[2] + body)

    def _widen_window(self, number: int, size: int) -> None:
        if number:
            call = self._calls.get(number)
            if call is not None:
                call.window += size
        else:
            self._window += size
        self._flush()

    def _answer_ping(self, flags: int, body: bytes) -> None:
        if flags & _ACK:
            self._ping_pending = False
        else:
            self.loop.call_later(_PONG_DELAY, self._queue_bytes, _make_frame(_PING, _ACK, 0, body))

    def _take_settings(self, body: bytes) -> None:
        for at in range(0, len(body) - 5, 6):
            name, value = _SETTING.unpack_from(body, at)
            if name == _INITIAL:
                for call in self._calls.values():
                    call.window += value - self._initial
                self._initial = value
            elif name == _FRAME:
                self._max_frame = value
        self._queue_bytes(_make_frame(_SETTINGS, _ACK, 0, b""))
        if not self.ready.done():
            self.usable = True
            self.ready.set_result(None)
            self._check_calls()
        self._flush()

    def _accept_no_more(self, last: int) -> None:
        """Accept no more calls. Calls that the peer has not started fail as unsent."""
        self.usable = False
        for call in [entry for entry in self._calls.values() if entry.number > last]:
            self._finish_call(call, ChannelError(UNAVAILABLE, "the peer takes no more calls", unsent=True))
        if not self._calls:
            self.close()

    # calls

    def begin_call(self, path: str, message: bytes, take: Callable[[bytes], None] | None = None) -> ChannelCall:
        """Start a call with its only message; with `on_message`, its first one. Raises ChannelError."""
        if not self.usable:
            raise ChannelError(UNAVAILABLE, "the connection has ended", unsent=True)
        head = self._heads.get(path)
        if head is None:
            extra_headers = [("te", "trailers"), ("content-type", "application/grpc"), ("user-agent", "podless")]
            # with this header, a member that has lost its leader ends the stream, so that the client asks another
            # member
            extra_headers += [("hasleader", "true")] if take is not None else []
            head = self._heads[path] = encode_headers([*self._fields, (":path", path), *extra_headers])
        call = ChannelCall(self, self._next, self._initial, take, self.loop.create_future())
        self._next += 2
        if self._next > _MAX_WINDOW:
            self.usable = False
        self._calls[call.number] = call
        self.send_message(call, message, ends=take is None, head=_make_frame(_HEADERS, _END_HEADERS, call.number, head))
        return call

    def send_message(self, call: ChannelCall, message: bytes, *, ends: bool, head: bytes = b"") -> None:
        """Queue a message, which is sent when the peer's windows have room."""
        size = len(message) + 5
        if size <= self._max_frame and size <= call.window and size <= self._window and not self._queue:
            call.window -= size
            self._window -= size
            begin = _HEAD.pack(size >> 8, size & 255, _DATA, _ENDS if ends else 0, call.number)
            self._queue_bytes(b"".join((head, begin, _PREFIX.pack(0, size - 5), message)))
            return
        if head:
            self._queue_bytes(head)
        self._queue.append((call, _PREFIX.pack(0, size - 5) + message, ends))
        self._flush()

    def _flush(self) -> None:
        """Send queued data within the peer's windows. A call with a full window does not delay others."""
        for _ in range(len(self._queue)):
            call, data, ends = self._queue.popleft()
            at = 0
            while at < len(data):
                size = min(len(data) - at, self._max_frame, call.window, self._window)
                if size <= 0 or call.answer.done():
                    break
                last = ends and at + size == len(data)
                self._queue_bytes(_make_frame(_DATA, _ENDS if last else 0, call.number, data[at : at + size]))
                call.window -= size
                self._window -= size
                at += size
            if at < len(data) and not call.answer.done():
                self._queue.append((call, data[at:], ends))

    def cancel_call(self, call: ChannelCall) -> None:
        """Cancel a call."""
        if self._calls.get(call.number) is call:
            self._queue_bytes(_make_frame(_RESET, 0, call.number, _NUMBER.pack(_CANCEL)))
            self._finish_call(call, ChannelError(CANCELLED, "the call was left"))

    def _finish_call(self, call: ChannelCall | None, refusal: ChannelError | None) -> None:
        if call is None or self._calls.pop(call.number, None) is None:
            return
        if not call.answer.done():
            outcome = refusal if refusal is not None else b"" if call.on_message is not None else _read_answer(call)
            if isinstance(outcome, ChannelError):
                call.answer.set_exception(outcome)
                call.answer.exception()  # retrieved so that asyncio does not log it if no caller waits
            else:
                call.answer.set_result(outcome)
            if call.on_end is not None:
                call.on_end(outcome)
        if not self.usable and not self._calls:
            self.close()

    # the connection

    def _queue_bytes(self, data: bytes) -> None:
        """Send bytes together with everything else that is written in this iteration of the loop."""
        if not self._outgoing:
            self.loop.call_soon(self.flush)
        self._outgoing.append(data)

    def flush(self) -> None:
        """Send everything written so far."""
        if self._acknowledgements:
            self._outgoing.append(self._acknowledgements)
            self._acknowledgements = b""
        if self._outgoing:
            outgoing, self._outgoing = self._outgoing, []
            if self._transport is not None:
                self._transport.write(b"".join(outgoing))

    def _send_later(self, frame: bytes) -> None:
        """Send an acknowledgement with the next data, or soon."""
        if not self._acknowledgements:
            self.loop.call_later(_ACK_DELAY, self.flush)
        self._acknowledgements += frame

    def _check_calls(self) -> None:
        """Ping the peer if a call waits or the connection is idle, and time out overdue calls."""
        now = self.loop.time()
        for call in [active for active in self._calls.values() if now > active.deadline]:
            self._queue_bytes(_make_frame(_RESET, 0, call.number, _NUMBER.pack(_CANCEL)))
            self._finish_call(call, ChannelError(DEADLINE, "no answer in time"))
        if self._ping_pending and now > self._last_ping + _PING_TIMEOUT and now > self._last_received + _PING_TIMEOUT:
            self._end_calls("the peer does not answer")
            return
        busy = any(call.on_message is None for call in self._calls.values()) and self._has_news
        timeout = _PING_AFTER if busy else _IDLE_PING
        if self._calls and not self._ping_pending and now >= max(self._last_received, self._last_ping) + timeout:
            self._last_ping, self._ping_pending, self._has_news = now, True, False
            self._queue_bytes(_make_frame(_PING, 0, 0, bytes(8)))
        if self._transport is not None:
            self._timer = self.loop.call_later(_CHECK_INTERVAL, self._check_calls)

    def close(self) -> None:
        """End the connection at once."""
        self._end_calls("the connection was closed")

    def _end_calls(self, reason: str) -> None:
        self.usable = False
        if self._timer is not None:
            self._timer.cancel()
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.abort()
        if not self.ready.done():
            self.ready.set_exception(ChannelError(UNAVAILABLE, reason, unsent=True))
            self.ready.exception()
        if not self.closed.done():
            self.closed.set_result(None)
        for call in list(self._calls.values()):
            self._finish_call(call, ChannelError(UNAVAILABLE, reason))
        self._queue.clear()


def encode_headers(fields: Iterable[tuple[str, str]]) -> bytes:
    """Return a header block with these fields, which the peer does not index."""
    return hpack.Encoder().encode((hpack.NeverIndexedHeaderTuple(*field) for field in fields), huffman=False)


def _make_frame(kind: int, flags: int, number: int, body: bytes) -> bytes:
    size = len(body)
    return _HEAD.pack(size >> 8, size & 255, kind, flags, number) + body


def _strip_padding(flags: int, body: bytes) -> bytes:
    return body[1 : len(body) - body[0]] if flags & _PADDED else body


def _read_answer(call: ChannelCall) -> bytes | ChannelError:
    """Return the only message of a call, or the error if there is not exactly one."""
    data = call.parts[0] if len(call.parts) == 1 else b"".join(call.parts)
    if len(data) < 5 or _PREFIX.unpack_from(data) != (0, len(data) - 5):
        return ChannelError(UNAVAILABLE, "an answer is not one message")
    return data[5:]


def _hand_over(call: ChannelCall, take: Callable[[bytes], None]) -> None:
    """Pass complete messages to `on_message`."""
    data = call.parts[0] if len(call.parts) == 1 else None
    if data is not None and len(data) >= 5 and _PREFIX.unpack_from(data) == (0, len(data) - 5):
        call.parts, call.size = [], 0
        take(data[5:])  # most frames are exactly one message
        return
    if data is None:
        if len(call.parts[0]) >= 5 and call.size < _PREFIX.unpack_from(call.parts[0])[1] + 5:
            return  # join a long message only once, when it is complete
        data = b"".join(call.parts)
    at = 0
    while len(data) - at >= 5:
        packed, size = _PREFIX.unpack_from(data, at)
        if packed:
            raise ValueError("a gRPC message is compressed")
        if len(data) - at - 5 < size:
            break
        take(data[at + 5 : at + 5 + size])
        at += 5 + size
    call.parts = [data[at:]] if at < len(data) else []
    call.size = len(data) - at
