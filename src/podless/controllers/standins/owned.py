"""The base class of stand-ins that create objects for owners, and hashes of pod templates."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence, Set
from typing import Any, ClassVar, NamedTuple

from podless.apis.apps.group import CONTROLLER_REVISIONS
from podless.apis.core.group import PODS
from podless.cache.events import CacheEvent
from podless.codec import serializer
from podless.controllers.controller import Controller
from podless.controllers.standins import pods, requests
from podless.kinds.kind import Kind
from podless.meta import selectors
from podless.meta.errors import APIError, Forbidden
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.store import keys
from podless.verbs.call import API

MAX_PODS = 10_000  # maximum pods in all namespaces that the stand-ins create
_RETRY_DELAY = 5.0  # seconds until a rejected create is retried
_HASH_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_HASH_LENGTH = 10


class CreationFailed(Exception):
    """An object could not be created. The text says why."""


class _OwnerKey(NamedTuple):
    """The owner of an object: uid and key."""

    uid: str
    key: str


class OwnerController(Controller):
    """Reconciles owners by the objects that were created for them. Keys are those of owners.

    owners: their kind. dependent_kind: the kind of the created objects. An owner adopts objects without a controller
    that its selector matches, and releases those that it no longer matches (pkg/controller/controller_ref_manager.go).
    """

    owners: ClassVar[Kind]
    dependent_kind: ClassVar[Kind]

    def __init__(self, api: API) -> None:
        super().__init__(api)
        self._owner_of: dict[str, _OwnerKey] = {}
        self._delayed: set[str] = set()  # keys that are queued for a later time
        self._creating = 0
        self._dependents: dict[str, dict[str, Object]] = {}  # created objects, by uid of the owner and key
        self._orphans: dict[str, dict[str, Object]] = {}  # objects without a controller, by namespace and key

    async def begin(self) -> None:
        await self.follow_kind(self.owners)
        self.leave.append(clock.CURRENT.get().add_listener(self._handle_advance))
        await self.follow_kind(self.dependent_kind, self._note_events)

    def _note_events(self, events: Sequence[CacheEvent]) -> None:
        for event in events:
            self._record_dependent(event.key, event.after.decode() if event.after is not None else None)

    def _record_dependent(self, key: str, obj: Object | None) -> None:
        """Record a created object, or its deletion."""
        before = self._owner_of.pop(key, None)
        if before is not None:
            remaining = self._dependents[before.uid]
            del remaining[key]
            if not remaining:
                del self._dependents[before.uid]
            self.queue.add(before.key)
        self._orphans.get(keys.namespace_of(key), {}).pop(key, None)
        owner = self._find_owner(obj) if obj is not None else None
        if obj is not None and owner is not None:
            self._owner_of[key] = owner
            self._dependents.setdefault(owner.uid, {})[key] = obj
            self.queue.add(owner.key)
        elif obj is not None and not _is_controlled(obj):
            self._record_orphan(key, obj)

    def _record_orphan(self, key: str, obj: Object) -> None:
        """Record an object without a controller, and queue the owners that may adopt it."""
        namespace = keys.namespace_of(key)
        self._orphans.setdefault(namespace, {})[key] = obj
        for entry in self.api.collection(self.owners).list_entries(namespace):
            if _compile_selector(entry.decode())(obj):
                self.queue.add(entry.key)

    def _find_owner(self, obj: Object) -> _OwnerKey | None:
        metadata, owners = obj["metadata"], self.owners
        for ref in metadata.get("ownerReferences") or ():
            group = ref["apiVersion"].rpartition("/")[0]
            if ref.get("controller") and ref["kind"] == owners.kind and group == owners.group:
                return _OwnerKey(ref["uid"], owners.key(metadata["namespace"], ref["name"]))
        return None

    def requeue_after(self, key: str, seconds: float) -> None:
        """Reconcile an owner again after some seconds of the server's clock."""
        self._delayed.add(key)
        self.queue.add(key, seconds)

    def _handle_advance(self, seconds: float) -> None:
        """Reconcile all owners that wait for a time, because the clock was advanced."""
        for key in self._delayed:
            self.queue.add(key)

    async def reconcile(self, key: str) -> None:
        self._delayed.discard(key)
        entry = self.api.collection(self.owners).get(key)
        if entry is None or entry.terminating:
            return
        obj = entry.decode()
        try:
            await self.reconcile_owner(key, obj, await self._claim_objects(obj))
        except CreationFailed:
            self.queue.add(key, _RETRY_DELAY)

    async def _claim_objects(self, owner: Object) -> list[Object]:
        """Release and adopt objects. Returns those that the owner has then."""
        uid, selects, claimed = owner["metadata"]["uid"], _compile_selector(owner), []
        for obj in list(self._dependents.get(uid, {}).values()):
            if selects(obj):
                claimed.append(obj)
            else:
                await self._set_owners(obj, [ref for ref in obj["metadata"]["ownerReferences"] if ref["uid"] != uid])
        for obj in list(self._orphans.get(owner["metadata"]["namespace"], {}).values()):
            if selects(obj) and self.may_adopt(owner, obj):
                refs = [*(obj["metadata"].get("ownerReferences") or ()), self.make_reference(owner)]
                await self._set_owners(obj, refs)
                claimed.append({**obj, "metadata": {**obj["metadata"], "ownerReferences": refs}})
        return claimed

    async def _set_owners(self, obj: Object, refs: list[Object]) -> None:
        """Change the ownerReferences of an object, unless it has changed."""
        head = {"resourceVersion": obj["metadata"]["resourceVersion"], "ownerReferences": refs or None}
        await requests.patch_object(self.api, self.dependent_kind, obj, {"metadata": head})

    def may_adopt(self, owner: Object, obj: Object) -> bool:
        """Return whether an object without a controller, which the selector matches, can be adopted."""
        return pods.is_active(obj)

    def make_reference(self, owner: Object) -> Object:
        """Return the reference to an owner as a controller."""
        metadata, kind = owner["metadata"], self.owners
        ref = {"apiVersion": kind.api_version(kind.storage_version), "kind": kind.kind}
        return ref | {"name": metadata["name"], "uid": metadata["uid"], "controller": True, "blockOwnerDeletion": True}

    async def reconcile_owner(self, key: str, obj: Object, dependents: list[Object]) -> None:
        """Reconcile the objects that were created for an owner."""
        raise NotImplementedError

    async def create_owned(self, owner: Object, obj: Object) -> None:
        """Create an object for an owner. Raises StoreError, and CreationFailed after recording an event."""
        metadata = owner["metadata"]
        head = {"namespace": metadata["namespace"], **obj["metadata"], "ownerReferences": [self.make_reference(owner)]}
        try:
            if self.dependent_kind is PODS and len(self.api.collection(PODS)) + self._creating >= MAX_PODS:
                raise Forbidden(PODS.plural, "", "", f"the stand-ins for controllers make at most {MAX_PODS} pods")
            self._creating += 1
            try:
                created = await requests.create_object(self.api, self.dependent_kind, {**obj, "metadata": head})
            finally:
                self._creating -= 1
        except APIError as error:
            await self.record_event(owner, "FailedCreate", f"Error creating: {error.message}", warning=True)
            raise CreationFailed(error.message) from None
        self._record_dependent(self.dependent_kind.key(metadata["namespace"], created["metadata"]["name"]), created)

    async def delete_owned(self, obj: Object) -> None:
        """Delete an object."""
        await requests.delete_object(self.api, self.dependent_kind, obj)

    async def record_event(self, owner: Object, reason: str, message: str, *, warning: bool = False) -> None:
        """Record an event about an owner, as `requests.record_event` does."""
        await requests.record_event(self.api, self.owners, owner, reason, message, self.name, warning=warning)

    def count_pods(self, key: str, owner: Object, of_owner: list[Object]) -> tuple[int, int]:
        """Return the numbers of ready and of available pods. Reconciles the owner when another one is available."""
        ready, available, delay = pods.count_ready(of_owner, owner["spec"].get("minReadySeconds") or 0)
        if delay:
            self.requeue_after(key, delay)
        return ready, available

    async def record_revision(self, owner: Object, name: str, label: Object, used: Set[str]) -> None:
        """Make the present template of an owner its newest ControllerRevision, and delete the oldest unused ones.

        `kubectl rollout history` and `rollout undo` read them. name: of the revision, the same for equal templates.
        label: with the hash of the template. used: revisions that pods have. Source: pkg/controller/history of
        Kubernetes.
        """
        ref = self.make_reference(owner)
        metadata, template = owner["metadata"], owner["spec"]["template"]
        collection = await self.api.load_collection(CONTROLLER_REVISIONS)
        entries = collection.list_entries(metadata["namespace"])
        revisions = [entry.decode() for entry in entries if entry.name == name or ref["uid"].encode() in entry.body]
        own_revisions = [item for item in revisions if _is_owned(item, ref)]
        own_revisions.sort(key=lambda item: int(item["revision"]))
        newest = own_revisions[-1]["revision"] if own_revisions else 0
        current = next((item for item in revisions if item["metadata"]["name"] == name), None)
        if current is None:
            labels = {**((template.get("metadata") or {}).get("labels") or {}), **label}
            head = {"name": name, "namespace": metadata["namespace"], "labels": labels, "ownerReferences": [ref]}
            if metadata.get("annotations"):
                head["annotations"] = metadata["annotations"]
            data = {"spec": {"template": {**template, "$patch": "replace"}}}
            revision = {"metadata": head, "data": data, "revision": newest + 1}
            await requests.create_object(self.api, CONTROLLER_REVISIONS, revision)
        elif not _is_owned(current, ref):  # left by an owner with the same name
            changes = {"metadata": {"ownerReferences": [ref]}, "revision": newest + 1}
            await requests.patch_object(self.api, CONTROLLER_REVISIONS, current, changes)
        elif current["revision"] < newest:
            await requests.patch_object(self.api, CONTROLLER_REVISIONS, current, {"revision": newest + 1})
        old = [item for item in own_revisions if item is not current and item["metadata"]["name"] not in used]
        for item in old[: max(0, len(old) - owner["spec"]["revisionHistoryLimit"])]:
            await requests.delete_object(self.api, CONTROLLER_REVISIONS, item)


