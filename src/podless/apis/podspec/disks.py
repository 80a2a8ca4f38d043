"""Validates disk and cloud volumes of pods and persistent volumes.

Source: Kubernetes' pkg/apis/core/validation.
"""

from __future__ import annotations

import re

from podless.apis.shared import checks
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_MAX_PORTAL = 64
_PORTAL = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is "
    "specified."
)
_FORMS = {
    "iqn": re.compile(r"iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]++:[^,;*&$|\s]++"),
    "eui": re.compile(r"eui.[A-Za-z0-9]{16}"),
    "naa": re.compile(r"naa.[A-Za-z0-9]{32}"),
}
_FORM = "must be valid format"
_START = "must be valid format starting with iqn, eui, or naa"
_PAIRS = "must be a host:port pair or multiple pairs separated by commas"
_CACHING = ("None", "ReadOnly", "ReadWrite")
_AZURE = ("Dedicated", "Managed", "Shared")
_MANAGED = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_BLOB = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_RESERVED = (".kubernetes.io", ".k8s.io")
_MAX_DRIVER = 63
_MAX_LUN = 255


def validate_partitioned(source: Object, path: str, key: str) -> field.Errors:
    """Validate a disk with its ID in the field `key` and an optional partition."""
    yield from checks.require_fields(source, path, key)
    yield from checks.validate_range(f"{path}.partition", source.get("partition") or None, 1, 255)  # 0 means none


def validate_nfs(source: Object, path: str) -> field.Errors:
    """Validate an NFS volume."""
    yield from checks.require_fields(source, path, "server", "path")
    export = source.get("path", "")
    if not export.startswith("/"):
        yield field.invalid(f"{path}.path", export, "must be an absolute path")


def validate_iscsi(source: Object, path: str) -> field.Errors:
    """Validate an iSCSI volume of a pod."""
    yield from checks.require_fields(source, path, "targetPortal")
    yield from _validate_target(source, path, _START)
    yield from _validate_initiator(source, path, _START)


def validate_persistent_iscsi(source: Object, path: str, volume: str) -> field.Errors:
    """Validate the iSCSI source of a persistent volume. volume: its name."""
    yield from checks.require_fields(source, path, "targetPortal")
    if _too_long(source, volume):
        yield field.invalid(f"{path}.targetportal", source.get("targetPortal", ""), _PORTAL)
    yield from _validate_target(source, path, _FORM)
    yield from validate_secret_ref(source, path)
    yield from _validate_initiator(source, path, _FORM)


def _validate_target(source: Object, path: str, unknown: str) -> field.Errors:
    """Validate the iSCSI target. unknown: the error for a name with an unknown prefix."""
    yield from checks.require_fields(source, path, "iqn")
    if source.get("iqn"):
        yield from _validate_qualified_name(source["iqn"], f"{path}.iqn", unknown)
    yield from checks.validate_range(f"{path}.lun", source.get("lun"), 0, _MAX_LUN)
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and source.get("secretRef") is None:
        yield field.required(f"{path}.secretRef")


def _validate_initiator(source: Object, path: str, unknown: str) -> field.Errors:
    if (name := source.get("initiatorName")) is not None:
        yield from _validate_qualified_name(name, f"{path}.initiatorname", unknown)


def _too_long(source: Object, volume: str) -> bool:
    length = len(f"{volume}:{source.get('targetPortal', '')}".encode())
    return source.get("initiatorName") is not None and length > _MAX_PORTAL


def validate_portal(volume: Object, source: Object, path: str) -> field.Errors:
    """Reject a volume name that is too long together with its iSCSI portal."""
    name = volume.get("name", "")
    if _too_long(source, name):
        yield field.invalid(f"{path}.name", name, _PORTAL)


def _validate_qualified_name(name: str, path: str, unknown: str) -> field.Errors:
    form = _FORMS.get(name[:3])
    if form is None:
        yield field.invalid(path, name, unknown)
    elif not form.fullmatch(name):
        yield field.invalid(path, name, _FORM)


def validate_flocker(source: Object, path: str) -> field.Errors:
    """Validate a Flocker volume."""
    name, uuid = source.get("datasetName", ""), source.get("datasetUUID", "")
    if not name and not uuid:
        yield field.required(path, "one of datasetName and datasetUUID is required")
    if name and uuid:
        yield field.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in name:
        yield field.invalid(f"{path}.datasetName", name, "must not contain '/'")


