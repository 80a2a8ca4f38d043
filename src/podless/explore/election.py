"""Leader election among the instances of a controller, and how the leader is deposed.

Instances elect a leader with a Lease. A real leader loses it if it renews it too slowly, and then continues to work for
some time, because it does not know that yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

Lease = tuple[str, str]  # (namespace, name)


class Election:
    """The leases of a run. free: called with a lease whose holder must be removed."""

    def __init__(self, free: Callable[[Lease], Awaitable[None]]) -> None:
        self.deposed: set[str] = set()
        self._free = free
        self._holders: dict[Lease, str] = {}
        self._awaited: dict[Lease, str] = {}
        self._stopped: list[asyncio.Event] = []

    @property
    def is_used(self) -> bool:
        """Whether instances elect a leader."""
        return bool(self._holders)

    @property
    def has_stopped_writes(self) -> bool:
        """Whether a write of a deposed leader waits."""
        return bool(self._stopped)

    @property
    def is_awaited(self) -> bool:
        """Whether another instance must still become the leader."""
        return bool(self._awaited)

    def note_lease(self, lease: Lease, client: str) -> None:
        """Record that a client has written a lease."""
        self._holders[lease] = client
        if self._awaited.get(lease, client) != client:
            del self._awaited[lease]

    def refuses_lease(self, lease: Lease, client: str) -> bool:
        """Return whether a client may not write a lease: it was deposed, and no other instance leads yet."""
        return self._awaited.get(lease) == client

    async def depose_client(self, client: str) -> bool:
        """Take all leases from a client. Return whether it had any."""
        leases = [lease for lease, holder in self._holders.items() if holder == client]
        for lease in leases:
            self._awaited[lease] = client
            await self._free(lease)
        if leases:
            self.deposed.add(client)
        return bool(leases)

    async def wait_for_release(self) -> None:
        """Wait until the next release."""
        event = asyncio.Event()
        self._stopped.append(event)
        await event.wait()

    def release_writes(self) -> bool:
        """Release the writes of deposed leaders. Returns whether there were any."""
        stopped, self._stopped = self._stopped, []
        for event in stopped:
            event.set()
        self._awaited = {}
        return bool(stopped)
