"""The version 3 document in protobuf: the OpenAPI.v3 messages of gnostic-models.

A minimum of 0 is lost here, and a default that is no scalar is sent empty: the messages have no place for them.
"""

from __future__ import annotations

import struct
from typing import Any

from podless.publish.openapi.wire import (
    WireMessages,
    Write,
    anys,
    anything,
    block,
    double,
    entry,
    flag,
    integer,
    many,
    named,
    scalar,
    text,
    texts,
    within,
)
from podless.structs.wire import encode_varint

MESSAGES = WireMessages()


def _default(number: int, value: Any) -> bytes:
    """A oneof: what is chosen is sent even where it is zero."""
    if isinstance(value, bool):
        chosen = scalar(2, value)
    elif isinstance(value, (int, float)):
        chosen = encode_varint(1 << 3 | 1) + struct.pack("<d", value)
    else:
        chosen = block(3, value.encode()) if isinstance(value, str) else b""
    return block(number, chosen)


def _choice(name: str) -> Write:
    """A message or a reference to one."""

    def write(number: int, value: dict[str, Any]) -> bytes:
        reference = "$ref" in value
        return block(number, block(2, text(1, value["$ref"])) if reference else block(1, MESSAGES.encode(name, value)))

    return write


_message = MESSAGES.message
_schema = _choice("Schema")


def _additional(number: int, value: Any) -> bytes:
    return block(number, scalar(2, value) if isinstance(value, bool) else _schema(1, value))


MESSAGES.fields = {
    "Document": {
        "openapi": (1, text),
        "info": (2, _message("Info")),
        "paths": (4, _message("Paths")),
        "components": (5, _message("Components")),
    },
    "Info": {"title": (1, text), "description": (2, text), "version": (6, text)},
    "Paths": {"*": (1, _message("PathItem"))},
    "Components": {"schemas": (1, named(_schema)), "securitySchemes": (7, named(_choice("SecurityScheme")))},
    "SecurityScheme": {"type": (1, text), "description": (2, text), "name": (3, text), "in": (4, text)},
    "PathItem": {
        "get": (4, _message("Operation")),
        "put": (5, _message("Operation")),
        "post": (6, _message("Operation")),
        "delete": (7, _message("Operation")),
        "options": (8, _message("Operation")),
        "head": (9, _message("Operation")),
        "patch": (10, _message("Operation")),
        "parameters": (13, many(_choice("Parameter"))),
        "x-": (14, anything),
    },
    "Operation": {
        "tags": (1, texts),
        "description": (3, text),
        "operationId": (5, text),
        "parameters": (6, many(_choice("Parameter"))),
        "requestBody": (7, _choice("RequestBody")),
        "responses": (8, _message("Responses")),
        "x-": (13, anything),
    },
    "Parameter": {
        "name": (1, text),
        "in": (2, text),
        "description": (3, text),
        "required": (4, flag),
        "schema": (10, _schema),
    },
    "RequestBody": {
        "description": (1, text),
        "content": (2, named(_message("MediaType"))),
        "required": (3, flag),
    },
    "Responses": {"*": (2, _choice("Response"))},
    "Response": {"description": (1, text), "content": (3, named(_message("MediaType")))},
    "MediaType": {"schema": (1, _schema)},
    "ExternalDocs": {"description": (1, text), "url": (2, text)},
    "Schema": {
        "nullable": (1, flag),
        "externalDocs": (6, _message("ExternalDocs")),
        "example": (7, anything),
        "title": (9, text),
        "multipleOf": (10, double),
        "maximum": (11, double),
        "exclusiveMaximum": (12, flag),
        "minimum": (13, double),
        "exclusiveMinimum": (14, flag),
        "maxLength": (15, integer),
        "minLength": (16, integer),
        "pattern": (17, text),
        "maxItems": (18, integer),
        "minItems": (19, integer),
        "uniqueItems": (20, flag),
        "maxProperties": (21, integer),
        "minProperties": (22, integer),
        "required": (23, texts),
        "enum": (24, anys),
        "type": (25, text),
        "allOf": (26, many(_schema)),
        "oneOf": (27, many(_schema)),
        "anyOf": (28, many(_schema)),
        "not": (29, _message("Schema")),
        "items": (30, within(1, _schema)),
        "properties": (31, named(_schema)),
        "additionalProperties": (32, _additional),
        "default": (33, _default),
        "description": (34, text),
        "format": (35, text),
        "x-": (36, anything),
    },
}


PATHS, COMPONENTS, SCHEMAS = 4, 5, 1  # areas of a document, and of its components
_path = _message("PathItem")


def path(name: str, value: Any) -> bytes:
    """An entry of the paths."""
    return entry(1, name, _path(2, value))


def schema(name: str, value: Any) -> bytes:
    """An entry of the schemas."""
    return entry(1, name, _schema(2, value))


def document(value: dict[str, Any]) -> bytes:
    """What v3.document() gives, in protobuf."""
    return MESSAGES.encode("Document", value)
