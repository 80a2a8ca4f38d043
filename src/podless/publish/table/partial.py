"""PartialObjectMetadata: objects without their contents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podless.runtime.bounded import bounded_cache
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_METADATA = (
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers",
    "managedFields",
)  # fmt: skip
_ZERO = {"deletionGracePeriodSeconds": 0}  # shown even if 0; all other fields are omitted when empty
_ITEM_FIELDS = {
    "ownerReferences": ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"),
    "managedFields": ("manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"),
}


def make_partial(obj: Mapping[str, Any], version: str = "v1") -> Object:
    """Return the object as PartialObjectMetadata, with the fields in a real server's order."""
    metadata = obj.get("metadata") or {}
    partial = {
        name: metadata[name]
        for name in _order_fields(_METADATA, tuple(metadata))
        if metadata[name] or metadata[name] == _ZERO.get(name)
    }
    for name, order in _ITEM_FIELDS.items():
        if name in partial:
            partial[name] = [
                {key: item[key] for key in _order_fields(order, tuple(item))} for item in each(partial[name])
            ]
    return {"kind": "PartialObjectMetadata", "apiVersion": f"meta.k8s.io/{version}", "metadata": partial}


@bounded_cache(256)
def _order_fields(order: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the given fields in order. Cached, because objects of a kind have the same fields."""
    return tuple(name for name in order if name in names)
