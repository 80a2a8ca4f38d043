"""Validates the spec of persistent volumes. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from podless.apis.podspec import claims, disks, volumes
from podless.apis.podspec.affinity import validate_node_selector
from podless.apis.shared import checks
from podless.codec import quantity
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

# sources in the order of validation
SOURCES = (
    "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte", "cephfs",
    "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume",
    "azureDisk", "scaleIO", "local", "storageos", "csi",
)  # fmt: skip
_RECLAIMING = ("Delete", "Recycle", "Retain")
_SECRETS = ("controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef")
_INLINE = "in the context of inline volumes"
_NAMESPACE = "if the endpointnamespace is set, it must be a valid namespace name"


def validate_volume_spec(spec: Object, volume: str) -> field.Errors:
    """Validate the spec of a PersistentVolume. volume: its name."""
    yield from _validate_access(spec.get("accessModes") or [], "spec.accessModes")
    yield from _validate_capacity(spec.get("capacity"), "spec.capacity")
    policy = spec.get("persistentVolumeReclaimPolicy")
    yield from field.one_of("spec.persistentVolumeReclaimPolicy", policy or None, _RECLAIMING)
    affinity = spec.get("nodeAffinity")
    if affinity is not None and affinity.get("required") is None:
        yield field.required("spec.nodeAffinity.required", "must specify required node constraints")
    elif affinity is not None:
        yield from validate_node_selector(affinity["required"], "spec.nodeAffinity.required")
    yield from _validate_source(spec, "spec", volume, affinity=affinity is not None)
    host = spec.get("hostPath")
    if host is not None and policy == "Recycle" and posixpath.normpath(host.get("path") or "") in ("/", "//"):
        text = "may not be 'recycle' for a hostPath mount of '/'"
        yield field.forbidden("spec.persistentVolumeReclaimPolicy", text)
    yield from checks.validate_string(spec, "spec", "storageClassName", names.check_subdomain)
    yield from claims.validate_volume_mode(spec, "spec")
    name = spec.get("volumeAttributesClassName")
    if name is not None:
        path = "spec.volumeAttributesClassName"
        yield from checks.validate_name(path, name, names.check_subdomain, "an empty string is disallowed")
        if spec.get("csi") is None:
            yield field.required("spec.csi", "has to be specified when using volumeAttributesClassName")


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
    yield from _validate_source(spec, path, "", affinity=False)
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


def _validate_source(spec: Object, path: str, volume: str, *, affinity: bool) -> field.Errors:
    """Require exactly one volume source. volume: the name of the volume. affinity: the spec has a nodeAffinity."""
    count = 0
    for name in SOURCES:
        source = spec.get(name)
        if source is None:
            continue
        if count and name != "flexVolume":
            yield field.forbidden(f"{path}.{volumes.SURPLUS_NAMES.get(name, name)}", volumes.SEVERAL_TYPES)
            continue
        count += 1
        rule, name_of_contents = (_OWN_RULES[name], name) if name in _OWN_RULES else volumes.KINDS[name]
        if name == "iscsi":
            yield from disks.validate_persistent_iscsi(source, f"{path}.{name_of_contents}", volume)
        else:
            yield from rule(source, f"{path}.{name_of_contents}")
        if name == "local" and not affinity:
            yield field.required(f"{path}.nodeAffinity", "Local volume requires node affinity")
    if not count:
        yield field.required(path, "must specify a volume type")


def _validate_glusterfs(source: Object, path: str) -> field.Errors:
    yield from checks.require_fields(source, path, "endpoints", "path")
    if (space := source.get("endpointsNamespace")) is not None:
        yield from field.invalid_details(
            f"{path}.endpointsNamespace", space, names.check_label_name(space) if space else (_NAMESPACE,)
        )


def _validate_cinder(source: Object, path: str) -> field.Errors:
    yield from checks.require_fields(source, path, "volumeID")
    yield from disks.validate_secret_ref(source, path, "namespace")


def _azure_file(source: Object, path: str) -> field.Errors:
    yield from checks.require_fields(source, path, "secretName", "shareName")
    if source.get("secretNamespace") == "":
        yield field.required(f"{path}.secretNamespace")


def _storage_os(source: Object, path: str) -> field.Errors:
    yield from disks.validate_storage_os(source, path)
    if (ref := source.get("secretRef")) is not None:
        yield from checks.require_fields(ref, f"{path}.secretRef", "namespace")


def _validate_csi(source: Object, path: str) -> field.Errors:
    yield from disks.validate_driver_name(source.get("driver", ""), f"{path}.driver")
    yield from checks.require_fields(source, path, "volumeHandle")
    for name in _SECRETS:
        if (secret := source.get(name)) is not None:
            yield from checks.validate_name(f"{path}.{name}.name", secret.get("name", ""), names.check_subdomain)
            yield from checks.validate_name(f"{path}.{name}.namespace", secret.get("namespace", ""))


# the rules that differ from those of a pod's volumes
_OWN_RULES: dict[str, volumes.Check] = {
    "glusterfs": _validate_glusterfs,
    "cinder": _validate_cinder,
    "azureFile": _azure_file,
    "local": volumes.validate_host_path,
    "storageos": _storage_os,
    "csi": _validate_csi,
}
