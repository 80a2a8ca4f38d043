"""Keeps parts of the old object in updates, such as the metadata in status updates."""

from __future__ import annotations

from typing import Any

from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

# metadata that clients and controllers set
CLIENT_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
_SYSTEM = ("generateName", "uid", "resourceVersion", "creationTimestamp", "deletionGracePeriodSeconds", "managedFields")


def keep_metadata(obj: Object, old: Object) -> None:
    """Restore the old metadata, except managedFields and immutable fields, whose changes are rejected later.

    Source: ResetObjectMetaForStatus of k8s.io/apimachinery.
    """
    metadata = obj["metadata"]
    obj["metadata"] = {name: value for name, value in each(old["metadata"]).items() if name not in _SYSTEM}
    obj["metadata"] |= {name: metadata[name] for name in _SYSTEM if name in metadata}


def keep_parts(obj: Object, before: Object, *names: str) -> None:
    """Restore parts of an object from `before`; remove those that were not set."""
    for name in names:
        if name in before:
            obj[name] = before[name]
        else:
            obj.pop(name, None)


def put_part(obj: Object, name: str, value: Any) -> None:
    """Set a part of an object; remove it if the value is None."""
    if value is None:
        obj.pop(name, None)
    else:
        obj[name] = value
