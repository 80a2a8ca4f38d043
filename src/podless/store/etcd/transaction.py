"""The parts of a transaction as bytes: a message is the parts of its fields, one behind the other.

Making them so takes a quarter of the time that messages take. The numbers are those of TxnRequest in rpc.proto.
"""

from __future__ import annotations

_SMALL = [bytes((number,)) for number in range(128)]


def _number(value: int) -> bytes:
    """A varint."""
    if value < 128:
        return _SMALL[value]
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    made.append(value)
    return bytes(made)


def _field(tag: bytes, content: bytes) -> bytes:
    return b"".join((tag, _number(len(content)), content))


def compare(key: bytes, revision: int, *, below: bool = False) -> bytes:
    """The condition that a key was written last at a revision, 0 for no key; below: before that."""
    result = b"\x08\x02\x10\x02" if below else b"\x10\x02"
    return _field(b"\x0a", result + _field(b"\x1a", key) + b"\x30" + _number(revision))


def put(key: bytes, value: bytes, lease: int = 0) -> bytes:
    """That a key is written."""
    content = _field(b"\x0a", key) + _field(b"\x12", value)
    return _field(b"\x12", _field(b"\x12", content + b"\x18" + _number(lease) if lease else content))


def delete(key: bytes) -> bytes:
    """That a key is deleted."""
    return _field(b"\x12", _field(b"\x1a", _field(b"\x0a", key)))


def otherwise(key: bytes) -> bytes:
    """That a key is read where a condition fails."""
    return _field(b"\x1a", _field(b"\x0a", _field(b"\x0a", key)))
