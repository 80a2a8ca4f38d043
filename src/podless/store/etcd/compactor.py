"""Compacts the cluster: one server does it for all, up to the state of an interval ago.

Servers coordinate through the key `compact_rev_key`, as kube-apiservers do, and together with them. A server that finds
the version that it left at its last turn updates the key and compacts. Source: compact.go of k8s.io/apiserver. kine
accepts no other transaction for this key.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from podless.runtime import clock
from podless.store.contract import StoreError
from podless.store.etcd import messages as m
from podless.store.etcd.client import CompactedByEtcd, EtcdClient
from podless.store.history import HistoryHolds

log = logging.getLogger("podless")

_COMPACT_KEY = b"compact_rev_key"
_CHECK_INTERVAL = 10.0  # seconds between two checks of certificates and database size


class Compactor:
    """This server's part in compaction.

    interval: seconds between turns, 0 for never. size: of the database, in bytes. oldest: when the oldest readable
    state was written, in seconds since 1970; 0 if unknown.
    """

    def __init__(self, client: EtcdClient, interval: float, forgot: Callable[[int], None]) -> None:
        self.holds = HistoryHolds()
        self.size = self.oldest = 0
        self._client = client
        self._interval = interval
        self._forgot = forgot
        self._last_version = 0  # version of the key at this server's last turn
        self._revision = self._at = 0  # the cluster's revision at that time, and the time
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start to take turns."""
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._update_regularly())]
        if self._interval:
            self._tasks.append(loop.create_task(self._compact_regularly()))

    async def stop(self) -> None:
        """Stop taking turns."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _update_regularly(self) -> None:
        while True:
            with suppress(StoreError):  # other calls report the error
                self.size = (await self._client.call_etcd("status", m.StatusRequest())).dbSize
            await asyncio.sleep(_CHECK_INTERVAL)
            self._client.reload_certificates()

    async def _compact_regularly(self) -> None:
        while True:
            try:
                await self.take_turn()
            except (StoreError, CompactedByEtcd) as error:
                log.warning("etcd: compaction failed: %s", error)
            await asyncio.sleep(self._interval)

    async def take_turn(self) -> None:
        """Update the key, and compact if no other server has updated it. Raises StoreError."""
        if self.holds.count:
            return
        update = m.compare_version(_COMPACT_KEY, self._last_version) + m.put_key(_COMPACT_KEY, b"%d" % self._revision)
        answer = await self._client.call_etcd("txn", update + m.read_otherwise(_COMPACT_KEY))
        before, self._revision = self._revision, answer.header.revision
        at, self._at = self._at, int(clock.time())
        if not answer.succeeded:  # another server has compacted
            (stored,) = answer.responses[0].response_range.kvs or (m.KeyValue(),)
            self._last_version = stored.version
            self._note_compaction(at, int(stored.value) if stored.value.isdigit() else 0)
            return
        self._last_version += 1
        if before:
            try:
                await self._client.call_etcd("compact", m.CompactionRequest(revision=before))
            except CompactedByEtcd:
                return
            self._note_compaction(at, before)

    def _note_compaction(self, at: int, revision: int) -> None:
        """Record a compaction up to the revision that was the newest at the last turn or before."""
        if revision and at:
            self.oldest = at
            self._forgot(revision)
