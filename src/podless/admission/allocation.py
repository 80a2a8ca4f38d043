"""Who gives services their addresses and ports, so that of all servers over one store none gives one away twice.

What is taken is told by the services that are stored. A write that takes something writes a key as well, in the same
commit: of two that do so at once, one learns of the other, looks again, and chooses anew where it has to. What a
service gives up, or leaves when it is deleted, is free with that very commit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from podless.admission.attributes import Along, Overtaken
from podless.admission.state import State
from podless.cache.events import Event
from podless.kinds.builtin.allocation import Allocation, Pool
from podless.kinds.kind import Kind
from podless.kinds.strategy import Object
from podless.store import Keys, Operation, Stored, keys

_KEYS = Keys(f"{keys.OWN}allocations/", namespaced=False)
_KEY = _KEYS.key("", "services")


class Allocator:
    """Gives new and changed services what they need; the pool is read when the first service asks."""

    def __init__(self, state: State, kind: Kind) -> None:
        self._state = state
        self._kind = kind
        self._pool = Pool()
        self._following = False
        self._lock = asyncio.Lock()
        self._writes = state.cache.collection(_KEYS)

    async def allocate(self, obj: Object, old: Object | None, *, dry_run: bool) -> Along | None:
        """Give a service what it lacks, in place. old: None for a new one. Returns what is to be committed with it.

        Raises Invalid for what is taken or out of range, APIError where nothing is left.
        """
        await self._follow()
        allocation = Allocation(self._pool, obj, old, dry_run=dry_run)
        if dry_run or not (allocation.addresses or allocation.ports):
            return None
        return Along((self._lock,), partial(self._operations, allocation))

    def _operations(self, allocation: Allocation) -> Sequence[Operation]:
        if allocation.overtaken:
            raise Overtaken
        entry = self._writes.get(_KEY)
        return (Operation(_KEY, Stored(b""), entry.revision if entry is not None else 0),)

    async def _follow(self) -> None:
        if not self._writes.loaded:
            await self._writes.load()
        collection = await self._state.loaded(self._kind)
        if not self._following:
            self._following = True
            for entry in collection.under(self._kind.prefix)[0]:
                self._pool.note(None, entry.decode())
            collection.add_event_handler(self._hear)

    def _hear(self, events: Sequence[Event]) -> None:
        for event in events:
            before, after = (entry.decode() if entry is not None else None for entry in (event.before, event.after))
            self._pool.note(before, after)
