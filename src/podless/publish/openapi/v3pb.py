"""The version 3 document in protobuf: the OpenAPI.v3 messages of gnostic-models.

The messages have no place for a minimum of 0, which is lost, or for a default that is not a scalar, which is sent
empty.
"""

from __future__ import annotations

import struct
from typing import Any

from podless.publish.openapi.wire import (
    WireMessages,
    Write,
    write_any,
    write_anys,
    write_block,
    write_bool,
    write_double,
    write_entry,
    write_integer,
    write_many,
    write_map,
    write_scalar,
    write_text,
    write_texts,
    write_within,
)
from podless.structs.wire import encode_varint

MESSAGES = WireMessages()


def _default(number: int, value: Any) -> bytes:
    """Write a oneof: a set value is sent even if it is zero."""
    if isinstance(value, bool):
        chosen = write_scalar(2, value)
    elif isinstance(value, (int, float)):
        chosen = encode_varint(1 << 3 | 1) + struct.pack("<d", value)
    else:
        chosen = write_block(3, value.encode()) if isinstance(value, str) else b""
    return write_block(number, chosen)


def _choice(name: str) -> Write:
    """Return a writer for a message or a reference to one."""

    def write(number: int, value: dict[str, Any]) -> bytes:
        reference = "$ref" in value
        return write_block(
            number,
            write_block(2, write_text(1, value["$ref"])) if reference else write_block(1, MESSAGES.encode(name, value)),
        )

    return write


_message = MESSAGES.message
_schema = _choice("Schema")


def _additional(number: int, value: Any) -> bytes:
    return write_block(number, write_scalar(2, value) if isinstance(value, bool) else _schema(1, value))


MESSAGES.fields = {
    "Document": {
        "openapi": (1, write_text),
        "info": (2, _message("Info")),
        "paths": (4, _message("Paths")),
        "components": (5, _message("Components")),
    },
    "Info": {"title": (1, write_text), "description": (2, write_text), "version": (6, write_text)},
    "Paths": {"*": (1, _message("PathItem"))},
    "Components": {"schemas": (1, write_map(_schema)), "securitySchemes": (7, write_map(_choice("SecurityScheme")))},
    "SecurityScheme": {
        "type": (1, write_text),
        "description": (2, write_text),
        "name": (3, write_text),
        "in": (4, write_text),
    },
    "PathItem": {
        "get": (4, _message("Operation")),
        "put": (5, _message("Operation")),
        "post": (6, _message("Operation")),
        "delete": (7, _message("Operation")),
        "options": (8, _message("Operation")),
        "head": (9, _message("Operation")),
        "patch": (10, _message("Operation")),
        "parameters": (13, write_many(_choice("Parameter"))),
        "x-": (14, write_any),
    },
    "Operation": {
        "tags": (1, write_texts),
        "description": (3, write_text),
        "operationId": (5, write_text),
        "parameters": (6, write_many(_choice("Parameter"))),
        "requestBody": (7, _choice("RequestBody")),
        "responses": (8, _message("Responses")),
        "x-": (13, write_any),
    },
    "Parameter": {
        "name": (1, write_text),
        "in": (2, write_text),
        "description": (3, write_text),
        "required": (4, write_bool),
        "schema": (10, _schema),
    },
    "RequestBody": {
        "description": (1, write_text),
        "content": (2, write_map(_message("MediaType"))),
        "required": (3, write_bool),
    },
    "Responses": {"*": (2, _choice("Response"))},
    "Response": {"description": (1, write_text), "content": (3, write_map(_message("MediaType")))},
    "MediaType": {"schema": (1, _schema)},
    "ExternalDocs": {"description": (1, write_text), "url": (2, write_text)},
    "Schema": {
        "nullable": (1, write_bool),
        "externalDocs": (6, _message("ExternalDocs")),
        "example": (7, write_any),
        "title": (9, write_text),
        "multipleOf": (10, write_double),
        "maximum": (11, write_double),
        "exclusiveMaximum": (12, write_bool),
        "minimum": (13, write_double),
        "exclusiveMinimum": (14, write_bool),
        "maxLength": (15, write_integer),
        "minLength": (16, write_integer),
        "pattern": (17, write_text),
        "maxItems": (18, write_integer),
        "minItems": (19, write_integer),
        "uniqueItems": (20, write_bool),
        "maxProperties": (21, write_integer),
        "minProperties": (22, write_integer),
        "required": (23, write_texts),
        "enum": (24, write_anys),
        "type": (25, write_text),
        "allOf": (26, write_many(_schema)),
        "oneOf": (27, write_many(_schema)),
        "anyOf": (28, write_many(_schema)),
        "not": (29, _message("Schema")),
        "items": (30, write_within(1, _schema)),
        "properties": (31, write_map(_schema)),
        "additionalProperties": (32, _additional),
        "default": (33, _default),
        "description": (34, write_text),
        "format": (35, write_text),
        "x-": (36, write_any),
    },
}


PATHS, COMPONENTS, SCHEMAS = 4, 5, 1  # field numbers of the areas of a document, and of its components
_path = _message("PathItem")


def encode_path(name: str, value: Any) -> bytes:
    """Return an entry of the paths."""
    return write_entry(1, name, _path(2, value))


def encode_schema(name: str, value: Any) -> bytes:
    """Return an entry of the schemas."""
    return write_entry(1, name, _schema(2, value))


def encode_document(value: dict[str, Any]) -> bytes:
    """Return a version 3 document in protobuf."""
    return MESSAGES.encode("Document", value)
