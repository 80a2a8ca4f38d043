"""Garbage collection: deletes objects without owners, and completes foreground and orphan deletes of owners.

Source: "Garbage collection" of the Kubernetes documentation. As in Kubernetes, it works behind the writes: an object is
examined a moment after it or its owners changed.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import orjson

from podless.cache.entry import Entry
from podless.controllers.controller import Controller
from podless.controllers.write import amend_object, drop_finalizer, own_version, set_or_drop
from podless.kinds.kind import Kind
from podless.meta.errors import Conflict
from podless.meta.objectmeta import FOREGROUND
from podless.offload.offloop import OffLoop
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each, each_part
from podless.store import StoreChange, keys
from podless.verbs.call import API, Call
from podless.verbs.delete import remove_object
from podless.verbs.options import DeleteOptions

ORPHAN = "orphan"
_SOLID, _WAITING, _DANGLING = "solid", "waiting", "dangling"
_SCAN = "scan"
_CHANGES = "changes"  # the key in the queue that stands for changes to be followed
_FOREIGN_SLASHES = 2  # slashes in a key that belongs to no resource
_SCAN_PAGE = 200  # objects per page of the scan
_POLL_DELAY = 0.02  # seconds between two checks whether requests wait for the store
_CACHED_ABSENT = 10_000  # cached uids of owners that do not exist
_INLINE_SECONDS = 0.001  # seconds of a commit in which its changes are followed; the rest is followed in slices
_SEARCHED_BYTES = 1 << 15  # bytes that are searched in a few microseconds
_REFERENCES, _DELETION = b'"ownerReferences":', b'"deletionTimestamp":'
_OWNER_STEPS = 4  # of a look for an owner, which takes 4 us
_INLINE_REFERENCES = 64  # owners and dependents of an object whose change is followed at once


class GraphOwner(NamedTuple):
    """One of an object's ownerReferences, without the version. blocks: the owner's foreground delete waits for it."""

    group: str
    kind: str
    name: str
    uid: str
    blocks: bool

    @classmethod
    def read_reference(cls, reference: dict[str, Any]) -> GraphOwner:
        """Parse an entry of metadata.ownerReferences."""
        group = str(reference.get("apiVersion") or "").rpartition("/")[0]
        kind, name, uid = (str(reference.get(field) or "") for field in ("kind", "name", "uid"))
        return cls(group, kind, name, uid, bool(reference.get("blockOwnerDeletion")))


class OwnerGraph:
    """Objects by their keys in the store, and owners as their references name them.

    Methods charge the meter for each reference. One that changes the graph must end before the next one starts.
    """

    def __init__(self) -> None:
        self._owners: dict[str, tuple[GraphOwner, ...]] = {}
        # by owner, the keys of its dependents with their references to it
        self._dependents: dict[tuple[str, str, str], dict[str, list[GraphOwner]]] = {}

    def put_owners(self, key: str, owners: Sequence[GraphOwner]) -> tuple[GraphOwner, ...]:
        """Set the owners of an object. Returns the former ones.

        The work can be suspended, so an owner's dependents change in one step: none of them is absent meanwhile.
        """
        named: dict[tuple[str, str, str], list[GraphOwner]] = {}
        for batch in each_part(owners):
            for owner in batch:
                named.setdefault(owner[:3], []).append(owner)
        former = self._owners.pop(key, ())
        if owners:
            self._owners[key] = tuple(owners)
        for name in each(named):
            self._dependents.setdefault(name, {})[key] = named[name]
        for batch in each_part(former):
            for owner in batch:
                dependents = self._dependents.get(owner[:3])
                if dependents is not None and owner[:3] not in named:
                    dependents.pop(key, None)
                    if not dependents:
                        del self._dependents[owner[:3]]
        return former

    def __contains__(self, key: str) -> bool:
        """Return whether an object has owners."""
        return key in self._owners

    def list_owners(self, key: str) -> tuple[GraphOwner, ...]:
        """Return the owners of an object."""
        return self._owners.get(key, ())

    def list_dependents(self, group: str, kind: str, name: str) -> list[tuple[str, GraphOwner]]:
        """Return the keys of objects that reference this owner, with their references; uids can differ."""
        dependents = list(self._dependents.get((group, kind, name), {}).items())
        return [(key, owner) for batch in each_part(dependents) for key, owners in batch for owner in owners]

    def count_dependents(self, group: str, kind: str, name: str) -> int:
        """Return the number of objects that reference this owner."""
        return len(self._dependents.get((group, kind, name), ()))


class _ObjectState(NamedTuple):
    """A state of an object. value: None if it was deleted. scanned: it was read by the scan, and may be old."""

    key: str
    value: bytes | None
    scanned: bool = False


class GarbageCollector(Controller):
    """Follows the store's changes. Keys are those of objects. delay: seconds between a change and its examination."""

    name = "garbage-collector-controller"

    def __init__(self, api: API, delay: float) -> None:
        super().__init__(api)
        self._delay = delay
        self._graph = OwnerGraph()
        # keys that changed since the scan began, because the scan returns older states
        self._scanning: set[str] | None = set()
        self._unfollowed: deque[_ObjectState] = deque()  # with the one that is being followed in slices
        self._following = asyncio.Lock()
        self._absent: OrderedDict[str, None] = OrderedDict()
        self._kinds: dict[tuple[str, str], Kind] = {}
        self._generation = -1

    async def begin(self) -> None:
        """Start; stored objects are read in the background."""
        self.leave.append(self.api.cache.add_change_handler(self._take_changes))
        self.run_once(_SCAN, self._scan_store)

    # changes

    def _take_changes(self, changes: Sequence[StoreChange]) -> None:
        """Follow the changes of a commit: at once if they are short, else behind the writes."""
        if self._scanning is not None:
            self._scanning.update([change.key for change in changes])
        if self._unfollowed:
            self._begin_to_follow(changes)
            return
        graph = self._graph
        for at, (key, _, record, _) in enumerate(changes):
            # few objects have or had owners, or wait for their dependents
            if record is None or (record[1].linked and _may_be_linked(record[1].data)) or key in graph:
                self._begin_to_follow(changes[at:])
                return

    def _begin_to_follow(self, changes: Sequence[StoreChange]) -> None:
        waiting, until = self._unfollowed, time.perf_counter() + _INLINE_SECONDS
        for change in changes:
            state = _ObjectState(change.key, change.record.stored.data if change.record is not None else None)
            if waiting or not self._is_short(state) or time.perf_counter() > until:
                waiting.append(state)
            else:
                self._follow_state(state)
        if waiting:
            self.queue.add(_CHANGES)

    def _is_short(self, state: _ObjectState) -> bool:
        if len(self._graph.list_owners(state.key)) > _INLINE_REFERENCES:
            return False
        if state.value is not None:
            return not OffLoop.is_long(len(state.value))
        kind = self._find_kind_of_key(state.key)
        return (
            kind is None
            or self._graph.count_dependents(kind.group, kind.kind, keys.name_of(state.key)) <= _INLINE_REFERENCES
        )

    async def _follow_changes(self) -> None:
        """Follow all changes that wait for it, in slices."""
        async with self._following:
            while self._unfollowed:
                await self.api.off_loop.slices.run(self._follow_state, self._unfollowed[0])
                self._unfollowed.popleft()

    def _follow_state(self, state: _ObjectState) -> None:
        if state.scanned and state.key in (self._scanning or ()):
            return  # a newer state has come
        if state.value is not None:
            self._handle_write(state.key, state.value)
        else:
            self._handle_delete(state.key)

    def _handle_write(self, key: str, value: bytes) -> None:
        before = self._graph.list_owners(key)
        if _REFERENCES in value:
            references = orjson.loads(value)["metadata"].get("ownerReferences") or []
            owners = [GraphOwner.read_reference(ref) for batch in each_part(references) for ref in batch]
            self._graph.put_owners(key, owners)
            self._queue_object(key)
        elif before:
            self._graph.put_owners(key, ())
        if before:
            blocking = {owner.uid for owner in each(self._graph.list_owners(key)) if owner.blocks}
            released = [owner for owner in each(before) if owner.blocks and owner.uid not in blocking]
            self._queue_waiting_owners(key, released)
        if _DELETION in value and (b'"orphan"' in value or b'"foregroundDeletion"' in value):
            self._queue_object(key)

    def _queue_waiting_owners(self, key: str, owners: Sequence[GraphOwner]) -> None:
        """Queue owners that may have waited for the object."""
        for owner in owners:
            charge(1)
            kind = self._find_kind(owner.group, owner.kind)
            if kind is not None:
                self._queue_object(kind.key(keys.namespace_of(key), owner.name))

    def _handle_delete(self, key: str) -> None:
        self._queue_waiting_owners(key, self._graph.put_owners(key, ()))
        namespace, kind = keys.namespace_of(key), self._find_kind_of_key(key)
        if kind is None:
            return
        for dependent, owner in self._graph.list_dependents(kind.group, kind.kind, keys.name_of(key)):
            charge(1)
            if not kind.namespaced or keys.namespace_of(dependent) == namespace:
                self._absent[owner.uid] = None
                self._queue_object(dependent)
        while len(self._absent) > _CACHED_ABSENT:
            self._absent.popitem(last=False)

    def _queue_object(self, key: str) -> None:
        """Queue an object, with a delay so that several changes need one examination."""
        self.queue.add(key, self._delay)

    async def _scan_store(self) -> None:
        """Read stored objects without caching them, because they may never be requested.

        The scan uses at most half of the time, and pauses while a resource is loaded for requests.
        """
        store, after = self.api.store, ""
        with store.hold_history():
            revision = await store.read_revision()
            while True:
                began = time.monotonic()
                records, after = await store.read_page(revision, after, _SCAN_PAGE)
                for record in records:
                    kind = self._find_kind_of_key(record.key)
                    if kind is not None and kind.strategy.deletion.collected:
                        self._unfollowed.append(_ObjectState(record.key, record.stored.data, scanned=True))
                await self._follow_changes()
                if not after:
                    break
                await asyncio.sleep(time.monotonic() - began)
                while self.api.cache.loading:  # noqa: ASYNC110
                    await asyncio.sleep(_POLL_DELAY)
        self._scanning = None

    async def reconcile(self, key: str) -> None:
        """Examine one object; retry if it changes meanwhile."""
        await self._follow_changes()
        kind = self._find_kind_of_key(key)
        if kind is None or not kind.strategy.deletion.collected:
            return
        entry = (await self.api.load_collection(kind)).get(key)
        if entry is not None:
            try:
                await self.api.off_loop.slices.slice_coroutine(self._examine_object(kind, entry))
            except Conflict:
                self._queue_object(key)  # it has changed meanwhile

    async def _examine_object(self, kind: Kind, entry: Entry) -> None:
        metadata = entry.decode()["metadata"]
        finalizers = metadata.get("finalizers") or ()
        dependents = self._graph.list_dependents(kind.group, kind.kind, entry.name)
        blocks_by_key = {key: owner.blocks for key, owner in dependents if owner.uid == metadata.get("uid", "")}
        if "deletionTimestamp" not in metadata:
            await self._collect_object(kind, entry, metadata, blocks_by_key)
        elif ORPHAN in finalizers:
            await asyncio.gather(*(self._remove_references(key, {metadata.get("uid", "")}) for key in blocks_by_key))
            await self._remove_finalizer(kind, entry, ORPHAN)
        elif FOREGROUND in finalizers:
            for key in blocks_by_key:  # dependents are deleted next, except those that wait for their own dependents
                if not await self._waits_for_dependents(key):
                    self.queue.add(key)
            if not any(blocks for key, blocks in blocks_by_key.items() if key != entry.key):
                await self._remove_finalizer(kind, entry, FOREGROUND)

    async def _collect_object(self, kind: Kind, entry: Entry, metadata: Object, dependents: Collection[str]) -> None:
        """Delete an object if no owner exists any more; otherwise remove references to missing owners.

        dependents: the keys of its dependents. If one of them waits for the object in turn, the object stops blocking
        its owners, as in Kubernetes: otherwise neither of them would be deleted.
        """
        references = metadata.get("ownerReferences") or []
        states: dict[str, str] = {}
        for reference in references:
            charge(_OWNER_STEPS)
            states[reference["uid"]] = await self._read_owner_state(kind, entry, GraphOwner.read_reference(reference))
        if not states or set(states.values()) == {_SOLID}:
            return
        if _SOLID in states.values():
            await self._remove_references(entry.key, {uid for uid, state in states.items() if state != _SOLID})
            return
        policy = ""
        if _WAITING in states.values() and dependents:
            policy = "Foreground"
            is_waiting = [key for key in dependents if await self._waits_for_dependents(key)]
            if is_waiting and any(map(_blocks_owner, references)):
                await amend_object(self.api, kind, entry.key, _unblock_owners)
                self.queue.add(entry.key)  # examine it again in its new state
                return
        call = Call(kind, own_version(kind, entry), entry.namespace, entry.name)
        await remove_object(self.api, call, DeleteOptions(False, policy, metadata.get("uid", ""), str(entry.revision)))

    async def _read_owner_state(self, kind: Kind, entry: Entry, owner: GraphOwner) -> str:
        """Return the state of an owner: solid, waiting for its dependents, or dangling (missing)."""
        if owner.uid in self._absent:
            return _DANGLING
        owning = self._find_kind(owner.group, owner.kind)
        if owning is None or (owning.namespaced and not kind.namespaced):
            return _SOLID  # an unknown kind, or an invalid reference: keep the object
        entry_of_owner = (await self.api.load_collection(owning)).get(owning.key(entry.namespace, owner.name))
        if entry_of_owner is None:
            return _DANGLING
        metadata = entry_of_owner.decode()["metadata"]
        if metadata.get("uid", "") != owner.uid:
            return _DANGLING
        return _WAITING if _is_deleted_in_foreground(metadata) else _SOLID

    async def _waits_for_dependents(self, key: str) -> bool:
        """Return whether the object is deleted in the foreground and waits for its dependents."""
        kind = self._find_kind_of_key(key)
        entry = (await self.api.load_collection(kind)).get(key) if kind is not None else None
        return entry is not None and _is_deleted_in_foreground(entry.decode()["metadata"])

    async def _remove_references(self, key: str, uids: set[str]) -> None:

        def drop_references(obj: Object) -> Object:
            metadata = obj["metadata"]
            remaining = [ref for ref in metadata.get("ownerReferences") or [] if ref["uid"] not in uids]
            set_or_drop(metadata, "ownerReferences", remaining)
            return obj

        kind = self._find_kind_of_key(key)
        if kind is not None:
            await amend_object(self.api, kind, key, drop_references)

    async def _remove_finalizer(self, kind: Kind, entry: Entry, finalizer: str) -> None:
        """Remove our finalizer, and the object if no other finalizer holds it."""

        def release_object(obj: Object) -> Object | None:
            drop_finalizer(obj, finalizer)
            is_kept = kind.strategy.awaits_finalizers(obj) or "deletionTimestamp" not in obj["metadata"]
            return obj if is_kept else None

        await amend_object(self.api, kind, entry.key, release_object)

    def _find_kind_of_key(self, key: str) -> Kind | None:
        """Return the kind of a stored object, None if it is not served or if the key is not that of an object."""
        return self.api.registry.get(*keys.resource_of(key)) if key.count("/") > _FOREIGN_SLASHES else None

    def _find_kind(self, group: str, name: str) -> Kind | None:
        """Return the kind that a reference names."""
        registry = self.api.registry
        if self._generation != registry.generation:
            self._kinds = {(kind.group, kind.kind): kind for kind in registry}
            self._generation = registry.generation
        return self._kinds.get((group, name))


def _may_be_linked(value: bytes) -> bool:
    """Return whether a value may have ownerReferences or a deletionTimestamp. Long values are not searched."""
    return len(value) > _SEARCHED_BYTES or value.find(_REFERENCES) >= 0 or value.find(_DELETION) >= 0


def _is_deleted_in_foreground(metadata: Object) -> bool:
    return "deletionTimestamp" in metadata and FOREGROUND in (metadata.get("finalizers") or ())


def _blocks_owner(reference: Object) -> bool:
    return bool(reference.get("blockOwnerDeletion"))


def _unblock_owners(obj: Object) -> Object:
    """Return the object with no reference that blocks its owner."""
    for reference in filter(_blocks_owner, obj["metadata"].get("ownerReferences") or ()):
        reference["blockOwnerDeletion"] = False
    return obj
