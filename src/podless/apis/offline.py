"""Compiles definitions and validates objects without a server.

The steps are those of a request: the same decoding, pruning, defaults and rules. Steps that need a server (other
objects, admission, whether a name is taken) are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import podless.apis.catalog  # noqa: F401 - registers the kinds that a body can claim to be of
from podless.codec import gotext, serializer
from podless.kinds import bodies, validation
from podless.kinds.bodies import Body
from podless.kinds.fromdefinition import compile_kind
from podless.kinds.kind import Kind, Version
from podless.meta import names, objectmeta
from podless.meta.errors import BadRequest, Invalid
from podless.meta.field import FieldError, forbidden
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.structs import structs
from podless.structs.gated import drop_gated
from podless.structs.structfiles import load_struct

CUSTOM_RESOURCE_DEFINITION = load_struct("apiextensions/v1", "CustomResourceDefinition")


class Definition(NamedTuple):
    """The kind of a definition, None if it has errors; and the errors and warnings that a client would get."""

    kind: Kind | None
    errors: Sequence[FieldError]
    warnings: Sequence[str]


class Checked(NamedTuple):
    """An object as a server would store it, without fields that only a server sets. None for an invalid body.

    refusal: why the body is not an object of the kind, or "". findings: unknown and duplicate fields. errors: why the
    object is invalid. warnings: those that a server would send.
    """

    obj: Object | None
    refusal: str
    findings: Sequence[str]
    errors: Sequence[FieldError]
    warnings: Sequence[str]


def define_kind(definition: Object) -> Definition:
    """Compile a v1 CustomResourceDefinition.

    Raises structs.DecodeError if it cannot be decoded.
    """
    from podless.apis.apiextensions.definition import conversions, fill, schemas, validate  # slow imports
    from podless.cel.rules import DefinitionRules

    unknown: list[str] = []
    decoded = structs.decode_struct(CUSTOM_RESOURCE_DEFINITION, definition, unknown)
    fill.set_defaults(decoded)
    fill.prepare_create(decoded)
    errors = objectmeta.validate_metadata(decoded["metadata"], namespaced=False, naming=names.SUBDOMAINS)
    errors += validate.validate_create(decoded, DefinitionRules())
    warnings = [*(f"unknown field {gotext.quote(path)}" for path in unknown), *schemas.warn_of_formats(decoded)]
    warnings += [] if errors else conversions.warn_of_conversions(decoded)
    return Definition(None if errors else compile_kind(decoded, serializer.encode_json(decoded)), errors, warnings)


def check_object(
    kind: Kind, version: Version, raw: bytes, old: Object | None = None, content_type: str = "application/json"
) -> Checked:
    """Return the errors and warnings of a server about the create or update of an object.

    raw: JSON or YAML, by content_type. old: the object before an update, in any version.
    """
    body = Body(kind, version, raw, content_type)
    try:
        obj = bodies.read_body(body)
    except BadRequest as refused:
        return Checked(None, refused.message, body.warnings, (), ())
    metadata = obj["metadata"]
    if old is None:
        lent = _add_server_metadata(kind, metadata)
        errors, warnings = _find_errors(obj, None, body)
        for name in lent:
            metadata.pop(name, None)
    else:
        old = kind.strategy.convert_object(kind, version, old)
        for name in ("uid", "creationTimestamp", "generation", "resourceVersion", "namespace"):
            if name in old["metadata"] and not metadata.get(name):
                metadata[name] = old["metadata"][name]
        errors, warnings = _find_errors(obj, old, body)
    return Checked(obj, "", body.warnings, errors, warnings)


def _find_errors(obj: Object, old: Object | None, body: Body) -> tuple[Sequence[FieldError], list[str]]:
    """Return the errors and warnings about an object with the metadata of a server."""
    kind, version, metadata, floats = body.kind, body.version, obj["metadata"], body.floats
    placed = kind.namespaced and bool(metadata.get("namespace"))
    try:
        drop_gated(kind.struct_of(version), obj, old)
        if old is None:
            kind.strategy.prepare_create(version, obj)
        else:
            kind.strategy.prepare_update(version, obj, old)
    except Invalid as refused:
        return refused.errors, []
    warnings = objectmeta.dedupe_owners(metadata)
    errors = validation.validate_type(kind, version, obj)
    if not errors:
        errors = _out_of_place(kind, metadata)
        if old is None:
            errors += validation.validate_new(kind, version, obj, floats, namespaced=placed)
        else:
            errors += validation.validate_change(kind, version, obj, old, warnings, floats, namespaced=placed)
    if not errors:
        warnings += [kind.deprecation_warning(version)] if version.deprecated else []
        warnings += kind.strategy.list_warnings(version, obj, old)
    return errors, warnings


def convert_object(kind: Kind, obj: Object, version: str) -> Object:
    """Return a custom object in another version, by its definition's declared conversion.

    Raises Internal if only a webhook or a hook can convert it, or if a declared conversion fails.
    """
    target = kind.by_version[version]
    result = kind.strategy.convert_object(kind, target, obj)
    kind.strategy.drop_unknown_fields(target, result)
    return result


def read_accepted(kind: Kind, version: Version, raw: bytes) -> Object | None:
    """Decode a stored object with its defaults; None if it is not an object of the kind."""
    try:
        return bodies.read_body(Body(kind, version, raw))
    except BadRequest:
        return None


def _add_server_metadata(kind: Kind, metadata: Object) -> list[str]:
    """Set metadata that a server would set, because rules require it. Returns the names of these fields."""
    server_metadata: Object = {"uid": "00000000-0000-0000-0000-000000000000", "creationTimestamp": clock.now()}
    if kind.strategy.has_generation:
        server_metadata["generation"] = 1
    if not metadata.get("name") and metadata.get("generateName"):
        server_metadata["name"] = f"{metadata['generateName']}x"
    metadata.update(server_metadata)
    return list(server_metadata)


def _out_of_place(kind: Kind, metadata: Object) -> list[FieldError]:
    """Reject a namespace in a cluster-scoped object."""
    if kind.namespaced or not metadata.pop("namespace", None) or kind.strategy.metadata.drops_namespace:
        return []
    return [forbidden("metadata.namespace", "not allowed on this type")]
