"""Binds PersistentVolumeClaims to empty volumes, and releases unused claims and volumes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from podless.apis.core.group import CLAIMS, PODS, VOLUMES
from podless.apis.storage.group import VOLUME_ATTRIBUTES_CLASSES as CLASSES
from podless.cache.events import CacheEvent
from podless.controllers.controller import Controller
from podless.controllers.standins import pods, requests
from podless.kinds.kind import Kind
from podless.meta.errors import AlreadyExists
from podless.runtime.jsonobject import Object

_FINALIZERS = {
    CLAIMS.plural: "kubernetes.io/pvc-protection",
    VOLUMES.plural: "kubernetes.io/pv-protection",
    CLASSES.plural: "kubernetes.io/vac-protection",
}
_MADE_BY = "pv.kubernetes.io/provisioned-by"


class VolumeController(Controller):
    """Creates a volume for each claim, or binds the one that the claim names.

    Keys are those of claims, volumes, and VolumeAttributesClasses.
    """

    name = "persistentvolume-binder-controller"

    async def begin(self) -> None:
        for kind in (CLAIMS, VOLUMES, CLASSES):
            await self.follow_kind(kind, self._note_events)
        await self.watch_kind(PODS, self._note_pods)

    def _note_events(self, events: Sequence[CacheEvent]) -> None:
        for event in events:
            self.queue.add(event.key)
            entry = event.after or event.before
            obj = entry.decode() if entry is not None else {}
            for state in (event.before, event.after):
                for name in _named_classes(state.decode()) if state is not None else ():
                    self.queue.add(CLASSES.key("", name))
            if event.key.startswith(CLAIMS.prefix) and (volume := (obj.get("spec") or {}).get("volumeName")):
                self.queue.add(VOLUMES.key("", volume))
            elif ref := (obj.get("spec") or {}).get("claimRef"):
                self.queue.add(_claim_key(ref))

    def _note_pods(self, events: Sequence[CacheEvent]) -> None:
        for event in events:
            if event.before is not None:
                pod = event.before.decode()
                for name in _used_claims(pod):
                    self.queue.add(CLAIMS.key(pod["metadata"]["namespace"], name))

    async def reconcile(self, key: str) -> None:
        steps = ((CLAIMS, self._bind_claim), (VOLUMES, self._update_volume), (CLASSES, self._release_deleted_class))
        for kind, step in steps:
            if key.startswith(kind.prefix) and (entry := self.api.collection(kind).get(key)) is not None:
                await step(entry.decode())

    async def _release_deleted_class(self, class_: Object) -> None:
        """Release a class that is being deleted, once no claim and no volume uses it."""
        if "deletionTimestamp" not in class_["metadata"]:
            return
        claims, volumes = (self.api.collection(kind).list_entries() for kind in (CLAIMS, VOLUMES))
        if not any(class_["metadata"]["name"] in _named_classes(entry.decode()) for entry in (*claims, *volumes)):
            await self._remove_protection(CLASSES, class_)

    async def _bind_claim(self, claim: Object) -> None:
        metadata, spec = claim["metadata"], claim["spec"]
        if "deletionTimestamp" in metadata:
            if not self._is_used(claim):
                await self._remove_protection(CLAIMS, claim)
            return
        if (claim.get("status") or {}).get("phase") == "Bound":
            return
        name = spec.get("volumeName") or f"pvc-{metadata['uid']}"
        if not spec.get("volumeName"):
            with suppress(AlreadyExists):  # left by an earlier attempt
                await requests.create_object(self.api, VOLUMES, _make_volume(claim, name))
            await requests.patch_object(self.api, CLAIMS, claim, {"spec": {"volumeName": name}})
        entry = self.api.collection(VOLUMES).get(VOLUMES.key("", name))
        if entry is None:
            return  # its creation queues the claim again, if it has a claimRef
        volume = entry.decode()["spec"]
        status = {"phase": "Bound", "accessModes": volume["accessModes"], "capacity": volume["capacity"]}
        await requests.report_status(self.api, CLAIMS, claim, status)

    def _is_used(self, claim: Object) -> bool:
        metadata = claim["metadata"]
        entries = self.api.collection(PODS).list_entries(metadata["namespace"])
        return any(
            metadata["name"] in _used_claims(pod) and not pods.is_ended(pod)
            for pod in (entry.decode() for entry in entries)
        )

    async def _update_volume(self, volume: Object) -> None:
        ref = volume["spec"].get("claimRef") or {}
        entry = self.api.collection(CLAIMS).get(_claim_key(ref))
        claim = entry.decode() if entry is not None else None
        is_bound = claim is not None and ref.get("uid") in (None, "", claim["metadata"]["uid"])
        if "deletionTimestamp" in volume["metadata"]:
            if not is_bound:
                await self._remove_protection(VOLUMES, volume)
            return
        phase = "Released" if ref.get("uid") and not is_bound else "Available"
        if is_bound and claim is not None and claim["spec"].get("volumeName") == volume["metadata"]["name"]:
            phase = "Bound"
        await requests.report_status(self.api, VOLUMES, volume, {"phase": phase})
        if phase == "Released" and (volume["metadata"].get("annotations") or {}).get(_MADE_BY) == "podless":
            await requests.delete_object(self.api, VOLUMES, volume)

    async def _remove_protection(self, kind: Kind, obj: Object) -> None:
        """Remove the finalizer that protects an object in use."""
        finalizers = obj["metadata"].get("finalizers") or []
        remaining = [finalizer for finalizer in finalizers if finalizer != _FINALIZERS[kind.plural]]
        if remaining != finalizers:
            await requests.patch_object(self.api, kind, obj, {"metadata": {"finalizers": remaining or None}})


def _named_classes(obj: Object) -> set[str]:
    """Return the VolumeAttributesClasses that a claim or volume names."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    target = (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName")
    names = (spec.get("volumeAttributesClassName"), status.get("currentVolumeAttributesClassName"), target)
    return {name for name in names if name}


def _claim_key(ref: Object) -> str:
    """Return the key of the claim in a volume's claimRef."""
    return CLAIMS.key(ref.get("namespace") or "", ref.get("name") or "")


def _used_claims(pod: Object) -> set[str]:
    volumes = pod["spec"].get("volumes") or ()
    return {volume["persistentVolumeClaim"]["claimName"] for volume in volumes if volume.get("persistentVolumeClaim")}


def _make_volume(claim: Object, name: str) -> Object:
    """Return a volume for a claim, with an unused path."""
    metadata, spec = claim["metadata"], claim["spec"]
    ref = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": metadata["namespace"]}
    volume_spec: Object = {
        "capacity": {"storage": spec["resources"]["requests"]["storage"]},
        "accessModes": spec["accessModes"],
        "claimRef": {**ref, "name": metadata["name"], "uid": metadata["uid"]},
        "persistentVolumeReclaimPolicy": "Delete",
        "hostPath": {"path": f"/tmp/{name}"},
    }
    for field in ("storageClassName", "volumeMode"):
        if spec.get(field):
            volume_spec[field] = spec[field]
    return {"metadata": {"name": name, "annotations": {_MADE_BY: "podless"}}, "spec": volume_spec}
