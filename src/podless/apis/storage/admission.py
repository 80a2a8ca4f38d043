"""Admission of claims and volumes: default class, protection while in use, and growth.

Source: the DefaultStorageClass, StorageObjectInUseProtection and PersistentVolumeClaimResize plugins of kube-apiserver.
"""

from __future__ import annotations

from podless.admission.attributes import CREATE, UPDATE, AdmissionAttributes
from podless.admission.configuration import find_default
from podless.admission.plugin import Plugin
from podless.admission.refusals import forbid_write
from podless.apis.core.group import CLAIMS
from podless.apis.storage.group import STORAGE_CLASSES
from podless.codec import quantity
from podless.kinds.kind import Kind
from podless.runtime.jsonobject import Object

# protected kinds: the finalizer by group and plural
_HOLDERS = {
    ("", CLAIMS.plural): "kubernetes.io/pvc-protection",
    ("", "persistentvolumes"): "kubernetes.io/pv-protection",
    ("storage.k8s.io", "volumeattributesclasses"): "kubernetes.io/vac-protection",
}
_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
_LATER = ("volumeMode", "dataSource", "dataSourceRef", "volumeAttributesClassName")  # after it in the struct
_UNBOUND = "Only bound persistent volume claims can be expanded"
_FIXED = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)


class DefaultStorageClass(Plugin):
    """Sets the default class of claims without one: of several, the newest."""

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return operation == CREATE and kind.is_same_as(CLAIMS) and not subresource

    async def mutate(self, attr: AdmissionAttributes) -> None:
        assert attr.obj is not None
        spec, metadata = attr.obj["spec"], attr.obj.get("metadata") or {}
        if spec.get("storageClassName") is not None or _OLD_CLASS in (metadata.get("annotations") or {}):
            return
        if (name := await find_default(self._state, STORAGE_CLASSES, *_DEFAULT)) is not None:
            later_fields = {key: spec.pop(key) for key in _LATER if key in spec}
            spec |= {"storageClassName": name, **later_fields}


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
        return operation == UPDATE and kind.is_same_as(CLAIMS) and not subresource

    async def validate(self, attr: AdmissionAttributes) -> None:
        assert attr.obj is not None
        assert attr.old is not None
        if _read_size(attr.obj) <= _read_size(attr.old):
            return
        if (attr.old.get("status") or {}).get("phase") != "Bound":
            raise forbid_write(attr, _UNBOUND)
        if not await self._allows_expansion(attr.obj):
            raise forbid_write(attr, _FIXED)

    async def _allows_expansion(self, claim: Object) -> bool:
        annotations = claim["metadata"].get("annotations") or {}
        name = annotations.get(_OLD_CLASS) or claim["spec"].get("storageClassName")
        if not name:
            return False
        entry = (await self._state.load_collection(STORAGE_CLASSES)).get(STORAGE_CLASSES.key("", name))
        return entry is not None and bool(entry.decode().get("allowVolumeExpansion"))


def _read_size(claim: Object) -> int:
    text = ((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage")
    return quantity.parse_nanos(text) if text is not None else 0
