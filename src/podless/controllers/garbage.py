"""Owner garbage: what no owner is left of goes, and owners wait for, or let go of, what depends on them.

Source: the documented garbage collection of Kubernetes. As there it works behind the writes: an object is looked at a
moment after something about it or its owners changed.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from podless.cache.entry import Entry
from podless.controllers.graph import Graph, Owner
from podless.controllers.write import amend, own_version
from podless.kinds.kind import Kind
from podless.meta.errors import APIError, Conflict
from podless.store import Change, StoreError, keys
from podless.verbs.call import API, Call
from podless.verbs.delete import remove
from podless.verbs.options import DeleteOptions

Object = dict[str, Any]

log = logging.getLogger("podless")

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
_SOLID, _WAITING, _DANGLING = "solid", "waiting", "dangling"
_TOGETHER = 256  # objects that are looked at at once; their writes share commits
_REMEMBERED = 10_000  # uids of owners that are known to be gone


class Garbage:
    """Follows the store's changes. delay: seconds between a change and the look at what it touches."""

    def __init__(self, api: API, delay: float) -> None:
        self._api = api
        self._delay = delay
        self._graph = Graph()
        self._due: OrderedDict[str, float] = OrderedDict()
        self._wake = asyncio.Event()
        self._scanning: set[str] | None = set()  # what changed since the scan began: the scan knows older states
        self._absent: OrderedDict[str, None] = OrderedDict()
        self._kinds: dict[tuple[str, str], Kind] = {}
        self._generation = -1
        self._task: asyncio.Task[None] | None = None
        self._leave: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """Begin to follow; what is stored already is read in the background."""
        self._leave = self._api.cache.add_change_handler(self._take)
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """End; what is left is found again at the next start."""
        self._leave()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    # what changes

    def _take(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if self._scanning is not None:
                self._scanning.add(change.key)
            if change.record is not None:
                self._written(change.key, change.record.stored.data)
            else:
                self._deleted(change.key)

    def _written(self, key: str, value: bytes) -> None:
        if b'"ownerReferences":' in value:
            references = orjson.loads(value)["metadata"].get("ownerReferences") or []
            self._graph.put(key, map(Owner.read, references))
            self._look(key)
        elif self._graph.owners(key):
            self._graph.drop(key)
        if b'"deletionTimestamp":' in value and (b'"orphan"' in value or b'"foregroundDeletion"' in value):
            self._look(key)

    def _deleted(self, key: str) -> None:
        namespace, gone = keys.namespace(key), self._kind_of(key)
        for owner in self._graph.drop(key):
            kind = self._kind(owner.group, owner.kind)
            if kind is not None:
                self._look(kind.key(namespace, owner.name))
        if gone is None:
            return
        for dependent, owner in self._graph.dependents(gone.group, gone.kind, keys.name(key)):
            if not gone.namespaced or keys.namespace(dependent) == namespace:
                self._absent[owner.uid] = None
                self._look(dependent)
        while len(self._absent) > _REMEMBERED:
            self._absent.popitem(last=False)

    def _look(self, key: str) -> None:
        """Have the object looked at, once for all that happens to it in the meantime."""
        if key not in self._due:
            self._due[key] = asyncio.get_running_loop().time() + self._delay
            self._wake.set()

    # the loop

    async def _run(self) -> None:
        await self._scan()
        loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._due:
                wait = next(iter(self._due.values())) - loop.time()
                if wait > 0:
                    await asyncio.sleep(wait)
                now = loop.time()
                batch = [key for key, due in list(self._due.items())[:_TOGETHER] if due <= now]
                for key in batch:
                    del self._due[key]
                await asyncio.gather(*map(self._examine, batch))

    async def _scan(self) -> None:
        for kind in self._api.registry:
            if kind.home is not None or not kind.strategy.collected:
                continue
            collection = self._api.collection(kind)
            if collection.loaded:
                found = [(entry.key, entry.body) for entry in collection.under(kind.prefix)[0]]
            else:  # read, but not kept: nobody may ever ask for it
                found = [(record.key, record.stored.data) for record in (await self._api.store.range(kind.prefix))[0]]
            for key, value in found:
                if self._scanning is not None and key not in self._scanning:
                    self._written(key, value)
            await asyncio.sleep(0)
        self._scanning = None

    async def _examine(self, key: str) -> None:
        kind = self._kind_of(key)
        if kind is None or not kind.strategy.collected:
            return
        try:
            entry = (await self._api.loaded(kind)).get(key)
            if entry is not None:
                await self._decide(kind, entry)
        except Conflict:
            self._look(key)  # it is in another state by now
        except (APIError, StoreError) as error:
            log.warning("garbage collection leaves %s alone: %s", key, error)

    async def _decide(self, kind: Kind, entry: Entry) -> None:
        metadata = entry.decode()["metadata"]
        finalizers = metadata.get("finalizers") or ()
        dependents = self._graph.dependents(kind.group, kind.kind, entry.name)
        mine = {key: owner.blocks for key, owner in dependents if owner.uid == metadata["uid"]}
        if "deletionTimestamp" not in metadata:
            await self._collect(kind, entry, metadata, bool(mine))
        elif ORPHAN in finalizers:
            await asyncio.gather(*(self._let_go(key, {metadata["uid"]}) for key in mine))
            await self._release(kind, entry, ORPHAN)
        elif FOREGROUND in finalizers:
            if any(mine.values()):
                for key in mine:  # they have waited long enough: they are next
                    self._due[key] = 0
                    self._due.move_to_end(key, last=False)
            else:
                await self._release(kind, entry, FOREGROUND)

    async def _collect(self, kind: Kind, entry: Entry, metadata: Object, has_dependents: bool) -> None:
        """An object that has owners, but none that stays, is deleted; one that has another loses the reference."""
        references = metadata.get("ownerReferences") or []
        states = {ref["uid"]: await self._state(kind, entry, Owner.read(ref)) for ref in references}
        if not states or set(states.values()) == {_SOLID}:
            return
        if _SOLID in states.values():
            await self._let_go(entry.key, {uid for uid, state in states.items() if state != _SOLID})
            return
        policy = "Foreground" if has_dependents and _WAITING in states.values() else ""
        call = Call(kind, own_version(kind, entry), entry.namespace, entry.name)
        await remove(self._api, call, DeleteOptions(False, policy, metadata["uid"], str(entry.revision)))

    async def _state(self, kind: Kind, entry: Entry, owner: Owner) -> str:
        """Whether the owner stays, waits for its dependents to go first, or is not there."""
        if owner.uid in self._absent:
            return _DANGLING
        owning = self._kind(owner.group, owner.kind)
        if owning is None or (owning.namespaced and not kind.namespaced):
            return _SOLID  # nobody can tell, or nobody should have said so: it is left alone
        found = (await self._api.loaded(owning)).get(owning.key(entry.namespace, owner.name))
        if found is None:
            return _DANGLING
        metadata = found.decode()["metadata"]
        if metadata["uid"] != owner.uid:
            return _DANGLING
        waits = "deletionTimestamp" in metadata and FOREGROUND in (metadata.get("finalizers") or ())
        return _WAITING if waits else _SOLID

    # what is done

    async def _let_go(self, key: str, uids: set[str]) -> None:
        """Take the references to these owners away."""

        def change(obj: Object) -> Object:
            metadata = obj["metadata"]
            kept = [ref for ref in metadata.get("ownerReferences") or [] if ref["uid"] not in uids]
            if kept:
                metadata["ownerReferences"] = kept
            else:
                metadata.pop("ownerReferences", None)
            return obj

        kind = self._kind_of(key)
        if kind is not None:
            await amend(self._api, kind, key, change)

    async def _release(self, kind: Kind, entry: Entry, finalizer: str) -> None:
        """Take our finalizer away, and the object too where nobody else holds it."""

        def change(obj: Object) -> Object | None:
            metadata = obj["metadata"]
            kept = [name for name in metadata.get("finalizers") or [] if name != finalizer]
            if kept:
                metadata["finalizers"] = kept
            else:
                metadata.pop("finalizers", None)
            return obj if kind.strategy.waits(obj) or "deletionTimestamp" not in metadata else None

        await amend(self._api, kind, entry.key, change)

    # keys and kinds

    def _kind_of(self, key: str) -> Kind | None:
        return self._api.registry.get(*keys.resource(key))

    def _kind(self, group: str, name: str) -> Kind | None:
        """The kind that a reference names."""
        registry = self._api.registry
        if self._generation != registry.generation:
            self._kinds = {(kind.group, kind.kind): kind for kind in registry}
            self._generation = registry.generation
        return self._kinds.get((group, name))
