"""Conversion, defaults and rules of apiextensions.k8s.io/v1beta1, which is stored as v1.

In v1beta1 the common fields of all versions are at the top of the spec; unknown fields are preserved by default; a
schema is optional and need not be structural. Source: conversion, defaults and validation of apiextensions-apiserver
1.21.
"""

from __future__ import annotations

from typing import Any

from podless.apis.apiextensions.definition import versions
from podless.apis.apiextensions.definition.shared import BETA, MOVED, Layout, equal_json, list_schemas
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs.structfiles import load_struct
from podless.structs.structs import Struct

_SPEC = load_struct("apiextensions/v1", "CustomResourceDefinitionSpec")
_BETA_SPEC = load_struct("apiextensions/v1beta1", "CustomResourceDefinitionSpec")
_JSON_SCHEMA_PROPS = load_struct("apiextensions/v1", "JSONSchemaProps")
_COLUMNS = "additionalPrinterColumns"
_NOUNS = {"schema": ("schemas", "validation"), "subresources": ("subresources",) * 2, _COLUMNS: (_COLUMNS,) * 2}
_VERSION_FIELDS = ("name", "served", "storage", "deprecated", "deprecationWarning", *MOVED)


def to_v1(crd: Object) -> Object:
    """Convert a definition from v1beta1 to v1. It may be incomplete, and is not changed."""
    if crd.get("spec") is None:
        return crd
    layout = read_layout(crd["spec"])
    spec = {name: value for name, value in layout.spec.items() if name in _SPEC.field_ranks and name != "versions"}
    if not spec.get("preserveUnknownFields"):
        spec.pop("preserveUnknownFields", None)
    if layout.versions or "versions" in crd["spec"]:
        versions = (layout.common | version for version in layout.versions)
        spec["versions"] = [{key: version[key] for key in _VERSION_FIELDS if key in version} for version in versions]
    return {**crd, "spec": _order_fields(_SPEC, spec)}


def from_v1(crd: Object) -> Object:
    """Convert a definition from v1 to v1beta1. It may be incomplete, and is not changed."""
    if crd.get("spec") is None:
        return crd
    layout = Layout.read_layout(crd["spec"])
    spec = {name: value for name, value in layout.spec.items() if name != "versions"}
    spec |= {MOVED[name]: _rename_path(name, value, "jsonPath", "JSONPath") for name, value in layout.common.items()}
    if layout.versions:
        spec["version"] = layout.versions[0]["name"]
        spec["versions"] = [_rename_fields(version, "jsonPath", "JSONPath") for version in layout.versions]
    spec["preserveUnknownFields"] = bool(spec.get("preserveUnknownFields"))
    conversion = spec.get("conversion")
    if conversion is not None:
        webhook = conversion.get("webhook") or {}
        spec["conversion"] = {name: value for name, value in each(conversion).items() if name != "webhook"}
        if webhook.get("clientConfig") is not None:
            spec["conversion"]["webhookClientConfig"] = webhook["clientConfig"]
        if webhook.get("conversionReviewVersions"):
            spec["conversion"]["conversionReviewVersions"] = webhook["conversionReviewVersions"]
    return {**crd, "spec": _order_fields(_BETA_SPEC, spec)}


def read_layout(spec: Object) -> Layout:
    """Return the layout of a v1beta1 spec, with the field names of v1."""
    remaining = {name: value for name, value in each(spec).items() if name not in MOVED.values()}
    common = {
        name: _rename_path(name, spec[top], "JSONPath", "jsonPath")
        for name, top in MOVED.items()
        if spec.get(top) is not None
    }
    conversion = spec.get("conversion")
    if conversion is not None:
        remaining["conversion"] = _convert_conversion(conversion)
    items = spec.get("versions")
    if not items and spec.get("version"):
        items = [{"name": spec["version"], "served": True, "storage": True}]
    return Layout(
        remaining,
        common,
        [_rename_fields(version, "JSONPath", "jsonPath") for version in each(items or ())],
        legacy=True,
    )


