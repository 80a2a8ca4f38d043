"""The version 2 document in protobuf: the OpenAPI.v2 messages of gnostic-models.

As in JSON, the document is a join of parts, one a kind: here both are bytes.
"""

from __future__ import annotations

from typing import Any

from podless.publish.openapi import v2
from podless.publish.openapi.wire import (
    WireMessages,
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

MESSAGES = WireMessages()
_message = MESSAGES.message


def _parameter(number: int, value: dict[str, Any]) -> bytes:
    """A body, query or path parameter, or a reference to one of those in the document's head."""
    if "$ref" in value:
        return block(number, block(2, text(1, value["$ref"])))
    return block(number, _given(1, value))


def _given(number: int, value: dict[str, Any]) -> bytes:
    if value["in"] == "body":
        return block(number, block(1, MESSAGES.encode("BodyParameter", value)))
    inner, name = (4, "PathParameter") if value["in"] == "path" else (3, "QueryParameter")
    return block(number, block(2, block(inner, MESSAGES.encode(name, value))))


def _additional(number: int, value: Any) -> bytes:
    return block(number, scalar(2, value) if isinstance(value, bool) else _message("Schema")(1, value))


def _type(number: int, value: str) -> bytes:
    return block(number, texts(1, [value]))


MESSAGES.fields = {
    "Document": {
        "swagger": (1, text),
        "info": (2, _message("Info")),
        "paths": (8, _message("Paths")),
        "definitions": (9, named(_message("Schema"))),
        "parameters": (10, named(_given)),
        "security": (12, many(named(within(1, texts)))),
        "securityDefinitions": (13, named(within(2, _message("ApiKeySecurity")))),
    },
    "Info": {"title": (1, text), "version": (2, text)},
    "ApiKeySecurity": {"type": (1, text), "name": (2, text), "in": (3, text), "description": (4, text)},
    "Paths": {"*": (2, _message("PathItem"))},
    "PathItem": {
        "get": (2, _message("Operation")),
        "put": (3, _message("Operation")),
        "post": (4, _message("Operation")),
        "delete": (5, _message("Operation")),
        "options": (6, _message("Operation")),
        "head": (7, _message("Operation")),
        "patch": (8, _message("Operation")),
        "parameters": (9, many(_parameter)),
    },
    "Operation": {
        "tags": (1, texts),
        "description": (3, text),
        "operationId": (5, text),
        "produces": (6, texts),
        "consumes": (7, texts),
        "parameters": (8, many(_parameter)),
        "responses": (9, _message("Responses")),
        "schemes": (10, texts),
        "x-": (13, anything),
    },
    "BodyParameter": {
        "description": (1, text),
        "name": (2, text),
        "in": (3, text),
        "required": (4, flag),
        "schema": (5, _message("Schema")),
    },
    "QueryParameter": {
        "required": (1, flag),
        "in": (2, text),
        "description": (3, text),
        "name": (4, text),
        "type": (6, text),
        "uniqueItems": (20, flag),
    },
    "PathParameter": {
        "required": (1, flag),
        "in": (2, text),
        "description": (3, text),
        "name": (4, text),
        "type": (5, text),
        "uniqueItems": (19, flag),
    },
    "Responses": {"*": (1, within(1, _message("Response")))},
    "Response": {"description": (1, text), "schema": (2, within(1, _message("Schema")))},
    "ExternalDocs": {"description": (1, text), "url": (2, text)},
    "Schema": {
        "$ref": (1, text),
        "format": (2, text),
        "title": (3, text),
        "description": (4, text),
        "default": (5, anything),
        "multipleOf": (6, double),
        "maximum": (7, double),
        "exclusiveMaximum": (8, flag),
        "minimum": (9, double),
        "exclusiveMinimum": (10, flag),
        "maxLength": (11, integer),
        "minLength": (12, integer),
        "pattern": (13, text),
        "maxItems": (14, integer),
        "minItems": (15, integer),
        "uniqueItems": (16, flag),
        "maxProperties": (17, integer),
        "minProperties": (18, integer),
        "required": (19, texts),
        "enum": (20, anys),
        "additionalProperties": (21, _additional),
        "type": (22, _type),
        "items": (23, within(1, _message("Schema"))),
        "properties": (25, named(_message("Schema"))),
        "externalDocs": (29, _message("ExternalDocs")),
        "example": (30, anything),
        "x-": (31, anything),
    },
}


PATHS, DEFINITIONS = 8, 9  # areas of a document
_path, _definition = _message("PathItem"), _message("Schema")


def path(name: str, value: Any) -> bytes:
    """An entry of the paths."""
    return entry(2, name, _path(2, value))


def definition(name: str, value: Any) -> bytes:
    """An entry of the definitions."""
    return entry(1, name, _definition(2, value))


def rest(release: str = "1.36") -> bytes:
    """All of a document but its areas."""
    return MESSAGES.encode("Document", {**v2.head(release), **v2.tail()})


def document(value: v2.Document) -> bytes:
    """What v2.document() gives, in protobuf."""
    areas = {"paths": (PATHS, path), "definitions": (DEFINITIONS, definition)}
    out = [MESSAGES.encode("Document", {key: one for key, one in value.items() if key not in areas})]
    for area, (number, make) in areas.items():
        out.append(block(number, b"".join(make(name, one) for name, one in value[area].items())))
    return b"".join(out)
