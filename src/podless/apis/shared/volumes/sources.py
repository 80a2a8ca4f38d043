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
    for name, (name_in_path, name_of_contents, rule) in _SOURCES.items():
        source = spec.get(name)
        if source is None:
            continue
        if count and name != "flexVolume":
            yield field.forbidden(f"{path}.{name_in_path}", _SEVERAL)
            continue
        count += 1
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


# source: its names in errors about several sources and about its own fields; in the order of validation
_SOURCES: dict[str, tuple[str, str, Rule]] = {
    "hostPath": ("hostPath", "hostPath", volumes.host_path),
    "gcePersistentDisk": ("gcePersistentDisk", "persistentDisk", disks.validate_partitioned("pdName")),
    "awsElasticBlockStore": ("awsElasticBlockStore", "awsElasticBlockStore", disks.validate_partitioned("volumeID")),
    "glusterfs": ("glusterfs", "glusterfs", _validate_glusterfs),
    "flocker": ("flocker", "flocker", disks.validate_flocker),
    "nfs": ("nfs", "nfs", disks.validate_nfs),
    "rbd": ("rbd", "rbd", volumes.require_fields("monitors", "image")),
    "quobyte": ("quobyte", "quobyte", disks.validate_quobyte),
    "cephfs": ("cephFS", "cephfs", volumes.require_fields("monitors")),
    "iscsi": ("iscsi", "iscsi", disks.validate_iscsi),
    "cinder": ("cinder", "cinder", _validate_cinder),
    "fc": ("fc", "fc", disks.fibre_channel),
    "flexVolume": ("flexVolume", "flexVolume", disks.validate_flex),
    "azureFile": ("azureFile", "azureFile", _azure_file),
    "vsphereVolume": ("vsphereVolume", "vsphereVolume", volumes.require_fields("volumePath")),
    "photonPersistentDisk": ("photonPersistentDisk", "photonPersistentDisk", volumes.require_fields("pdID")),
    "portworxVolume": ("portworxVolume", "portworxVolume", volumes.require_fields("volumeID")),
    "azureDisk": ("azureDisk", "azureDisk", disks.validate_azure),
    "scaleIO": ("scaleIO", "scaleIO", volumes.require_fields("gateway", "system", "volumeName")),
    "local": ("local", "local", _validate_local),
    "storageos": ("storageos", "storageos", _storage_os),
    "csi": ("csi", "csi", _validate_csi),
}
NAMES = tuple(_SOURCES)
