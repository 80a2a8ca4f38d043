"""Brings ThirdPartyResources into force, and moves their objects to a CustomResourceDefinition.

As for definitions, the effects of a write come before its answer. Stored ThirdPartyResources are in force even if their
API is not served.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from podless.apis.extensions.group import THIRD_PARTY_RESOURCES
from podless.apis.extensions.thirdparty import compile_third, parse_defined_name
from podless.apis.extensions.thirdpartyresources import CLEANUP
from podless.cache.entry import Entry
from podless.cache.events import CacheEvent
from podless.controllers.controller import KindController
from podless.controllers.write import amend_object, drop_finalizer, empty_kind
from podless.kinds.kind import Kind
from podless.store import Operation
from podless.verbs import storage
from podless.verbs.call import API


class ThirdPartyController(KindController):
    """Updates the registry with the stored ThirdPartyResources. Keys are theirs."""

    name = "third-party-resource-controller"
    kind = THIRD_PARTY_RESOURCES
    awaited = (THIRD_PARTY_RESOURCES,)
    leads = False

    def __init__(self, api: API) -> None:
        super().__init__(api)
        self._serving: dict[str, Kind] = {}
        self._movers: set[asyncio.Task[None]] = set()

    async def begin(self) -> None:
        await super().begin()
        await self.reconcile_all()

    async def stop(self) -> None:
        """Finish moving objects, then stop."""
        await asyncio.gather(*self._movers, return_exceptions=True)
        await super().stop()

    async def reconcile(self, key: str) -> None:
        entry = self._collection.get(key)
        if entry is None:
            self._remove_resource(key)
        else:
            self._take_definition(key, entry)

    def _remove_resource(self, key: str) -> None:
        """Remove a deleted ThirdPartyResource and its endpoint, unless another definition has taken them over."""
        kind = self._serving.pop(key, None)
        if kind is not None and self._is_served(kind):
            self.api.registry.remove_kind(kind.group, kind.plural)
            self.api.cache.drop_collection(kind.prefix)

    def _is_served(self, kind: Kind) -> bool:
        served = self.api.registry.get(kind.group, kind.plural)
        return served is None or served.uid == kind.uid

    def _take_definition(self, key: str, entry: Entry) -> None:
        resource = entry.decode()
        kind = compile_third(resource, created=entry.created, changed=entry.revision)
        if not self._is_served(kind):
            return
        self._serving[key] = kind
        self.api.registry.put_kind(kind)
        finalizers = resource["metadata"].get("finalizers") or ()
        if kind.terminating and CLEANUP in finalizers:
            self.run_once(key, partial(self._remove_objects, key, kind))

    async def _remove_objects(self, key: str, kind: Kind) -> None:
        """Delete the objects, wait for those with finalizers, then remove our finalizer."""
        await empty_kind(self.api, kind)
        await amend_object(self.api, self.kind, key, partial(drop_finalizer, finalizer=CLEANUP))

    async def hand_over(self, heir: Kind) -> int:
        """Move the objects of a ThirdPartyResource to the kind of a definition with the same group and kind.

        One transaction deletes the ThirdPartyResource and, if the plural differs, moves the objects. Returns the first
        revision from which their history can be watched, 0 if there was nothing to move.
        """
        for entry in self._list_stored():
            kind = self._serving.get(entry.key)
            if kind is not None and parse_defined_name(entry.name) == (heir.kind, heir.group) and not kind.terminating:
                await self._transfer_objects(entry, kind, heir)
                return kind.created if kind.prefix == heir.prefix else 0
        return 0

    async def _transfer_objects(self, entry: Entry, kind: Kind, new_kind: Kind) -> None:
        self._serving.pop(entry.key, None)
        moves = kind.prefix != new_kind.prefix
        if moves:
            self.api.registry.remove_kind(kind.group, kind.plural)  # clients cannot create objects from here on

        async def plan_operations() -> list[Operation]:
            operations = await self._plan_moves(kind, new_kind) if moves else []
            current = self._collection.get(entry.key)
            if current is not None:
                operations.append(Operation(current.key, None, current.revision))
            return operations

        await storage.commit_together(self.api, plan_operations)
        if moves:
            self.api.cache.drop_collection(kind.prefix)
            await self._move_late_writes(kind, new_kind)

    async def _plan_moves(self, kind: Kind, new_kind: Kind) -> list[Operation]:
        objects = (await self.api.load_collection(kind)).list_entries()
        return [operation for entry in objects for operation in _move_operations(entry, new_kind)]

    async def _move_late_writes(self, kind: Kind, new_kind: Kind) -> None:
        """Move objects that requests in flight still write to the old keys."""

        def move_writes(events: Sequence[CacheEvent]) -> None:
            if not any(event.after is not None for event in events):
                return
            now = self.api.registry.get(new_kind.group, new_kind.plural)
            if now is None or now.uid != new_kind.uid or self.api.registry.get(kind.group, kind.plural) is not None:
                return
            task = asyncio.get_running_loop().create_task(self._move_remaining(kind, new_kind))
            self._movers.add(task)
            task.add_done_callback(self._movers.discard)

        (await self.api.load_collection(kind)).add_event_handler(move_writes)
        await self._move_remaining(kind, new_kind)

    async def _move_remaining(self, kind: Kind, new_kind: Kind) -> None:
        while await self._plan_moves(kind, new_kind):  # the commit that moved the others can have more of them
            await storage.commit_together(self.api, lambda: self._plan_moves(kind, new_kind))


def _move_operations(entry: Entry, new_kind: Kind) -> list[Operation]:
    """Return the operations that move an object to another key; its bytes stay the same."""
    key = new_kind.key(entry.namespace, entry.name)
    return [Operation(key, entry.stored, 0), Operation(entry.key, None, entry.revision)]