def _compile_selector(owner: Object) -> Callable[[Object], bool]:
    """Return a function that checks whether an owner's selector matches an object."""
    matches = selectors.from_object(owner["spec"].get("selector")).matches
    return lambda obj: matches(obj["metadata"].get("labels") or {})


def _is_controlled(obj: Object) -> bool:
    return any(ref.get("controller") for ref in obj["metadata"].get("ownerReferences") or ())


def _is_owned(revision: Object, ref: Object) -> bool:
    return any(reference["uid"] == ref["uid"] for reference in revision["metadata"].get("ownerReferences") or ())


def make_pod(template: Object, labels: Object, annotations: Object | None = None, **metadata: str) -> Object:
    """Return a pod for a template, with more labels, annotations and other metadata."""
    common = template.get("metadata") or {}
    maps = {"labels": labels, "annotations": annotations or {}}
    maps = {name: {**(common.get(name) or {}), **added} for name, added in maps.items()}
    return {
        "metadata": {**{name: items for name, items in maps.items() if items}, **metadata},
        "spec": dict(template["spec"]),
    }


def hash_template(template: dict[str, Any]) -> str:
    """Return a hash, equal for equal templates, of digits and consonants, so that it contains no words."""
    number = int.from_bytes(hashlib.sha256(serializer.encode_sorted(template)).digest()[:8])
    result = ""
    for _ in range(_HASH_LENGTH):
        number, letter = divmod(number, len(_HASH_LETTERS))
        result += _HASH_LETTERS[letter]
    return result
