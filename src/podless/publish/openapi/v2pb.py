"""The version 2 document in protobuf: the OpenAPI.v2 messages of gnostic-models.

As in JSON, the document is joined from parts, one for each kind; here both are bytes.
"""

from __future__ import annotations

from typing import Any

from podless.apis.release import RELEASE
from podless.publish.openapi import v2
from podless.publish.openapi.wire import WireMessages, write_block, write_entry, write_scalar, write_text, write_texts


def _encode_parameter(number: int, value: dict[str, Any]) -> bytes:
    """Write a body, query or path parameter, or a reference to one in the document's head."""
    if "$ref" in value:
        return write_block(number, write_block(2, write_text(1, value["$ref"])))
    return write_block(number, _encode_given(1, value))


def _encode_given(number: int, value: dict[str, Any]) -> bytes:
    if value["in"] == "body":
        return write_block(number, write_block(1, MESSAGES.encode("BodyParameter", value)))
    member, name = (4, "PathParameter") if value["in"] == "path" else (3, "QueryParameter")
    return write_block(number, write_block(2, write_block(member, MESSAGES.encode(name, value))))


def _encode_additional(number: int, value: Any) -> bytes:
    return write_block(number, write_scalar(2, value) if isinstance(value, bool) else _definition(1, value))


def _encode_type(number: int, value: str) -> bytes:
    return write_block(number, write_texts(1, [value]))


MESSAGES = WireMessages(
    "v2.messages",
    {"parameter": _encode_parameter, "given": _encode_given, "additional": _encode_additional, "type": _encode_type},
)
_definition, _path = MESSAGES.find_writer("Schema"), MESSAGES.find_writer("PathItem")
PATHS, DEFINITIONS = 8, 9  # field numbers of a document's areas


def encode_path(name: str, value: Any) -> bytes:
    """Return an entry of the paths."""
    return write_entry(2, name, _path(2, value))


def encode_definition(name: str, value: Any) -> bytes:
    """Return an entry of the definitions."""
    return write_entry(1, name, _definition(2, value))


def encode_rest(release: str = RELEASE.name) -> bytes:
    """Return a document without its areas."""
    return MESSAGES.encode("Document", {**v2.swagger_head(release), **v2.swagger_tail()})
