"""The parts of a transaction as bytes: a message is the parts of its fields, one behind the other.

Making them so takes a quarter of the time that messages take. The numbers are those of TxnRequest in rpc.proto.
"""

from __future__ import annotations

from podless.structs.wire import field, varint


def compare(key: bytes, revision: int, *, below: bool = False) -> bytes:
    """The condition that a key was written last at a revision, 0 for no key; below: before that."""
    result = b"\x08\x02\x10\x02" if below else b"\x10\x02"
    return field(b"\x0a", result + field(b"\x1a", key) + b"\x30" + varint(revision))


def put(key: bytes, value: bytes, lease: int = 0) -> bytes:
    """That a key is written."""
    content = field(b"\x0a", key) + field(b"\x12", value)
    return field(b"\x12", field(b"\x12", content + b"\x18" + varint(lease) if lease else content))


def delete(key: bytes) -> bytes:
    """That a key is deleted."""
    return field(b"\x12", field(b"\x1a", field(b"\x0a", key)))


def otherwise(key: bytes) -> bytes:
    """That a key is read where a condition fails."""
    return field(b"\x1a", field(b"\x0a", field(b"\x0a", key)))
