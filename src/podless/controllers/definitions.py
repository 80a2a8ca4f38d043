"""CustomResourceDefinitions come into force and go.

`reconcile` runs after every write to a definition and before its answer, so that names are accepted, the kind is served
and the status says so for the very next request. Taking a definition down may last; it goes on in the background.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from podless.admission import Along
from podless.cache.entry import Entry
from podless.cache.watchcache import Event, WatchCache
from podless.controllers.write import amend, empty, report
from podless.kinds import definition as rules
from podless.kinds.compile import compile_kind, condition
from podless.kinds.kind import Kind, same
from podless.kinds.thirdparty.compile import ThirdPartyStrategy
from podless.meta import clock
from podless.store import Keys, Operation, Stored, keys
from podless.verbs.call import API

Object = dict[str, Any]

_SELF = "kube-apiserver"  # whom a real server names as the manager of a definition's status
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
_IN_PROGRESS = ("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")
_COMPLETED = ("False", "InstanceDeletionCompleted", "removed all instances")
_INSTALLING = ("False", "Installing", "the initial names have been accepted")
_ESTABLISHED = ("True", "InitialNamesAccepted", "the initial names have been accepted")
_BAD_BUNDLE = ("False", "InvalidCABundle", "The conversion webhook CABundle is invalid")
_NOT_ACCEPTED = ("False", "NotAccepted", "not all names are accepted")
_NAMES = Keys(f"{keys.OWN}names/", namespaced=False)


class Definitions:
    """Keeps the registry in step with the stored definitions.

    inherit: takes over, for a kind that is about to be served, what an older generation of definitions has of it; its
    answer is the revision from which on that may be watched, 0 where there is nothing.
    """

    def __init__(self, api: API, kind: Kind, inherit: Callable[[Kind], Awaitable[int]]) -> None:
        self._api = api
        self._inherit = inherit
        self._inherited: dict[str, int] = {}
        self._kind = kind
        self._collection: WatchCache = api.collection(kind)
        self._dirty: dict[str, None] = {}
        self._groups: dict[str, dict[str, Object | None]] = {}  # by group and key, the names given, once they are read
        self._names = api.cache.collection(_NAMES)
        self._lock = asyncio.Lock()
        self._teardowns: dict[str, asyncio.Task[None]] = {}

    async def start(self) -> None:
        """Serve what is stored."""
        await self._collection.load()
        await self._names.load()
        self._collection.add_event_handler(self._note)
        self._api.reactions[self._kind.prefix] = self.reconcile
        for entry in self._collection.under(self._kind.prefix)[0]:
            self._dirty[entry.key] = self._group(entry.key)[entry.key] = None
        await self.reconcile()

    async def stop(self) -> None:
        """End the work in the background; what is left is done at the next start."""
        tasks = list(self._teardowns.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _note(self, events: Sequence[Event]) -> None:
        for event in events:
            self._dirty[event.key] = None
            if event.after is None:
                self._group(event.key).pop(event.key, None)
            else:
                self._group(event.key)[event.key] = None

    def _group(self, key: str) -> dict[str, Object | None]:
        """The definitions of the group that a key's definition is of."""
        return self._groups.setdefault(_group_of(key), {})

    async def reconcile(self, made: Object | None = None) -> None:
        """Bring every changed definition into force. made: one that is new, decoded."""
        async with self._lock:
            while self._dirty:
                key = next(iter(self._dirty))
                del self._dirty[key]
                entry = self._collection.get(key)
                if entry is None:
                    self._forget(key)
                else:
                    fits = made is not None and made["metadata"]["resourceVersion"] == str(entry.revision)
                    await self._take(key, entry, made if made is not None and fits else entry.decode())

    def _forget(self, key: str) -> None:
        """The definition is gone: so are its endpoint and, for others of the group, its names."""
        self._inherited.pop(key, None)
        plural, _, group = keys.name(key).partition(".")
        kind = self._api.registry.get(group, plural)
        if kind is None or not isinstance(kind.strategy, ThirdPartyStrategy):
            self._api.registry.remove(group, plural)
            if kind is not None:
                self._api.cache.drop(kind.prefix)
        for other in self._group(key):
            entry = self._collection.get(other)
            if entry is not None and not condition(entry.decode(), "NamesAccepted"):
                self._dirty[other] = None

    async def _take(self, key: str, entry: Entry, definition: Object) -> None:
        if "deletionTimestamp" in definition["metadata"]:
            await self._serve(definition, entry)
            if CLEANUP in (definition["metadata"].get("finalizers") or ()) and key not in self._teardowns:
                task = asyncio.get_running_loop().create_task(self._take_down(key))
                self._teardowns[key] = task
                task.add_done_callback(lambda _: self._teardowns.pop(key, None))
            return
        known = await self._accept(key, definition)
        current = self._collection.get(key)
        if current is None:
            return
        fits = known is not None and known["metadata"]["resourceVersion"] == str(current.revision)
        if fits:
            self._dirty.pop(key, None)  # these writes are our own
        await self._serve(known if known is not None and fits else current.decode(), current)

    async def _accept(self, key: str, definition: Object) -> Object | None:
        """Decide on the names, then establish; each stage is a write of its own, as watchers of a real server see."""
        claim = _Claim(self._names, _group_of(key))

        def name(obj: Object) -> Object:
            claim.read()
            before = obj["status"].get("acceptedNames")
            named = self._name(key, obj)
            claim.made = named["status"]["acceptedNames"] != before
            return named

        write = partial(report, self._api, self._kind, key, react=False)
        known = await write(name, _SELF, definition, along=claim.along)
        if known is not None and not condition(known, "Established"):
            owned = not definition["status"].get("conditions")  # the fields of both conditions, since just now
            known = await write(_establish, "" if owned else _SELF, known)
        return known

    def _others(self, key: str) -> list[Object]:
        """What the other definitions of the group are called, as parts of definitions."""
        group = self._group(key)
        found: list[Object] = []
        for other in group:
            if other == key:
                continue
            names = group[other]
            if names is None and (entry := self._collection.get(other)) is not None:
                names = (entry.decode().get("status") or {}).get("acceptedNames") or {}
                group[other] = names
            found.append({"status": {"acceptedNames": names}})
        return found

    def _name(self, key: str, obj: Object) -> Object:
        accepted, verdict = rules.accepted_names(obj, self._others(key))
        status = obj.setdefault("status", {})
        status["acceptedNames"] = accepted
        now = clock.now()
        rules.set_condition(obj, verdict["type"], verdict["status"], verdict["reason"], verdict["message"], now)
        if not condition(obj, "Established"):
            stage = _INSTALLING if verdict["status"] == "True" else _NOT_ACCEPTED
            rules.set_condition(obj, "Established", *stage, now)
        rules.set_approval(obj, now)
        rules.set_structural(obj, now)
        return obj

    async def _serve(self, definition: Object, entry: Entry) -> None:
        self._group(entry.key)[entry.key] = definition["status"]["acceptedNames"]
        created = self._inherited.get(entry.key, entry.created)
        compiled = partial(compile_kind, definition, entry.body, changed=entry.revision, client=self._api.remote)
        kind = compiled(created=created)
        served = self._api.registry.get(kind.group, kind.plural)
        if condition(definition, "Established"):
            if served is None or served.uid != kind.uid:
                since = await self._inherit(kind)
                if since:
                    self._inherited[entry.key] = since
                    kind = compiled(created=since)
            if served is None or not same(served, kind):  # labels and conditions change nothing for its objects
                self._api.registry.put(kind)
        elif served is None or served.uid == kind.uid:
            self._api.registry.wait(kind)

    async def _take_down(self, key: str) -> None:
        """Delete the objects, wait for those that are held, then let the definition go."""

        def say(obj: Object) -> Object:
            rules.set_condition(obj, "Terminating", *_IN_PROGRESS, clock.now())
            return obj

        entry = self._collection.get(key)
        if entry is None:
            return
        await report(self._api, self._kind, key, say, _SELF)
        plural, _, group = entry.name.partition(".")
        kind = self._api.registry.get(group, plural)
        if kind is not None and kind.uid == entry.decode()["metadata"]["uid"]:  # else somebody else's objects are there
            await empty(self._api, kind)
        await amend(self._api, self._kind, key, _release)


