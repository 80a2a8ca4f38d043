"""Where a persistent volume is: one source out of many. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from podless.kinds.builtin.storage import parts
from podless.kinds.strategy import Object
from podless.meta import field, names
from podless.meta.field import FieldError

_SEVERAL = "may not specify more than 1 volume type"
_HOST_TYPES = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
_SECRETS = (
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
)
_NEEDS_AFFINITY = "Local volume requires node affinity"
_CACHING, _DISKS = ("None", "ReadOnly", "ReadWrite"), ("Dedicated", "Managed", "Shared")
_IQN = ("eui.", "iqn.", "naa.")


def check(spec: Object, path: str, *, affinity: bool) -> Iterator[FieldError]:
    """A volume is in one place. affinity: whether the spec says on which nodes."""
    given = 0
    for name, (shown, inner, rule) in _SOURCES.items():
        source = spec.get(name)
        if source is None:
            continue
        if given and name != "flexVolume":
            yield field.forbidden(f"{path}.{shown}", _SEVERAL)
            continue
        given += 1
        yield from rule(source, f"{path}.{inner}")
        if name == "local" and not affinity:
            yield field.required(f"{path}.nodeAffinity", _NEEDS_AFFINITY)
    if not given:
        yield field.required(path, "must specify a volume type")


Rule = Callable[[Object, str], Iterator[FieldError]]


def _needs(*wanted: str) -> Rule:
    """Fields that have to be there."""

    def rule(source: Object, path: str) -> Iterator[FieldError]:
        return (field.required(f"{path}.{name}") for name in wanted if not source.get(name))

    return rule


def _host_path(source: Object, path: str) -> Iterator[FieldError]:
    yield from _path(source, path)
    if (kind := source.get("type")) is not None and kind not in _HOST_TYPES:
        yield field.not_supported(f"{path}.type", kind, _HOST_TYPES)


def _path(source: Object, path: str) -> Iterator[FieldError]:
    given = source.get("path") or ""
    if not given:
        yield field.required(f"{path}.path")
    elif ".." in given.split("/"):
        yield field.invalid(f"{path}.path", given, "must not contain '..'")


def _disk(needed: str) -> Rule:
    def rule(source: Object, path: str) -> Iterator[FieldError]:
        yield from _needs(needed)(source, path)
        partition = source.get("partition") or 0
        if not 0 <= partition <= 255:
            yield field.invalid(f"{path}.partition", partition, "must be between 0 and 255, inclusive")

    return rule


def _nfs(source: Object, path: str) -> Iterator[FieldError]:
    yield from _needs("server", "path")(source, path)
    if not (source.get("path") or "").startswith("/"):
        yield field.invalid(f"{path}.path", source.get("path") or "", "must be an absolute path")


def _glusterfs(source: Object, path: str) -> Iterator[FieldError]:
    yield from _needs("endpoints", "path")(source, path)
    if (space := source.get("endpointsNamespace")) is not None:
        where = f"{path}.endpointsNamespace"
        if not space:
            yield field.invalid(where, space, "if the endpointnamespace is set, it must be a valid namespace name")
        yield from (field.invalid(where, space, text) for text in (names.label(space) if space else ()))


def _flocker(source: Object, path: str) -> Iterator[FieldError]:
    name, uid = source.get("datasetName") or "", source.get("datasetUUID") or ""
    if not name and not uid:
        yield field.required(path, "one of datasetName and datasetUUID is required")
    if name and uid:
        yield field.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in name:
        yield field.invalid(f"{path}.datasetName", name, "must not contain '/'")


def _iscsi(source: Object, path: str) -> Iterator[FieldError]:
    yield from _needs("targetPortal", "iqn")(source, path)
    iqn, lun = source.get("iqn") or "", source.get("lun") or 0
    if iqn and not iqn.startswith(_IQN):
        yield field.invalid(f"{path}.iqn", iqn, "must be valid format starting with iqn, eui, or naa")
    if not 0 <= lun <= 255:
        yield field.invalid(f"{path}.lun", lun, "must be between 0 and 255, inclusive")
    for name in ("chapAuthDiscovery", "chapAuthSession"):
        if source.get(name) and source.get("secretRef") is None:
            yield field.required(f"{path}.secretRef")
            return


def _fibre(source: Object, path: str) -> Iterator[FieldError]:
    targets, ids, lun = source.get("targetWWNs"), source.get("wwids"), source.get("lun")
    if not targets and not ids:
        yield field.required(f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both")
    if targets and ids:
        text = "targetWWNs and wwids can not be specified simultaneously"
        yield field.invalid(f"{path}.targetWWNs", targets, text)
    if targets and lun is None:
        yield field.required(f"{path}.lun", "lun is required if targetWWNs is specified")
    elif targets and lun is not None and not 0 <= lun <= 255:
        yield field.invalid(f"{path}.lun", lun, "must be between 0 and 255, inclusive")


def _azure_disk(source: Object, path: str) -> Iterator[FieldError]:
    yield from _needs("diskName", "diskURI")(source, path)
    caching, kind = source.get("cachingMode"), source.get("kind")
    if caching is not None and caching not in _CACHING:
        yield field.not_supported(f"{path}.cachingMode", caching, _CACHING)
    if kind is not None and kind not in _DISKS:
        yield field.not_supported(f"{path}.kind", kind, _DISKS)


def _csi(source: Object, path: str) -> Iterator[FieldError]:
    yield from parts.driver_name(source.get("driver") or "", f"{path}.driver")
    yield from _needs("volumeHandle")(source, path)
    for name in _SECRETS:
        if (secret := source.get(name)) is not None:
            yield from _secret(secret, f"{path}.{name}")


def _secret(secret: Object, path: str) -> Iterator[FieldError]:
    for part, rule in (("name", names.subdomain), ("namespace", names.label)):
        given = secret.get(part) or ""
        if not given:
            yield field.required(f"{path}.{part}")
            continue
        yield from (field.invalid(f"{path}.{part}", given, text) for text in rule(given))


# source -> how errors of more than one, and those of its own, name it; in the order in which they are looked at
_SOURCES: dict[str, tuple[str, str, Rule]] = {
    "hostPath": ("hostPath", "hostPath", _host_path),
    "gcePersistentDisk": ("gcePersistentDisk", "persistentDisk", _disk("pdName")),
    "awsElasticBlockStore": ("awsElasticBlockStore", "awsElasticBlockStore", _disk("volumeID")),
    "glusterfs": ("glusterfs", "glusterfs", _glusterfs),
    "flocker": ("flocker", "flocker", _flocker),
    "nfs": ("nfs", "nfs", _nfs),
    "rbd": ("rbd", "rbd", _needs("monitors", "image")),
    "quobyte": ("quobyte", "quobyte", _needs("registry", "volume")),
    "cephfs": ("cephFS", "cephfs", _needs("monitors")),
    "iscsi": ("iscsi", "iscsi", _iscsi),
    "cinder": ("cinder", "cinder", _needs("volumeID")),
    "fc": ("fc", "fc", _fibre),
    "flexVolume": ("flexVolume", "flexVolume", _needs("driver")),
    "azureFile": ("azureFile", "azureFile", _needs("secretName", "shareName")),
    "vsphereVolume": ("vsphereVolume", "vsphereVolume", _needs("volumePath")),
    "photonPersistentDisk": ("photonPersistentDisk", "photonPersistentDisk", _needs("pdID")),
    "portworxVolume": ("portworxVolume", "portworxVolume", _needs("volumeID")),
    "azureDisk": ("azureDisk", "azureDisk", _azure_disk),
    "scaleIO": ("scaleIO", "scaleIO", _needs("gateway", "system", "volumeName")),
    "local": ("local", "local", _path),
    "storageos": ("storageos", "storageos", _needs("volumeName")),
    "csi": ("csi", "csi", _csi),
}
NAMES = tuple(_SOURCES)
