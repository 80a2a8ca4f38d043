"""Finds the fault of a message that the protobuf package refuses, with a Go server's text.

The package only says that it failed, and takes known fields of another wire type as unknown. The walk reads the same
bytes in the order of Go's generated Unmarshal code, which decides what is the first fault. Source: gogo/protobuf.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from podless.runtime.meter import charge
from podless.structs.gosyntax import name_field
from podless.structs.gotypes import GoType, ListOf, MapOf
from podless.structs.protobuf_forms import find_scalar
from podless.structs.structs import Field, Struct

_DEPTH = 100  # nested messages that the protobuf package accepts
_VARINT, _DOUBLE, _BYTES, _START, _END, _FLOAT = range(6)
_WIRES = {FieldDescriptorProto.TYPE_STRING: _BYTES, FieldDescriptorProto.TYPE_BYTES: _BYTES}
_WIRES[FieldDescriptorProto.TYPE_DOUBLE] = _DOUBLE
_TRUNCATED, _OVERFLOW = "unexpected EOF", "proto: integer overflow"
_NEGATIVE = "proto: negative length found during unmarshaling"


class _Fault(Exception):
    """The message is malformed; the text is Go's."""


class WireField(NamedTuple):
    """A field of a message, with its wire type. struct: the message of its values, None for scalars."""

    name: str
    struct: Struct | None
    wire: int
    repeated: bool
    is_map: bool


# returns the fields of a message by number
FindWireFields = Callable[[Struct], dict[int, WireField]]


def describe_field(struct: Struct, field: Field, inner: Struct | None, item: GoType) -> WireField:
    """Return how the message of a struct has a field. inner: the message of its values. item: their type."""
    plain = find_scalar(item)
    wire = _BYTES if plain is None else _WIRES.get(plain.wire, _VARINT)
    name = item.go if field.inline or field.name == "metadata" else name_field(struct.name, field.name)
    repeated, is_map = isinstance(field.type, ListOf), isinstance(field.type, MapOf)
    return WireField(name.rpartition(".")[2], inner, wire, repeated, is_map)


def find_fault(find_fields: FindWireFields, struct: Struct, raw: bytes) -> str | None:
    """Return Go's error for a message of a struct, None if Go accepts it or if it is nested too deep."""
    try:
        _Walk(find_fields, raw).check_message(struct, 0, len(raw), 0)
    except _Fault as fault:
        return str(fault)
    return None


class _Walk:
    """Reads the parts of a message at offsets, and returns the offset behind them. Raises _Fault."""

    def __init__(self, find_fields: FindWireFields, raw: bytes) -> None:
        self.find_fields = find_fields
        self.raw = raw

    def read_varint(self, at: int, end: int) -> tuple[int, int]:
        """Return a number of 64 bits, and the offset behind it."""
        value = 0
        for shift in range(0, 70, 7):
            if at >= end:
                raise _Fault(_TRUNCATED)
            byte = self.raw[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value & (1 << 64) - 1, at
        raise _Fault(_OVERFLOW)

    def read_length(self, at: int, end: int) -> tuple[int, int]:
        """Return the offsets of the bytes that follow their length, and behind them."""
        length, at = self.read_varint(at, end)
        if at + length >= 1 << 63:
            raise _Fault(_NEGATIVE)
        if at + length > end:
            raise _Fault(_TRUNCATED)
        return at, at + length

    def skip_field(self, at: int, end: int, last: int) -> int:
        """Skip an unknown field with its groups. end: of the message. last: where the field must end."""
        depth = 0
        while at < end:
            charge(1)
            tag, at = self.read_varint(at, end)
            wire = tag & 7
            if wire == _VARINT:
                _, at = self.read_varint(at, end)
            elif wire == _BYTES:
                length, at = self.read_varint(at, end)
                at += length
                if at >= 1 << 63:
                    raise _Fault(_NEGATIVE)
            elif wire in (_DOUBLE, _FLOAT):
                at += 8 if wire == _DOUBLE else 4
            elif wire == _START:
                depth += 1
            elif wire != _END:
                raise _Fault(f"proto: illegal wireType {wire}")
            elif not depth:
                raise _Fault("proto: unexpected end of group")
            else:
                depth -= 1
            if not depth:
                if at > last:
                    raise _Fault(_TRUNCATED)
                return at
        raise _Fault(_TRUNCATED)

    def check_message(self, struct: Struct, at: int, end: int, depth: int) -> None:
        if depth > _DEPTH:
            return
        fields, name = self.find_fields(struct), struct.name
        while at < end:
            charge(1)
            start = at
            tag, at = self.read_varint(at, end)
            number, wire = (tag >> 3 & 0xFFFFFFFF), tag & 7
            if number >= 1 << 31:
                number -= 1 << 32
            if wire == _END:
                raise _Fault(f"proto: {name}: wiretype end group for non-group")
            if number <= 0:
                raise _Fault(f"proto: {name}: illegal tag {number} (wire type {tag})")
            field = fields.get(number)
            at = self.skip_field(start, end, end) if field is None else self.check_field(field, wire, at, end, depth)

    def check_field(self, field: WireField, wire: int, at: int, end: int, depth: int) -> int:
        if field.repeated and field.wire != _BYTES and wire == _BYTES:  # packed numbers
            at, end = self.read_length(at, end)
            while at < end:
                charge(1)
                at = self.check_scalar(field.wire, at, end)
            return end
        if wire != field.wire and not (field.is_map and wire == _BYTES):
            raise _Fault(f"proto: wrong wireType = {wire} for field {field.name}")
        if field.is_map:
            at, last = self.read_length(at, end)
            self.check_entry(field, at, end, last, depth)
            return last
        return self.check_value(field, at, end, depth)

    def check_entry(self, field: WireField, at: int, end: int, last: int, depth: int) -> None:
        """Check the key and value of a map, whose wire types Go does not look at. last: where the entry must end."""
        while at < last:
            charge(1)
            start = at
            tag, at = self.read_varint(at, end)
            number = tag >> 3 & 0xFFFFFFFF
            if number == 1:
                _, at = self.read_length(at, end)
            elif number == 2:
                at = self.check_value(field, at, end, depth)
            else:
                at = self.skip_field(start, end, last)

    def check_value(self, field: WireField, at: int, end: int, depth: int) -> int:
        if field.struct is None:
            return self.check_scalar(field.wire, at, end)
        at, last = self.read_length(at, end)
        self.check_message(field.struct, at, last, depth + 1)
        return last

    def check_scalar(self, wire: int, at: int, end: int) -> int:
        if wire == _VARINT:
            return self.read_varint(at, end)[1]
        if wire == _BYTES:
            return self.read_length(at, end)[1]
        if at + 8 > end:
            raise _Fault(_TRUNCATED)
        return at + 8