def _convert_conversion(beta_conversion: Object) -> Object:
    """Convert the field conversion to v1."""
    conversion = {"strategy": beta_conversion["strategy"]} if "strategy" in beta_conversion else {}
    client, reviews = beta_conversion.get("webhookClientConfig"), beta_conversion.get("conversionReviewVersions")
    if client is not None or reviews:
        conversion["webhook"] = ({"clientConfig": client} if client is not None else {}) | {
            "conversionReviewVersions": reviews
        }
    return conversion


def _rename_fields(fields: Object, old: str, new: str) -> Object:
    return {name: _rename_path(name, value, old, new) for name, value in each(fields).items()}


def _rename_path(name: str, value: Any, old: str, new: str) -> Any:
    """Rename the path field of printer columns, and return all other values unchanged."""
    if name != _COLUMNS or not isinstance(value, list):
        return value
    return [{new if key == old else key: item for key, item in each(column).items()} for column in each(value)]


def _order_fields(struct: Struct, obj: Object) -> Object:
    ranks = struct.field_ranks
    return dict(sorted(obj.items(), key=lambda item: ranks.get(item[0], len(ranks))))


def set_defaults(crd: Object) -> None:
    """Set the defaults of a v1beta1 definition.

    These are scope, names, versions, conversion, preserveUnknownFields, storedVersions and the types of embedded
    resources.
    """
    spec = crd["spec"]
    names = spec["names"]
    spec["scope"] = spec["scope"] or "Namespaced"
    if names["kind"]:
        names["singular"] = names.get("singular") or names["kind"].lower()
        names["listKind"] = names.get("listKind") or names["kind"] + "List"
    if not spec.get("versions") and spec.get("version"):
        spec["versions"] = [{"name": spec["version"], "served": True, "storage": True}]
    if spec.get("versions") and not spec.get("version"):
        spec["version"] = spec["versions"][0]["name"]
    conversion = spec.setdefault("conversion", {"strategy": "None"})
    if conversion["strategy"] == "Webhook" and not conversion.get("conversionReviewVersions"):
        conversion["conversionReviewVersions"] = [BETA]
    service = (conversion.get("webhookClientConfig") or {}).get("service")
    if service is not None:
        service.setdefault("port", 443)
    spec.setdefault("preserveUnknownFields", True)
    _type_embedded(spec)
    crd["spec"] = _order_fields(_BETA_SPEC, spec)
    if not crd["status"]["storedVersions"]:
        stored = [version["name"] for version in each(spec.get("versions") or ()) if version["storage"]][:1]
        crd["status"]["storedVersions"] = stored or crd["status"]["storedVersions"]


def _type_embedded(spec: Object) -> None:
    """Set the type of embedded resources to object, which is optional in v1beta1 and required in v1."""
    from podless.schema.definition import walk_nodes

    for schema in list_schemas(spec):
        for node in walk_nodes(schema):
            if node.get("x-kubernetes-embedded-resource") and not node.get("type"):
                ordered = _order_fields(_JSON_SCHEMA_PROPS, node | {"type": "object"})
                node.clear()
                node.update(ordered)


def check_exclusive(layout: Layout) -> list[FieldError]:
    """Reject fields that are set both at the top and in versions, or that have the same value in all versions."""
    errors = []
    for name, (noun, top) in _NOUNS.items():
        if layout.common.get(name) and any(version.get(name) is not None for version in layout.versions):
            text = f"top-level and per-version {noun} are mutually exclusive"
            errors.append(field.forbidden(f"spec.{top}", text))
    for name, (noun, top) in _NOUNS.items():
        values = [version.get(name) for version in layout.versions]
        if values and values[0] is not None and all(equal_json(values[0], value) for value in each(values)):
            text = f"per-version {noun} may not all be set to identical values (top-level {top} should be used instead)"
            errors.append(field.invalid("spec.versions", versions.show_versions(layout.versions), text))
    return errors