def validate_cinder(source: Object, path: str) -> field.Errors:
    """Validate a Cinder volume."""
    yield from checks.require_fields(source, path, "volumeID")
    yield from validate_secret_ref(source, path)


def validate_secret_ref(source: Object, path: str, *fields: str) -> field.Errors:
    """Require the name and the listed fields of secretRef, if it is set."""
    if (ref := source.get("secretRef")) is not None:
        yield from checks.require_fields(ref, f"{path}.secretRef", "name", *fields)


def validate_quobyte(source: Object, path: str) -> field.Errors:
    """Validate a Quobyte volume."""
    registry = source.get("registry", "")
    if not registry:
        yield field.required(f"{path}.registry", _PAIRS)
    elif len(source.get("tenant", "").encode()) > 64:
        yield field.required(f"{path}.tenant", "must be a UUID and may not exceed a length of 64 characters")
    else:
        wrong = sum(not _is_pair(pair) for pair in each(registry.split(",")))
        yield from [field.invalid(f"{path}.registry", registry, _PAIRS)] * min(wrong, 100)
    yield from checks.require_fields(source, path, "volume")


def _is_pair(pair: str) -> bool:
    """Return whether a text is host and port, as Go splits them."""
    host, colon, port = pair.rpartition(":")
    if host.startswith("["):
        return host.endswith("]") and "[" not in host[1:] and "]" not in host[:-1] and "[" not in port
    return bool(colon) and not any(char in host for char in ":[]") and not any(char in port for char in "[]")


def validate_fibre_channel(source: Object, path: str) -> field.Errors:
    """Validate a Fibre Channel volume."""
    targets, wwids = source.get("targetWWNs") or [], source.get("wwids") or []
    targets_path = f"{path}.targetWWNs"
    if not targets and not wwids:
        yield field.required(targets_path, "must specify either targetWWNs or wwids, but not both")
    if targets and wwids:
        yield field.invalid(targets_path, targets, "targetWWNs and wwids can not be specified simultaneously")
    if targets:
        if source.get("lun") is None:
            yield field.required(f"{path}.lun", "lun is required if targetWWNs is specified")
        else:
            yield from checks.validate_range(f"{path}.lun", source["lun"], 0, _MAX_LUN)


def validate_flex(source: Object, path: str) -> field.Errors:
    """Validate a FlexVolume. Its options must not use Kubernetes' domains."""
    yield from checks.require_fields(source, path, "driver")
    for name in each(source.get("options") or ()):
        if f".{name.partition('/')[0].lower()}".endswith(_RESERVED):
            yield field.invalid(f"{path}.options[{name}]", name, "kubernetes.io and k8s.io namespaces are reserved")


def validate_azure(source: Object, path: str) -> field.Errors:
    """Validate an Azure disk."""
    yield from checks.require_fields(source, path, "diskName", "diskURI")
    kind, uri, caching = source.get("kind"), source.get("diskURI", ""), source.get("cachingMode")
    yield from field.one_of(f"{path}.cachingMode", caching, _CACHING)
    if kind is None:
        return
    yield from field.one_of(f"{path}.kind", kind, _AZURE)
    start, form = ("/subscriptions/", _MANAGED) if kind == "Managed" else ("https://", _BLOB)
    if not uri.startswith(start):
        yield field.not_supported(f"{path}.diskURI", uri, (form,), named=False)


def validate_storage_os(source: Object, path: str) -> field.Errors:
    """Validate a StorageOS volume."""
    yield from checks.validate_name(f"{path}.volumeName", source.get("volumeName", ""))
    yield from checks.validate_string(source, path, "volumeNamespace", names.check_label_name)
    yield from validate_secret_ref(source, path)


def validate_driver_name(name: str, path: str) -> field.Errors:
    """Validate the name of a CSI driver."""
    if not name:
        yield field.required(path)
        if has("MissingDriversOnce"):
            return
    if len(name.encode()) > _MAX_DRIVER:
        yield field.too_long(path, _MAX_DRIVER)
    yield from field.invalid_details(path, name, names.check_subdomain(name.lower()))
