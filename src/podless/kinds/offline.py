"""Kinds and objects without a server: a definition to its kind, and a body to what a create would make of it.

The way is that of a request: the same decoding, pruning, defaults and rules. What only a server can know (other
objects, admission, whether a name is taken) is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from podless.kinds import bodies
from podless.kinds import definition as rules
from podless.kinds.bodies import Body
from podless.kinds.compile import compile_kind
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Strategy
from podless.kinds.types import CUSTOM_RESOURCE_DEFINITION
from podless.meta import codec, gotext, objectmeta, structs
from podless.meta.errors import BadRequest
from podless.meta.field import FieldError, invalid

Object = dict[str, Any]


class Made(NamedTuple):
    """The kind that a definition makes, None where it has errors; and what a client would be told of the definition."""

    kind: Kind | None
    errors: Sequence[FieldError]
    warnings: Sequence[str]


class Checked(NamedTuple):
    """An object as it would be stored but for what only a server says, None where the body is none.

    refusal: why the body is no object of the kind, or "". errors: what is wrong with the object.
    """

    obj: Object | None
    refusal: str
    errors: Sequence[FieldError]
    warnings: Sequence[str]


def define(definition: Object) -> Made:
    """The kind that a CustomResourceDefinition of v1 makes.

    Raises structs.DecodeError where it does not have the form of one.
    """
    from podless.cel.rules import Definitions  # takes its time

    unknown: list[str] = []
    whole = structs.decode(CUSTOM_RESOURCE_DEFINITION, definition, unknown)
    rules.defaults(whole)
    rules.prepare_create(whole)
    errors = objectmeta.validate(whole["metadata"], namespaced=False, name_check=Strategy().name_errors)
    errors += rules.validate_create(whole, Definitions())
    warnings = [*(f"unknown field {gotext.quote(path)}" for path in unknown), *rules.warnings(whole)]
    return Made(None if errors else compile_kind(whole, codec.encode(whole)), errors, warnings)


def check(kind: Kind, version: Version, raw: bytes, content_type: str = "application/json") -> Checked:
    """What a create of one object would say. raw: JSON or YAML, as content_type tells."""
    body = Body(kind, version, raw, content_type)
    try:
        obj = bodies.read(body)
    except BadRequest as refused:
        return Checked(None, refused.message, (), body.warnings)
    kind.strategy.prepare_create(version, obj)
    if obj.get("kind") != kind.kind:
        return Checked(obj, "", [invalid("kind", obj.get("kind"), f"must be {kind.kind}")], body.warnings)
    errors = _metadata(kind, obj["metadata"])
    with codec.as_sent(obj, body.floats):
        errors += kind.strategy.validate_create(kind, version, obj)
    return Checked(obj, "", errors, body.warnings)


def _metadata(kind: Kind, metadata: Object) -> list[FieldError]:
    """What is wrong with metadata; a namespace may come from elsewhere, and a name from generateName."""
    prefix = metadata.get("generateName") or ""
    if not metadata.get("name") and prefix:
        metadata = {**metadata, "name": f"{prefix}x"}
    namespaced = kind.namespaced and bool(metadata.get("namespace"))
    return objectmeta.validate(metadata, namespaced=namespaced, name_check=kind.strategy.name_errors)