class _Claim:
    """What has names given within a group one after the other, on all servers: a key that each acceptance writes.

    Who was not the last to write it looks at the names again. made: whether names are taken that were not before.
    """

    def __init__(self, names: WatchCache, group: str) -> None:
        self._names = names
        self._key = names.keys.key("", group)
        self._seen = 0
        self.made = False
        self.along = Along(asyncio.Lock(), self._operations)

    def _operations(self) -> Sequence[Operation]:
        return (Operation(self._key, Stored(b""), self._seen),) if self.made else ()

    def read(self) -> None:
        """What is read of the names after this is as new as the key is."""
        entry = self._names.get(self._key)
        self._seen = entry.revision if entry is not None else 0


def _group_of(key: str) -> str:
    """The group that a definition's name ends with."""
    return keys.name(key).partition(".")[2]


def _establish(obj: Object) -> Object:
    if not condition(obj, "NamesAccepted"):
        return obj
    if rules.bundle_fault(obj["spec"].get("conversion")):
        rules.set_condition(obj, "Established", *_BAD_BUNDLE, clock.now())
    else:
        rules.set_condition(obj, "Established", *_ESTABLISHED, clock.now())
    return obj


def _release(obj: Object) -> Object | None:
    """Without our finalizer; None where nobody else holds the definition."""
    metadata = obj["metadata"]
    held = [name for name in metadata.get("finalizers") or [] if name != CLEANUP]
    if not held:
        return None
    metadata["finalizers"] = held
    rules.set_condition(obj, "Terminating", *_COMPLETED, clock.now())
    return obj
