"""The published schema of a kind without references, for type checks of expressions.

Source: k8s.io/apiserver pkg/cel/openapi/resolver.
"""

from __future__ import annotations

from collections.abc import Mapping

from podless.kinds.kind import Kind, Version
from podless.publish.openapi import builtin, schema
from podless.publish.openapi.standard import REF
from podless.runtime.jsonobject import Schema

_AGAIN: Schema = {"type": "object"}  # in place of a recursive reference
_EITHER = "int-or-string"


def resolve_schema(kind: Kind, version: Version) -> Schema:
    """Return the schema of a kind in a version, cached with the kind."""
    return kind.derive(("resolved", version.name), lambda: _resolve(kind, version))


def _resolve(kind: Kind, version: Version) -> Schema:
    if kind.custom:
        return _inlined(schema.root_component(kind.structure(version)), builtin.standard_components(), frozenset())
    known = {**builtin.standard_components(), **builtin.kind_components(kind, version)}
    own = builtin.make_namer(kind, version)(kind.kind)
    found = own if own in known else next((name for name in known if name.endswith(f".{kind.kind}")), own)
    return _inlined({"$ref": REF + found}, known, frozenset())


def _inlined(shown: Schema, known: Mapping[str, Schema], above: frozenset[str]) -> Schema:
    """Return a schema with its references replaced. above: references that contain it."""
    name = _reference(shown)
    if name is not None:
        if name in above:
            return _AGAIN
        shown, above = known.get(name, {}), above | {name}
    made = dict(shown)
    if "properties" in made:
        made["properties"] = {key: _inlined(part, known, above) for key, part in made["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), dict):
            made[key] = _inlined(made[key], known, above)
    if made.get("format") == _EITHER:
        made["x-kubernetes-int-or-string"] = True
    elif name is not None and "oneOf" in made:
        made["type"] = "string"  # a quantity
    return made


def _reference(shown: Schema) -> str | None:
    """Return the component that a schema refers to, directly or in allOf; None without a reference."""
    reference = shown.get("$ref")
    if reference is not None:
        return str(reference).removeprefix(REF)
    return next((name for part in shown.get("allOf") or () if (name := _reference(part)) is not None), None)
