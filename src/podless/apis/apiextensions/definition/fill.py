"""Defaults of a decoded CustomResourceDefinition, and fields that the server resets."""

from __future__ import annotations

from podless.apis.apiextensions.definition import shared
from podless.apis.apiextensions.definition.shared import NAMES_ORDER
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.schema import plain
from podless.schema.definition import walk_nodes
from podless.schema.embedded import Malformed, coerce_embedded
from podless.schema.node import Node
from podless.structs import gotypes

SPEC_ORDER = ("group", "names", "scope", "versions", "conversion", "preserveUnknownFields")


def set_defaults(crd: Object) -> None:
    """Set the defaults of singular, listKind, conversion, the webhook's port and storedVersions."""
    spec = crd["spec"]
    names = spec["names"]
    if not names.get("singular") and names["kind"]:
        names["singular"] = names["kind"].lower()
    if not names.get("listKind") and names["kind"]:
        names["listKind"] = names["kind"] + "List"
    spec["names"] = _order_fields(names, NAMES_ORDER)
    conversion = spec.setdefault("conversion", {"strategy": "None"})
    webhook = conversion.get("webhook")
    if webhook is not None:
        service = (webhook.get("clientConfig") or {}).get("service")
        if service is not None:
            service.setdefault("port", 443)
        if "clientConfig" not in webhook and webhook["conversionReviewVersions"] is None:
            del conversion["webhook"]
    crd["spec"] = _order_fields(spec, SPEC_ORDER)
    if not crd["status"]["storedVersions"]:
        crd["status"]["storedVersions"] = _storage_versions(spec) or crd["status"]["storedVersions"]


def prepare_create(crd: Object) -> None:
    """Set the status and generation of a new definition."""
    crd["metadata"]["generation"] = 1
    _drop_disabled(crd["spec"])
    stored = _storage_versions(crd["spec"]) or None
    crd["status"] = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": stored}
    _coerce_defaults(crd["spec"])


def prepare_update(new: Object, old: Object) -> None:
    """Keep the status of the old definition, and add a new storage version to it.

    The caller increments the generation if the spec has changed.
    """
    if not _list_selecting(old["spec"]) and _drop_disabled(new["spec"]) and new["spec"] == old["spec"]:
        new["metadata"]["generation"] += 1  # kube-apiserver counts the change before it drops the field
    status = dict(old["status"])
    stored = list(status.get("storedVersions") or [])
    stored += [name for name in _storage_versions(new["spec"]) if name not in stored]
    status["storedVersions"] = stored or None
    new["status"] = status
    _coerce_defaults(new["spec"])


def _list_selecting(spec: Object) -> list[Object]:
    """Return the spec and those of its versions that have selectableFields."""
    return [holder for holder in (spec, *each(spec.get("versions") or ())) if "selectableFields" in holder]


def _drop_disabled(spec: Object) -> bool:
    """Drop selectableFields if their feature gate is off. Returns whether there were any."""
    selecting_versions = _list_selecting(spec)
    if not selecting_versions or has("CustomResourceFieldSelectors"):
        return False
    for version in selecting_versions:
        del version["selectableFields"]
    return True


def _coerce_defaults(spec: Object) -> None:
    """Convert the metadata in defaults of embedded resources as an ObjectMeta, as kube-apiserver does."""
    for schema in shared.list_schemas(spec):
        if not plain.mentions_any(schema, b'"default":{', b'"default":['):
            continue
        for node in walk_nodes(schema, plain.find_plain_parts(schema).ids):
            value = node.get("default")
            if not isinstance(value, dict | list):
                continue
            try:
                coerce_embedded(value, Node(node), root=node is schema)
            except Malformed:
                continue  # validation will reject it
            node["default"] = gotypes.canonical_json(value)


def _storage_versions(spec: Object) -> list[str]:
    """Return a list with the name of the first storage version, empty if there is none."""
    return [version["name"] for version in each(spec.get("versions") or []) if version["storage"]][:1]


def _order_fields(item: Object, order: tuple[str, ...]) -> Object:
    return {name: item[name] for name in order if name in item}
