"""Validates the source of a persistent volume. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

from collections.abc import Callable

from podless.apis.podspec import disks, volumes
from podless.apis.shared import checks
from podless.meta import field, names
from podless.runtime.jsonobject import Object

_SEVERAL = "may not specify more than 1 volume type"
_SECRETS = ("controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef")
_NEEDS_AFFINITY = "Local volume requires node affinity"
_NAMESPACE = "if the endpointnamespace is set, it must be a valid namespace name"


def validate_volume_source(spec: Object, path: str, volume: str, *, affinity: bool) -> field.Errors:
    """Require exactly one volume source, and validate it.

    volume: the name of the volume. affinity: the spec has a nodeAffinity.
    """
    count = 0
    for name in NAMES:
        source = spec.get(name)
        if source is None:
            continue
        if count and name != "flexVolume":
            yield field.forbidden(f"{path}.{volumes.SURPLUS_NAMES.get(name, name)}", _SEVERAL)
            continue
        count += 1
        rule, name_of_contents = (_OWN_RULES[name], name) if name in _OWN_RULES else volumes.KINDS[name]
        if name == "iscsi":
            yield from disks.persistent_iscsi(source, f"{path}.{name_of_contents}", volume)
        else:
            yield from rule(source, f"{path}.{name_of_contents}")
        if name == "local" and not affinity:
            yield field.required(f"{path}.nodeAffinity", _NEEDS_AFFINITY)
    if not count:
        yield field.required(path, "must specify a volume type")


Rule = Callable[[Object, str], field.Errors]


def _validate_local(source: Object, path: str) -> field.Errors:
    if not source.get("path"):
        yield field.required(f"{path}.path")
    else:
        yield from checks.reject_backsteps(f"{path}.path", source["path"])


def _validate_glusterfs(source: Object, path: str) -> field.Errors:
    yield from checks.require_fields(source, path, "endpoints", "path")
    if (space := source.get("endpointsNamespace")) is not None:
        yield from field.invalid_details(
            f"{path}.endpointsNamespace", space, names.check_label_name(space) if space else (_NAMESPACE,)
        )


def _validate_cinder(source: Object, path: str) -> field.Errors:
    yield from checks.require_fields(source, path, "volumeID")
    yield from disks.secret_ref(source, path, "namespace")


def _azure_file(source: Object, path: str) -> field.Errors:
    yield from checks.require_fields(source, path, "secretName", "shareName")
    if source.get("secretNamespace") == "":
        yield field.required(f"{path}.secretNamespace")


def _storage_os(source: Object, path: str) -> field.Errors:
    yield from disks.storage_os(source, path)
    if (ref := source.get("secretRef")) is not None:
        yield from checks.require_fields(ref, f"{path}.secretRef", "namespace")


def _validate_csi(source: Object, path: str) -> field.Errors:
    yield from disks.driver_name(source.get("driver", ""), f"{path}.driver")
    yield from checks.require_fields(source, path, "volumeHandle")
    for name in _SECRETS:
        if (secret := source.get(name)) is not None:
            yield from checks.validate_name(f"{path}.{name}.name", secret.get("name", ""), names.check_subdomain)
            yield from checks.validate_name(f"{path}.{name}.namespace", secret.get("namespace", ""))


# in the order of validation
NAMES = (
    "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte", "cephfs",
    "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume",
    "azureDisk", "scaleIO", "local", "storageos", "csi",
)  # fmt: skip
# the rules that differ from those of a pod's volumes
_OWN_RULES: dict[str, Rule] = {
    "glusterfs": _validate_glusterfs,
    "cinder": _validate_cinder,
    "azureFile": _azure_file,
    "local": _validate_local,
    "storageos": _storage_os,
    "csi": _validate_csi,
}
