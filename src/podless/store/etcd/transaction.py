"""The parts of a transaction as bytes: a message is the parts of its fields, one behind the other.

Making them so takes a quarter of the time that messages take. The numbers are those of TxnRequest in rpc.proto.
"""

from __future__ import annotations

from podless.structs.wire import encode_field, encode_varint


def compare_revision(key: bytes, revision: int, *, below: bool = False) -> bytes:
    """The condition that a key was written last at a revision, 0 for no key; below: before that."""
    result = b"\x08\x02\x10\x02" if below else b"\x10\x02"
    return encode_field(b"\x0a", result + encode_field(b"\x1a", key) + b"\x30" + encode_varint(revision))


def put_key(key: bytes, value: bytes, lease: int = 0) -> bytes:
    """That a key is written."""
    content = encode_field(b"\x0a", key) + encode_field(b"\x12", value)
    return encode_field(b"\x12", encode_field(b"\x12", content + b"\x18" + encode_varint(lease) if lease else content))


def delete_key(key: bytes) -> bytes:
    """That a key is deleted."""
    return encode_field(b"\x12", encode_field(b"\x1a", encode_field(b"\x0a", key)))


def read_otherwise(key: bytes) -> bytes:
    """That a key is read where a condition fails."""
    return encode_field(b"\x1a", encode_field(b"\x0a", encode_field(b"\x0a", key)))
