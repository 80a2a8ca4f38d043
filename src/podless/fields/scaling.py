"""managedFields of the scale subresource: the one field that a Scale writes, and its owners in the object.

Source: k8s.io/apimachinery pkg/util/managedfields (scale handler). A Scale has another apiVersion than the object, so
an updater is another owner there, and what it owns through a Scale has no time, as recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podless.fields import sets
from podless.fields.managers import Entry, decode_managed_fields, encode_managed_fields
from podless.fields.merge import Owned, Owners
from podless.fields.sets import Path
from podless.runtime.meter import each

SCALE = "autoscaling/v1"
_REPLICAS: Path = ("f:spec", "f:replicas")

Paths = Mapping[str, Path | None]  # apiVersion -> path of the replicas in its objects, None without a Scale


def list_scale_entries(entries: Any, paths: Paths) -> list[Entry]:
    """Return the managedFields of the Scale of an object with these entries."""
    owners, times = decode_managed_fields(entries, canonical=True)
    seen: Owners = {}
    for owner, owned in each(owners).items():
        path = paths.get(owned.version)
        if path is not None and sets.has_path(owned.fields, path):
            seen[owner] = Owned(sets.make_set(_REPLICAS), SCALE)
    return encode_managed_fields(seen, times, custom=True)


def list_object_entries(entries: Any, scale: list[Entry], version: str, paths: Paths, *, custom: bool) -> list[Entry]:
    """Return the managedFields of an object after a write to its Scale.

    entries: of the object before. scale: of the Scale after the write. version: the apiVersion of the request's path.
    Owners in a removed version are forgotten.
    """
    owners, times = decode_managed_fields(entries, canonical=True)
    scalers, _ = decode_managed_fields(scale, canonical=True)
    result: Owners = {}
    for owner, owned in each(owners).items():
        if owned.version not in paths:
            continue
        path = paths[owned.version]
        if path is None or not sets.has_path(owned.fields, path) or scalers.pop(owner, None) is not None:
            result[owner] = owned
        elif fields := sets.subtract_set(owned.fields, sets.make_set(path)):
            result[owner] = Owned(fields, owned.version)
    replicas = paths.get(version)
    for owner, owned in scalers.items():
        if replicas is not None and sets.has_path(owned.fields, _REPLICAS):
            result[owner] = Owned(sets.make_set(replicas), version)
    return encode_managed_fields(result, times, custom=custom)
