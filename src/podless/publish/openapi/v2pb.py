"""The version 2 document in protobuf: the OpenAPI.v2 messages of gnostic-models.

As in JSON, the document is joined from parts, one for each kind; here both are bytes.
"""

from __future__ import annotations

from typing import Any

from podless.apis.release import RELEASE
from podless.publish.openapi import v2
from podless.publish.openapi.wire import (
    WireMessages,
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

MESSAGES = WireMessages()
_message = MESSAGES.message


def _parameter(number: int, value: dict[str, Any]) -> bytes:
    """Write a body, query or path parameter, or a reference to one in the document's head."""
    if "$ref" in value:
        return write_block(number, write_block(2, write_text(1, value["$ref"])))
    return write_block(number, _encode_given(1, value))


def _encode_given(number: int, value: dict[str, Any]) -> bytes:
    if value["in"] == "body":
        return write_block(number, write_block(1, MESSAGES.encode("BodyParameter", value)))
    inner, name = (4, "PathParameter") if value["in"] == "path" else (3, "QueryParameter")
    return write_block(number, write_block(2, write_block(inner, MESSAGES.encode(name, value))))


def _additional(number: int, value: Any) -> bytes:
    return write_block(number, write_scalar(2, value) if isinstance(value, bool) else _message("Schema")(1, value))


def _type(number: int, value: str) -> bytes:
    return write_block(number, write_texts(1, [value]))


MESSAGES.fields = {
    "Document": {
        "swagger": (1, write_text),
        "info": (2, _message("Info")),
        "paths": (8, _message("Paths")),
        "definitions": (9, write_map(_message("Schema"))),
        "parameters": (10, write_map(_encode_given)),
        "security": (12, write_many(write_map(write_within(1, write_texts)))),
        "securityDefinitions": (13, write_map(write_within(2, _message("ApiKeySecurity")))),
    },
    "Info": {"title": (1, write_text), "version": (2, write_text)},
    "ApiKeySecurity": {
        "type": (1, write_text),
        "name": (2, write_text),
        "in": (3, write_text),
        "description": (4, write_text),
    },
    "Paths": {"*": (2, _message("PathItem"))},
    "PathItem": {
        "get": (2, _message("Operation")),
        "put": (3, _message("Operation")),
        "post": (4, _message("Operation")),
        "delete": (5, _message("Operation")),
        "options": (6, _message("Operation")),
        "head": (7, _message("Operation")),
        "patch": (8, _message("Operation")),
        "parameters": (9, write_many(_parameter)),
    },
    "Operation": {
        "tags": (1, write_texts),
        "description": (3, write_text),
        "operationId": (5, write_text),
        "produces": (6, write_texts),
        "consumes": (7, write_texts),
        "parameters": (8, write_many(_parameter)),
        "responses": (9, _message("Responses")),
        "schemes": (10, write_texts),
        "x-": (13, write_any),
    },
    "BodyParameter": {
        "description": (1, write_text),
        "name": (2, write_text),
        "in": (3, write_text),
        "required": (4, write_bool),
        "schema": (5, _message("Schema")),
    },
    "QueryParameter": {
        "required": (1, write_bool),
        "in": (2, write_text),
        "description": (3, write_text),
        "name": (4, write_text),
        "type": (6, write_text),
        "uniqueItems": (20, write_bool),
    },
    "PathParameter": {
        "required": (1, write_bool),
        "in": (2, write_text),
        "description": (3, write_text),
        "name": (4, write_text),
        "type": (5, write_text),
        "uniqueItems": (19, write_bool),
    },
    "Responses": {"*": (1, write_within(1, _message("Response")))},
    "Response": {"description": (1, write_text), "schema": (2, write_within(1, _message("Schema")))},
    "ExternalDocs": {"description": (1, write_text), "url": (2, write_text)},
    "Schema": {
        "$ref": (1, write_text),
        "format": (2, write_text),
        "title": (3, write_text),
        "description": (4, write_text),
        "default": (5, write_any),
        "multipleOf": (6, write_double),
        "maximum": (7, write_double),
        "exclusiveMaximum": (8, write_bool),
        "minimum": (9, write_double),
        "exclusiveMinimum": (10, write_bool),
        "maxLength": (11, write_integer),
        "minLength": (12, write_integer),
        "pattern": (13, write_text),
        "maxItems": (14, write_integer),
        "minItems": (15, write_integer),
        "uniqueItems": (16, write_bool),
        "maxProperties": (17, write_integer),
        "minProperties": (18, write_integer),
        "required": (19, write_texts),
        "enum": (20, write_anys),
        "additionalProperties": (21, _additional),
        "type": (22, _type),
        "items": (23, write_within(1, _message("Schema"))),
        "properties": (25, write_map(_message("Schema"))),
        "externalDocs": (29, _message("ExternalDocs")),
        "example": (30, write_any),
        "x-": (31, write_any),
    },
}


PATHS, DEFINITIONS = 8, 9  # field numbers of a document's areas
_path, _definition = _message("PathItem"), _message("Schema")


def encode_path(name: str, value: Any) -> bytes:
    """Return an entry of the paths."""
    return write_entry(2, name, _path(2, value))


def encode_definition(name: str, value: Any) -> bytes:
    """Return an entry of the definitions."""
    return write_entry(1, name, _definition(2, value))


def encode_rest(release: str = RELEASE.name) -> bytes:
    """Return a document without its areas."""
    return MESSAGES.encode("Document", {**v2.swagger_head(release), **v2.swagger_tail()})
