"""Leases for keys that expire: etcd deletes the keys of an expired lease."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping

from podless.store import keys
from podless.store.etcd import messages as m
from podless.store.etcd.client import EtcdClient

_SHARED_SECONDS = 60.0  # seconds for which writes share a lease, as in kube-apiserver
_MAX_KEYS = 1000  # maximum keys of a lease, as in kube-apiserver


class LeaseTable:
    """The leases of one server. times: seconds from the last write of a key to its expiry, by prefix."""

    def __init__(self, client: EtcdClient, times: Mapping[str, float]) -> None:
        self._client = client
        self._times = times
        self._prefixes = tuple(times)
        self._current: dict[str, tuple[int, float]] = {}
        self._seconds: dict[str, int] = {}
        self._lock = asyncio.Lock()

    def has_expiry(self, key: str) -> bool:
        """Return whether a key expires."""
        return key.startswith(self._prefixes)

    async def find_lease(self, key: str) -> int:
        """Return the lease for a write of a key. Raises StoreError."""
        prefix = keys.prefix_of(key)
        seconds = self._times[prefix]
        async with self._lock:
            lease, until = self._current.get(prefix, (0, 0.0))
            if time.monotonic() >= until or not self._seconds[prefix]:
                shared = min(_SHARED_SECONDS, seconds / 10)
                ttl = math.ceil(seconds + shared)
                lease = (await self._client.call_etcd("lease", m.LeaseGrantRequest(TTL=ttl))).ID
                self._current[prefix] = lease, time.monotonic() + shared
                self._seconds[prefix] = _MAX_KEYS
            self._seconds[prefix] -= 1
            return lease

    def forget_leases(self) -> None:
        """Use new leases from now on, because the cluster was restored."""
        self._current.clear()
