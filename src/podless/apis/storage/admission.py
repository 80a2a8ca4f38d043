"""Admission of claims and volumes: default class, protection while in use, and growth.

Source: the DefaultStorageClass, StorageObjectInUseProtection and PersistentVolumeClaimResize plugins of kube-apiserver.
"""

from __future__ import annotations

from typing import Any

from podless.admission.attributes import CREATE, UPDATE, AdmissionAttributes
from podless.admission.plugin import Plugin
from podless.codec import quantity
from podless.kinds.kind import Kind
from podless.meta.errors import Forbidden
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_CLAIMS, _VOLUMES, _CLASSES = "persistentvolumeclaims", "persistentvolumes", "storageclasses"
_GROUP = "storage.k8s.io"
# protected kinds: the finalizer by group and plural
_HOLDERS = {
    ("", _CLAIMS): "kubernetes.io/pvc-protection",
    ("", _VOLUMES): "kubernetes.io/pv-protection",
    (_GROUP, "volumeattributesclasses"): "kubernetes.io/vac-protection",
}
_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
_DEFAULT_NAME = b"is-default-class"  # only the classes with these bytes must be decoded
_UNBOUND = "Only bound persistent volume claims can be expanded"
_FIXED = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)


class DefaultStorageClass(Plugin):
    """Sets the default class of claims without one: of several, the newest."""

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return operation == CREATE and kind.plural == _CLAIMS and not kind.group and not subresource

    async def mutate(self, attr: AdmissionAttributes) -> None:
        assert attr.obj is not None
        spec, metadata = attr.obj["spec"], attr.obj.get("metadata") or {}
        classes = self._state.registry.get(_GROUP, _CLASSES)
        if spec.get("storageClassName") is not None or _OLD_CLASS in (metadata.get("annotations") or {}):
            return
        if classes is None:
            return
        entries = (await self._state.load_collection(classes)).entries_under(classes.prefix)[0]
        candidates = [entry.decode() for entry in each(entries) if _DEFAULT_NAME in entry.body]
        defaults = [storage_class for storage_class in candidates if _is_default(storage_class)]
        if defaults:
            newest = max(map(_get_creation_time, defaults))
            chosen = min(default["metadata"]["name"] for default in defaults if _get_creation_time(default) == newest)
            _insert_field(spec, "storageClassName", chosen, before=("volumeMode", "dataSource", "dataSourceRef"))


def _get_creation_time(obj: Object) -> str:
    """Return the creation time, "" if there is none: another program may have written the object to etcd."""
    return obj["metadata"].get("creationTimestamp") or ""


def _is_default(storage_class: Object) -> bool:
    annotations = storage_class["metadata"].get("annotations") or {}
    return any(annotations.get(name) == "true" for name in _DEFAULT)


def _insert_field(spec: Object, name: str, value: Any, before: tuple[str, ...]) -> None:
    """Set a field at its place in the struct's order."""
    later_fields = {key: spec.pop(key) for key in (*before, "volumeAttributesClassName") if key in spec}
    spec[name] = value
    spec |= later_fields


class StorageObjectInUseProtection(Plugin):
    """Sets the finalizers that protect claims, volumes and VolumeAttributesClasses while they are in use."""

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return operation == CREATE and (kind.group, kind.plural) in _HOLDERS and not subresource

    async def mutate(self, attr: AdmissionAttributes) -> None:
        assert attr.obj is not None
        metadata = attr.obj.setdefault("metadata", {})
        holder, finalizers = _HOLDERS[attr.kind.group, attr.kind.plural], metadata.get("finalizers") or []
        if holder not in finalizers:
            metadata["finalizers"] = [*finalizers, holder]


class PersistentVolumeClaimResize(Plugin):
    """Lets a claim grow only if it is bound and its class allows expansion."""

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return operation == UPDATE and kind.plural == _CLAIMS and not kind.group and not subresource

    async def validate(self, attr: AdmissionAttributes) -> None:
        assert attr.obj is not None
        assert attr.old is not None
        if _read_size(attr.obj) <= _read_size(attr.old):
            return
        if (attr.old.get("status") or {}).get("phase") != "Bound":
            raise Forbidden(_CLAIMS, "", attr.name, _UNBOUND)
        if not await self._allows_expansion(attr.obj):
            raise Forbidden(_CLAIMS, "", attr.name, _FIXED)

    async def _allows_expansion(self, claim: Object) -> bool:
        annotations = claim["metadata"].get("annotations") or {}
        name = annotations.get(_OLD_CLASS) or claim["spec"].get("storageClassName")
        classes = self._state.registry.get(_GROUP, _CLASSES)
        if not name or classes is None:
            return False
        entry = (await self._state.load_collection(classes)).get(classes.key("", name))
        return entry is not None and bool(entry.decode().get("allowVolumeExpansion"))


def _read_size(claim: Object) -> int:
    text = ((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage")
    return quantity.parse_nanos(text) if text is not None else 0
