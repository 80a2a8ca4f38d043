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


_DECLARED = {
    "Document": (
        "swagger text 1, info Info 2, paths Paths 8, definitions {Schema} 9, parameters {given} 10, "
        "security [{1:texts}] 12, securityDefinitions {2:ApiKeySecurity} 13"
    ),
    "Info": "title text 1, version text 2",
    "ApiKeySecurity": "type text 1, name text 2, in text 3, description text 4",
    "Paths": "* PathItem 2",
    "PathItem": (
        "get Operation 2, put Operation 3, post Operation 4, delete Operation 5, options Operation 6, "
        "head Operation 7, patch Operation 8, parameters [parameter] 9"
    ),
    "Operation": (
        "tags texts 1, description text 3, operationId text 5, produces texts 6, consumes texts 7, "
        "parameters [parameter] 8, responses Responses 9, schemes texts 10, x- any 13"
    ),
    "BodyParameter": "description text 1, name text 2, in text 3, required bool 4, schema Schema 5",
    "QueryParameter": "required bool 1, in text 2, description text 3, name text 4, type text 6, uniqueItems bool 20",
    "PathParameter": "required bool 1, in text 2, description text 3, name text 4, type text 5, uniqueItems bool 19",
    "Responses": "* 1:Response 1",
    "Response": "description text 1, schema 1:Schema 2",
    "ExternalDocs": "description text 1, url text 2",
    "Schema": (
        "$ref text 1, format text 2, title text 3, description text 4, default any 5, multipleOf double 6, "
        "maximum double 7, exclusiveMaximum bool 8, minimum double 9, exclusiveMinimum bool 10, maxLength int 11, "
        "minLength int 12, pattern text 13, maxItems int 14, minItems int 15, uniqueItems bool 16, "
        "maxProperties int 17, minProperties int 18, required texts 19, enum anys 20, "
        "additionalProperties additional 21, type type 22, items 1:Schema 23, properties {Schema} 25, "
        "externalDocs ExternalDocs 29, example any 30, x- any 31"
    ),
}
MESSAGES = WireMessages(
    _DECLARED,
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
