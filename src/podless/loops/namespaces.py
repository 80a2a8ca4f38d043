"""Namespaces: the system's own exist from the start, and a deleted one is emptied before it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from podless.cache.collection import Collection, Event
from podless.cache.entry import Entry
from podless.kinds import view
from podless.kinds.kind import Kind
from podless.loops.write import amend, delete_all
from podless.store import Conflicted, Write
from podless.verbs import steps
from podless.verbs.call import API

Object = dict[str, Any]

SYSTEM = ("default", "kube-system", "kube-public", "kube-node-lease")
_FINALIZER = "kubernetes"


class Namespaces:
    """Makes the system namespaces and empties those that are being deleted."""

    def __init__(self, api: API, kind: Kind) -> None:
        self._api = api
        self._kind = kind
        self._collection: Collection = api.collection(kind)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self) -> None:
        """Make what is missing, and go on with what was begun."""
        await self._collection.load()
        for name in SYSTEM:
            if self._collection.get(self._kind.key("", name)) is None:
                await self._create(name)
        self._collection.listen(self._note)
        for entry in self._collection.under(self._kind.prefix)[0]:
            self._look(entry)

    async def stop(self) -> None:
        """End the work in the background; what is left is done at the next start."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _create(self, name: str) -> None:
        version = self._kind.versions[0]
        obj: Object = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}}
        steps.identify(self._kind, obj["metadata"])
        self._kind.rules.default(version, obj)
        self._kind.rules.prepare_create(version, obj)
        value, mark = view.encode(self._kind, obj)
        try:
            await self._api.store.commit(Write(self._kind.key("", name), value, mark, 0))
        except Conflicted:
            return  # another server made it

    def _note(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.after is not None:
                self._look(event.after)

    def _look(self, entry: Entry) -> None:
        if b'"deletionTimestamp":' not in entry.body or entry.key in self._tasks:
            return
        if _FINALIZER not in ((entry.decode().get("spec") or {}).get("finalizers") or ()):
            return
        task = asyncio.get_running_loop().create_task(self._empty(entry.key, entry.name))
        self._tasks[entry.key] = task
        task.add_done_callback(lambda _: self._tasks.pop(entry.key, None))

    async def _empty(self, key: str, name: str) -> None:
        """Delete everything in the namespace, wait until it is gone, then let the namespace go."""
        for kind in self._api.registry:
            if kind.namespaced:
                await self._empty_kind(kind, f"{kind.prefix}{name}/")
        await amend(self._api, self._kind, key, _release)

    async def _empty_kind(self, kind: Kind, prefix: str) -> None:
        collection = await self._api.loaded(kind)
        changed = asyncio.Event()
        leave = collection.listen(lambda _: changed.set())
        try:
            while entries := collection.under(prefix)[0]:
                changed.clear()
                fresh = [entry for entry in entries if b'"deletionTimestamp":' not in entry.body]
                if fresh:
                    await delete_all(self._api, kind, fresh)
                elif self._api.registry.get(kind.group, kind.plural) is None:
                    return
                else:
                    await changed.wait()
        finally:
            leave()


def _release(obj: Object) -> Object | None:
    """Without our finalizer; None where nobody else holds the namespace."""
    spec = obj.setdefault("spec", {})
    held = [name for name in spec.get("finalizers") or [] if name != _FINALIZER]
    if not held and not obj["metadata"].get("finalizers"):
        return None
    if held:
        spec["finalizers"] = held
    else:
        spec.pop("finalizers", None)
    return obj
