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


_DECLARED = {
    "Document": "openapi text 1, info Info 2, paths Paths 4, components Components 5",
    "Info": "title text 1, description text 2, version text 6",
    "Paths": "* PathItem 1",
    "Components": "schemas {REF|Schema} 1, securitySchemes {REF|SecurityScheme} 7",
    "SecurityScheme": "type text 1, description text 2, name text 3, in text 4",
    "PathItem": (
        "get Operation 4, put Operation 5, post Operation 6, delete Operation 7, options Operation 8, "
        "head Operation 9, patch Operation 10, parameters [REF|Parameter] 13, x- any 14"
    ),
    "Operation": (
        "tags texts 1, description text 3, operationId text 5, parameters [REF|Parameter] 6, "
        "requestBody REF|RequestBody 7, responses Responses 8, x- any 13"
    ),
    "Parameter": "name text 1, in text 2, description text 3, required bool 4, schema REF|Schema 10",
    "RequestBody": "description text 1, content {MediaType} 2, required bool 3",
    "Responses": "* REF|Response 2",
    "Response": "description text 1, content {MediaType} 3",
    "MediaType": "schema REF|Schema 1",
    "ExternalDocs": "description text 1, url text 2",
    "Schema": (
        "nullable bool 1, externalDocs ExternalDocs 6, example any 7, title text 9, multipleOf double 10, "
        "maximum double 11, exclusiveMaximum bool 12, minimum double 13, exclusiveMinimum bool 14, maxLength int 15, "
        "minLength int 16, pattern text 17, maxItems int 18, minItems int 19, uniqueItems bool 20, "
        "maxProperties int 21, minProperties int 22, required texts 23, enum anys 24, type text 25, "
        "allOf [REF|Schema] 26, oneOf [REF|Schema] 27, anyOf [REF|Schema] 28, not Schema 29, items 1:REF|Schema 30, "
        "properties {REF|Schema} 31, additionalProperties additional 32, default default 33, description text 34, "
        "format text 35, x- any 36"
    ),
}
MESSAGES = WireMessages(_DECLARED, {"additional": _encode_additional, "default": _encode_default})
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
