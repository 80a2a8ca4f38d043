"""Validates the spec of a persistent volume. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from podless.apis.podspec import affinity as nodes
from podless.apis.podspec import claims
from podless.apis.shared import checks
from podless.apis.shared.volumes import sources
from podless.codec import quantity
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_RECLAIMING = ("Delete", "Recycle", "Retain")
_INLINE = "in the context of inline volumes"


def validate_volume_spec(spec: Object, volume: str) -> field.Errors:
    """Validate the spec of a PersistentVolume. volume: its name."""
    path = "spec"
    yield from _validate_access(spec.get("accessModes") or [], f"{path}.accessModes")
    yield from _validate_capacity(spec.get("capacity"), f"{path}.capacity")
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy and policy not in _RECLAIMING:
        yield field.not_supported(f"{path}.persistentVolumeReclaimPolicy", policy, _RECLAIMING)
    affinity = spec.get("nodeAffinity")
    if affinity is not None:
        yield from _validate_affinity(affinity, f"{path}.nodeAffinity")
    yield from sources.validate_volume_source(spec, path, volume, affinity=affinity is not None)
    host = spec.get("hostPath")
    if host is not None and policy == "Recycle" and posixpath.normpath(host.get("path") or "") in ("/", "//"):
        text = "may not be 'recycle' for a hostPath mount of '/'"
        yield field.forbidden(f"{path}.persistentVolumeReclaimPolicy", text)
    if name := spec.get("storageClassName"):
        yield from field.invalid_details(f"{path}.storageClassName", name, names.check_subdomain(name))
    yield from claims.volume_mode(spec, path)
    yield from _validate_attributes(spec, path)


def validate_inline_spec(spec: Object, path: str) -> field.Errors:
    """Validate the volume spec inside a VolumeAttachment."""
    for name in ("claimRef", "capacity"):
        if spec.get(name):
            yield field.forbidden(f"{path}.{name}", f"may not be specified {_INLINE}")
    if spec.get("csi") is None:
        yield field.required(f"{path}.csi", f"has to be specified {_INLINE}")
    yield from _validate_access(spec.get("accessModes") or [], f"{path}.accessModes")
    if spec.get("persistentVolumeReclaimPolicy") not in (None, "", "Retain"):
        yield field.forbidden(f"{path}.persistentVolumeReclaimPolicy", f"may only be Retain {_INLINE}")
    if spec.get("nodeAffinity") is not None:
        yield field.forbidden(f"{path}.nodeAffinity", f"may not be specified {_INLINE}")
    yield from sources.validate_volume_source(spec, path, "", affinity=False)
    if spec.get("storageClassName"):
        yield field.forbidden(f"{path}.storageClassName", f"may not be specified {_INLINE}")
    if spec.get("volumeMode") not in (None, "Filesystem"):
        yield field.forbidden(f"{path}.volumeMode", f"may not specify volumeMode other than Filesystem {_INLINE}")


def _validate_access(modes: Sequence[str], path: str) -> field.Errors:
    if not modes:
        yield field.required(path)
    yield from claims.validate_access_modes(modes, path)


def _validate_capacity(capacity: dict[str, str] | None, path: str) -> field.Errors:
    if not capacity:
        yield field.required(path)
    if list(capacity or ()) != ["storage"]:
        yield field.not_supported(path, capacity, ["storage"])
    for name, text in each(capacity or {}).items():
        yield from checks.validate_amount(f"{path}[{name}]", text)
        if quantity.parse_nanos(text) <= 0:
            yield field.invalid(f"{path}[{name}]", text, "must be greater than zero")


def _validate_affinity(affinity: Object, path: str) -> field.Errors:
    required = affinity.get("required")
    if required is None:
        yield field.required(f"{path}.required", "must specify required node constraints")
    else:
        yield from nodes.node_selector(required, f"{path}.required")


def _validate_attributes(spec: Object, path: str) -> field.Errors:
    name, class_name_path = spec.get("volumeAttributesClassName"), f"{path}.volumeAttributesClassName"
    if name is None:
        return
    yield from checks.validate_name(class_name_path, name, names.check_subdomain, "an empty string is disallowed")
    if spec.get("csi") is None:
        yield field.required(f"{path}.csi", "has to be specified when using volumeAttributesClassName")
