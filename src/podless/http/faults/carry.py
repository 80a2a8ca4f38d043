"""The filter that injects faults, and changes the events of a watch: lines of JSON, or frames of protobuf."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from urllib.parse import urlencode

from podless.codec import serializer
from podless.http.faults.fault import GROUP, InjectedFault
from podless.http.faults.scripted import Faults
from podless.http.message import (
    JSON,
    Answer,
    Filter,
    Handler,
    HTTPRequest,
    NoAnswer,
    Pending,
    Sink,
    Stream,
    settle_answer,
)
from podless.http.stream import error_event
from podless.meta.errors import APIError, Expired
from podless.structs import protobuf
from podless.structs.wire import encode_field, encode_varint

_LENGTH = 4  # bytes of the length before a protobuf frame
_TYPE = b"\x0a"  # protobuf tag of the event type
_BEGIN = b'{"type":"'
_MAX = 1 << 20  # maximum bytes of events that a burst collects
_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


class EventFrames:
    """How the bytes of a watch are divided into events: lines of JSON."""

    def split_events(self, data: bytes) -> Iterator[bytes]:
        """Return the events in some bytes, in order."""
        yield from data.splitlines(keepends=True)

    def read_type(self, event: bytes) -> bytes:
        """Return ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."""
        return event[len(_BEGIN) : event.index(b'"', len(_BEGIN))]

    def replace_type(self, event: bytes, type_: bytes) -> bytes:
        """Return the event with its type replaced."""
        return _BEGIN + type_ + event[event.index(b'"', len(_BEGIN)) :]

    def read_uid(self, event: bytes) -> str:
        """Return the uid of the object, "" if it has none."""
        obj = serializer.decode_json(event)["object"]
        for row in obj.get("rows") or ():  # rows of a Table
            obj = row.get("object") or {}
        return (obj.get("metadata") or {}).get("uid") or ""


class _ProtobufFrames(EventFrames):
    def split_events(self, data: bytes) -> Iterator[bytes]:
        return protobuf.split_frames(data)

    def read_type(self, event: bytes) -> bytes:
        return find_field(event[_LENGTH:], 1)

    def replace_type(self, event: bytes, type_: bytes) -> bytes:
        obj = find_field(event[_LENGTH:], 2)
        message = encode_field(_TYPE, type_) + b"\x12" + encode_varint(len(obj)) + obj
        return len(message).to_bytes(_LENGTH, "big") + message

    def read_uid(self, event: bytes) -> str:
        # event.object (2), RawExtension.raw (1), the envelope's raw (2), the object's metadata (1), its uid (5)
        raw = find_field(find_field(event[_LENGTH:], 2), 1)
        return find_field(find_field(find_field(raw[len(protobuf.PREFIX) :], 2), 1), 5).decode()


def find_field(data: bytes, number: int) -> bytes:
    """Return the first field with a number in a message of this server, b"" if there is none."""
    offset = 0
    while offset < len(data):
        tag, offset = _read_varint(data, offset)
        size, offset = _read_varint(data, offset)
        if tag & 7 == 0:
            continue  # a varint has no length
        if tag >> 3 == number:
            return data[offset : offset + size]
        offset += size
    return b""


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[position]
        position += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, position


JSON_LINES, PROTOBUF_FRAMES = EventFrames(), _ProtobufFrames()


def compress_events(events: Iterable[bytes], frames: EventFrames) -> Iterator[bytes]:
    """Merge the events of each object into one, in the order of the last ones.

    An object that was created and deleted has no event; one that was deleted and created again has two.
    """
    merged: dict[str, tuple[bytes, bytes]] = {}  # (type, event), by uid; bookmarks and errors by position
    for index, event in enumerate(events):
        type_ = frames.read_type(event)
        uid = "" if type_ in (b"BOOKMARK", b"ERROR") else frames.read_uid(event)
        before, event_before = merged.pop(uid, (b"", b"")) if uid else (b"", b"")
        if before == b"ADDED" and type_ == b"DELETED":
            continue
        if before == b"DELETED":
            merged[f"{uid} {index}"] = before, event_before
        elif before == b"ADDED":
            type_, event = before, frames.replace_type(event, before)
        merged[uid or str(index)] = type_, event
    return (event for _, event in merged.values())


class FaultySink:
    """A sink before the sink of a watch, which applies the fault. It receives batches of whole events."""

    def __init__(self, fault: InjectedFault, media: bytes, sink: Sink) -> None:
        self._fault = fault
        self._frames = JSON_LINES if media == JSON else PROTOBUF_FRAMES
        self._sink = sink
        self._remaining = fault.cut_after if fault.cut_after is not None else fault.expire_after
        self._finished = False
        self._delayed: list[bytes] = []
        self._delayed_size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._stop: Callable[[], None] = lambda: None

    @classmethod
    def disturb_stream(cls, fault: InjectedFault, answer: Stream) -> Stream:
        """Return the stream of a watch, with the fault applied."""

        def start_stream(sink: Sink) -> Callable[[], None]:
            faulty = cls(fault, answer.media, sink)
            faulty._stop = answer.start(faulty)
            if faulty._remaining == 0:
                faulty.send(b"")
            return faulty._handle_end

        return Stream(start_stream, answer.media, answer.headers)

    def _handle_end(self) -> None:
        self._finished = True
        self._delayed.clear()
        if self._timer is not None:
            self._timer.cancel()
        self._stop()

    def send(self, data: bytes) -> bool:
        """Send events as the fault changes them."""
        if self._finished:
            return True
        if not self._fault.burst or self._remaining == 0:
            return self._send_changed(data)
        self._delayed.append(data)
        self._delayed_size += len(data)
        if self._delayed_size > _MAX:
            return self._flush()
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._fault.burst, self._flush)
        return True

    def _send_changed(self, data: bytes) -> bool:
        sent = self._sink.send(self._change_events(data))
        if self._finished:
            self._end_stream()
        return sent

    def _flush(self) -> bool:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        delayed = b"".join(self._delayed)
        self._delayed.clear()
        self._delayed_size = 0
        return self._send_changed(delayed) if delayed and not self._finished else True

    def send_initial(self, pieces: Iterator[bytes]) -> None:
        """Send the initial events as the fault changes them."""

        def change_pieces() -> Iterator[bytes]:
            for piece in pieces:
                if self._finished:  # an event of the time before these pieces has ended the watch
                    return
                yield self._change_events(piece)
                if self._finished:
                    asyncio.get_running_loop().call_soon(self._end_stream)
                    return

        self._sink.send_initial(change_pieces())

    def end(self) -> None:
        """End the watch."""
        self._flush()
        if not self._finished:
            self._sink.end()

    def _end_stream(self) -> None:
        self._stop()
        self._sink.end()

    def _change_events(self, data: bytes) -> bytes:
        fault, frames, changed = self._fault, self._frames, list[bytes]()
        events = frames.split_events(data)
        for event in compress_events(events, frames) if fault.compress else events:
            if self._remaining == 0:
                break
            mark = frames.read_type(event) == b"BOOKMARK"
            if fault.bookmarks and not mark:
                continue
            changed += [event] * (1 if mark else fault.duplicate)
            if self._remaining is not None and not mark:
                self._remaining -= 1
        if self._remaining == 0:
            self._finished = True
            if fault.expire_after is not None:
                status = Expired("too old resource version: 1 (2)").status()
                changed.append(error_event(status, binary=frames is PROTOBUF_FRAMES))
        return b"".join(changed)


def with_faults(faults: Faults, revision: Callable[[], int]) -> Filter:
    """Return a filter that injects faults. revision: returns the newest revision, for lists of an older state."""

    def wrap_handler(handler: Handler) -> Handler:
        def handle(request: HTTPRequest) -> Answer | Pending:
            if faults.settle is not None and request.info.attributes.group == GROUP:
                return _settle_counts(faults.settle, request, handler)
            fault = faults.pick(request) if faults else None
            return handler(request) if fault is None else _carry_out(fault, request, handler, revision)

        return handle

    return wrap_handler


async def _settle_counts(settle: Callable[[], Awaitable[None]], request: HTTPRequest, handler: Handler) -> Answer:
    """Write pending counts, then answer a request for Faults."""
    await settle()
    return await settle_answer(handler(request))


async def _carry_out(
    fault: InjectedFault, request: HTTPRequest, handler: Handler, revision: Callable[[], int]
) -> Answer:
    if fault.delay:
        await asyncio.sleep(fault.delay)
    if fault.drop == "before":
        return NoAnswer()
    if fault.status:
        raise fault_error(fault)
    if fault.older and "resourceVersionMatch" not in request.query:
        ask_for_past(request, max(revision() - fault.older, 1))
    answer = await settle_answer(handler(request))
    if fault.drop == "after":
        return NoAnswer()
    return FaultySink.disturb_stream(fault, answer) if isinstance(answer, Stream) and fault.of_watches else answer


def fault_error(fault: InjectedFault) -> APIError:
    """Return the error of a fault that has a status."""
    details = {"retryAfterSeconds": fault.retry_after} if fault.retry_after else None
    error = APIError(fault.message or f"fault {fault.label}".rstrip(), details)
    error.code, error.reason = fault.status, _REASONS.get(fault.status, "")
    return error


def ask_for_past(request: HTTPRequest, revision: int) -> None:
    """Make a list show an older state, unless it has a continue token."""
    parameters = {name: values[0] for name, values in request.query.items()}
    if "continue" not in parameters:
        parameters |= {"resourceVersion": str(revision), "resourceVersionMatch": "Exact"}
        request.query_text = urlencode(parameters)
