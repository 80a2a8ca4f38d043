"""The published schema of a kind without references, for type checks of expressions.

Source: k8s.io/apiserver pkg/cel/openapi/resolver.
"""

from __future__ import annotations

from collections.abc import Mapping

from podless.kinds.kind import Kind, Version
from podless.publish.openapi import builtin, schema
from podless.publish.openapi.standard import REF
from podless.runtime.jsonobject import Schema

_RECURSIVE: Schema = {"type": "object"}  # in place of a recursive reference
_EITHER = "int-or-string"


def resolve_schema(kind: Kind, version: Version) -> Schema:
    """Return the schema of a kind in a version, cached with the kind."""
    return kind.derive(("resolved", version.name), lambda: _resolve_schema(kind, version))


def _resolve_schema(kind: Kind, version: Version) -> Schema:
    if kind.custom:
        return _inline_references(
            schema.root_component(kind.structural_schema(version)), builtin.standard_components(), frozenset()
        )
    components = {**builtin.standard_components(), **builtin.kind_components(kind, version)}
    root_name = builtin.make_namer(kind, version)(kind.kind)
    root = (
        root_name
        if root_name in components
        else next((key for key in components if key.endswith(f".{kind.kind}")), root_name)
    )
    return _inline_references({"$ref": REF + root}, components, frozenset())


def _inline_references(schema: Schema, components: Mapping[str, Schema], parents: frozenset[str]) -> Schema:
    """Return a schema with its references replaced. parents: references that contain it."""
    name = _find_reference(schema)
    if name is not None:
        if name in parents:
            return _RECURSIVE
        schema, parents = components.get(name, {}), parents | {name}
    result = dict(schema)
    if "properties" in result:
        result["properties"] = {
            key: _inline_references(child, components, parents) for key, child in result["properties"].items()
        }
    for key in ("items", "additionalProperties"):
        if isinstance(result.get(key), dict):
            result[key] = _inline_references(result[key], components, parents)
    if result.get("format") == _EITHER:
        result["x-kubernetes-int-or-string"] = True
    elif name is not None and "oneOf" in result:
        result["type"] = "string"  # a quantity
    return result


def _find_reference(schema: Schema) -> str | None:
    """Return the component that a schema refers to, directly or in allOf; None without a reference."""
    reference = schema.get("$ref")
    if reference is not None:
        return str(reference).removeprefix(REF)
    return next((name for child in schema.get("allOf") or () if (name := _find_reference(child)) is not None), None)
