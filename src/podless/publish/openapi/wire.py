"""Protobuf by tables: a message is a table of fields, and a field is a number and a function that writes it.

Zero values are left out, as in proto3. Values of any type (examples, enums, extensions) are YAML texts in
gnostic-models' Any message (blocks.py).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

from podless.codec import serializer
from podless.publish.openapi import blocks
from podless.runtime.meter import charge
from podless.structs.wire import encode_varint

Write = Callable[[int, Any], bytes]


def write_block(number: int, value: bytes) -> bytes:
    """Return a length-delimited field: bytes or a message."""
    return encode_varint(number << 3 | 2) + encode_varint(len(value)) + value


def begin_field(number: int, size: int) -> bytes:
    """Return the head of a length-delimited field."""
    return encode_varint(number << 3 | 2) + encode_varint(size)


def write_text(number: int, value: str) -> bytes:
    """Return a string field."""
    return write_block(number, value.encode(errors="replace")) if value else b""


def write_texts(number: int, value: list[str]) -> bytes:
    """Return a repeated string field."""
    return b"".join(write_block(number, item.encode(errors="replace")) for item in value)


def write_bool(number: int, value: bool) -> bytes:
    """Return a bool field."""
    return encode_varint(number << 3) + b"\x01" if value else b""


def write_integer(number: int, value: int) -> bytes:
    """Return an int64 field."""
    return encode_varint(number << 3) + encode_varint(value) if value else b""


def write_double(number: int, value: float) -> bytes:
    """Return a double field."""
    return encode_varint(number << 3 | 1) + struct.pack("<d", value) if value else b""


def write_any(number: int, value: Any) -> bytes:
    """Encode any value as a YAML text."""
    return write_block(number, write_text(2, blocks.block_text(serializer.encode_json(value).decode())))


def write_anys(number: int, value: list[Any]) -> bytes:
    """Return a repeated field of any values."""
    return b"".join(write_any(number, item) for item in value)


def write_scalar(number: int, value: bool) -> bytes:
    """Return a bool in a oneof, which is sent even if it is false."""
    return encode_varint(number << 3) + (b"\x01" if value else b"\x00")


def write_many(write: Write) -> Write:
    """Return a writer for a repeated field."""
    return lambda number, value: b"".join(write(number, item) for item in value)


def write_within(inner: int, write: Write) -> Write:
    """Return a writer for a message with one field of this number."""
    return lambda number, value: write_block(number, write(inner, value))


def write_entry(number: int, key: str, value: bytes) -> bytes:
    """Return an entry of a map. value: written as field 2."""
    return write_block(number, write_text(1, key) + value)


def write_map(write: Write) -> Write:
    """Return a writer for a map: a message of entries, each with its name and value."""
    return lambda number, value: write_block(
        number, b"".join(write_entry(1, key, write(2, item)) for key, item in value.items())
    )


class WireMessages:
    """The messages of a document. fields: message -> key in JSON -> number and form of the field.

    In a message, "x-" stands for extensions and "*" for all other keys; both are repeated entries.
    """

    def __init__(self) -> None:
        self.fields: Mapping[str, Mapping[str, tuple[int, Write]]] = {}

    def encode(self, name: str, value: Mapping[str, Any]) -> bytes:
        """Return a whole message."""
        fields = self.fields[name]
        out = []
        charge(len(value))
        for key, item in value.items():
            if key in fields:
                number, write = fields[key]
                out.append(write(number, item))
            else:
                number, write = fields["x-" if key.startswith("x-") else "*"]
                out.append(write_entry(number, key, write(2, item)))
        return b"".join(out)

    def message(self, name: str) -> Write:
        """Return a writer for a field that is a message."""
        return lambda number, value: write_block(number, self.encode(name, value))
