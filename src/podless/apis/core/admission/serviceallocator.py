"""Allocates cluster IPs and ports of Services, also if several servers share one store.

The stored Services and IPAddresses say what is taken. A write that allocates also writes a key in the same commit. If
two servers do so concurrently, one of them gets a conflict, reads again, and chooses again if necessary. An address
that a Service releases is free once its IPAddress is deleted, before the write is answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from podless.admission.attributes import AdmissionAttributes, AllocationConflict, CombinedCommit, combine_commits
from podless.admission.plugin import Plugin
from podless.apis.core.group import SERVICES
from podless.apis.core.serviceallocation import Allocation, AllocationPool
from podless.apis.networking.group import IP_ADDRESSES
from podless.auth.authorizer import Authorizer
from podless.cache.events import CacheEvent
from podless.kinds.kind import Kind
from podless.kinds.state import State
from podless.store import Operation, ResourceKeys, StoredValue, keys

_KEYS = ResourceKeys(f"{keys.OWN}allocations/", namespaced=False)
_KEY = _KEYS.key("", "services")


class ServiceAllocator(Plugin):
    """Allocates cluster IPs and node ports. The pool is read with the first Service."""

    def __init__(self, state: State, authorizer: Authorizer) -> None:
        super().__init__(state, authorizer)
        self._pool = AllocationPool()
        self._following = False
        self._lock = asyncio.Lock()
        self._writes = state.cache.collection(_KEYS)

    def allocates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return kind.is_same_as(SERVICES) and not subresource

    async def allocate(self, attr: AdmissionAttributes) -> None:
        """Raise Invalid for an address or port that is taken or out of range, APIError if none is free."""
        await self._follow_services()
        assert attr.obj is not None
        allocation = Allocation(self._pool, attr.obj, attr.old, dry_run=attr.dry_run)
        if not attr.dry_run and (allocation.addresses or allocation.ports):
            attr.along = combine_commits(
                attr.along, CombinedCommit((self._lock,), partial(self._make_operations, allocation))
            )

    def _make_operations(self, allocation: Allocation) -> Sequence[Operation]:
        if allocation.has_conflict:
            raise AllocationConflict
        entry = self._writes.get(_KEY)
        return (Operation(_KEY, StoredValue(b""), entry.revision if entry is not None else 0),)

    async def _follow_services(self) -> None:
        if not self._writes.loaded:
            await self._writes.load()
        collection = await self._state.load_collection(SERVICES)
        if not self._following:
            self._following = True
            for entry in collection.list_entries():
                self._pool.note_service(None, entry.decode())
            collection.add_event_handler(self._note_events)
            if self._state.registry.get(IP_ADDRESSES.group, IP_ADDRESSES.plural) is not None:
                await self._follow_addresses()

    async def _follow_addresses(self) -> None:
        collection = await self._state.load_collection(IP_ADDRESSES)
        for entry in collection.list_entries():
            self._pool.note_address(entry.name, 1)
        collection.add_event_handler(self._note_addresses)

    def _note_addresses(self, events: Sequence[CacheEvent]) -> None:
        for event in events:
            if step := (event.after is not None) - (event.before is not None):
                self._pool.note_address(keys.name_of(event.key), step)

    def _note_events(self, events: Sequence[CacheEvent]) -> None:
        for event in events:
            before, after = (entry.decode() if entry is not None else None for entry in (event.before, event.after))
            self._pool.note_service(before, after)
