"""The parts of protobuf's wire format that are written by hand: varints, and fields of bytes."""

from __future__ import annotations


class ProtobufError(ValueError):
    """Invalid protobuf, or an object that protobuf cannot represent. The text says why."""


_SMALL = tuple(bytes((value,)) for value in range(128))  # nearly all field numbers and lengths are this small


def encode_varint(number: int) -> bytes:
    """Return a 64-bit number as a varint: seven bits a byte, low bits first; negative numbers as two's complement."""
    if 0 <= number < 128:
        return _SMALL[number]
    if 0 < number < 1 << 14:
        return bytes((number & 127 | 128, number >> 7))
    number &= (1 << 64) - 1
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def encode_field(tag: bytes, data: bytes) -> bytes:
    """Return a field of bytes, with its tag."""
    return b"%b%b%b" % (tag, encode_varint(len(data)), data)
