"""The version 3 document in protobuf: the OpenAPI.v3 messages of gnostic-models.

The messages have no place for a minimum of 0, which is lost, or for a default that is not a scalar, which is sent
empty.
"""

from __future__ import annotations

import struct
from typing import Any

from podless.publish.openapi.wire import WireMessages, write_block, write_entry, write_scalar
from podless.structs.wire import encode_varint


def _encode_default(number: int, value: Any) -> bytes:
    """Write a oneof: a set value is sent even if it is zero."""
    if isinstance(value, bool):
        chosen = write_scalar(2, value)
    elif isinstance(value, (int, float)):
        chosen = encode_varint(1 << 3 | 1) + struct.pack("<d", value)
    else:
        chosen = write_block(3, value.encode()) if isinstance(value, str) else b""
    return write_block(number, chosen)


def _encode_additional(number: int, value: Any) -> bytes:
    return write_block(number, write_scalar(2, value) if isinstance(value, bool) else _schema(1, value))


MESSAGES = WireMessages("v3.messages", {"additional": _encode_additional, "default": _encode_default})
_schema, _path = MESSAGES.find_writer("REF|Schema"), MESSAGES.find_writer("PathItem")
PATHS, COMPONENTS, SCHEMAS = 4, 5, 1  # field numbers of the areas of a document, and of its components


def encode_path(name: str, value: Any) -> bytes:
    """Return an entry of the paths."""
    return write_entry(1, name, _path(2, value))


def encode_schema(name: str, value: Any) -> bytes:
    """Return an entry of the schemas."""
    return write_entry(1, name, _schema(2, value))


def encode_document(value: dict[str, Any]) -> bytes:
    """Return a version 3 document in protobuf."""
    return MESSAGES.encode("Document", value)
