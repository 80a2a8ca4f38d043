"""Splits the bytes of a watch into events: lines of JSON, or frames of protobuf."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from podless.codec import serializer
from podless.structs import protobuf
from podless.structs.wire import encode_field, encode_varint

_LENGTH = 4  # bytes of the length before a protobuf frame
_TYPE = b"\x0a"  # protobuf tag of the event type
_BEGIN = b'{"type":"'


class EventFrames(Protocol):
    """How the bytes of a watch are divided into events."""

    def split_events(self, data: bytes) -> Iterator[bytes]:
        """Return the events in some bytes, in order."""

    def read_type(self, event: bytes) -> bytes:
        """Return ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."""

    def replace_type(self, event: bytes, type_: bytes) -> bytes:
        """Return the event with its type replaced."""

    def read_uid(self, event: bytes) -> str:
        """Return the uid of the object, "" if it has none."""


class _JSONFrames:
    def split_events(self, data: bytes) -> Iterator[bytes]:
        yield from data.splitlines(keepends=True)

    def read_type(self, event: bytes) -> bytes:
        return event[len(_BEGIN) : event.index(b'"', len(_BEGIN))]

    def replace_type(self, event: bytes, type_: bytes) -> bytes:
        return _BEGIN + type_ + event[event.index(b'"', len(_BEGIN)) :]

    def read_uid(self, event: bytes) -> str:
        obj = serializer.decode_json(event)["object"]
        for row in obj.get("rows") or ():  # rows of a Table
            obj = row.get("object") or {}
        return (obj.get("metadata") or {}).get("uid") or ""


class _ProtobufFrames:
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


JSON_LINES: EventFrames = _JSONFrames()
PROTOBUF_FRAMES: EventFrames = _ProtobufFrames()


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
