"""The parts of a transaction as bytes, which are concatenated: conditions, writes, and reads if a condition fails.

A message is the concatenation of its fields, which takes a quarter of the time that message classes take. The numbers
are those of TxnRequest in rpc.proto: of a Compare, field 1 is the result (0 equal, 2 less), field 2 the target (0 the
version, 1 the create revision, 2 the mod revision).
"""

from __future__ import annotations

from podless.structs.wire import encode_field, encode_varint


def compare_revision(key: bytes, revision: int, *, lower: bool = False) -> bytes:
    """Return the condition that a key's last revision is this one (0: absent). lower: that it is lower."""
    result = b"\x08\x02\x10\x02" if lower else b"\x10\x02"
    return encode_field(b"\x0a", result + encode_field(b"\x1a", key) + b"\x30" + encode_varint(revision))


def compare_created(key: bytes, revision: int, end: bytes = b"") -> bytes:
    """Return the condition that a key was created at a revision (0: absent). end: of a range, for all its keys."""
    condition = b"\x10\x01" + encode_field(b"\x1a", key) + b"\x28" + encode_varint(revision)
    return encode_field(b"\x0a", condition + encode_field(b"\x82\x04", end) if end else condition)


def compare_version(key: bytes, version: int) -> bytes:
    """Return the condition that a key was written this many times since its creation (0: absent)."""
    return encode_field(b"\x0a", encode_field(b"\x1a", key) + b"\x20" + encode_varint(version))


def put_key(key: bytes, value: bytes = b"", lease: int = 0) -> bytes:
    """Return the request to write a key."""
    content = encode_field(b"\x0a", key) + encode_field(b"\x12", value)
    return encode_field(b"\x12", encode_field(b"\x12", content + b"\x18" + encode_varint(lease) if lease else content))


def delete_key(key: bytes, end: bytes = b"") -> bytes:
    """Return the request to delete a key. end: of a range, to delete all its keys."""
    return encode_field(b"\x12", encode_field(b"\x1a", _encode_range(key, end)))


def read_otherwise(key: bytes, end: bytes = b"") -> bytes:
    """Return the request to read a key if a condition fails. end: of a range, to read all its keys."""
    return encode_field(b"\x1a", encode_field(b"\x0a", _encode_range(key, end)))


def _encode_range(key: bytes, end: bytes) -> bytes:
    start = encode_field(b"\x0a", key)
    return start + encode_field(b"\x12", end) if end else start
