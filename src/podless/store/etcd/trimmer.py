"""Keeps the change log in etcd within its bounds. One server at a time checks it and deletes old entries."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import field
from operator import attrgetter
from typing import Any

import orjson

from podless.runtime import clock
from podless.runtime.dataclass import dataclass
from podless.store import keys
from podless.store.contract import StoreError
from podless.store.etcd import messages as m
from podless.store.etcd.client import EtcdClient
from podless.store.etcd.entry import EntryLayout, FoundEntry
from podless.store.history import HistoryBounds, Keep, is_exceeded

log = logging.getLogger("podless")

_PERIOD = 60.0  # seconds between two checks, which one server does for all
_TXN_DELETES = 100  # keys in one transaction; etcd allows 128 operations
_PAGE = 2000  # keys of one range request
_NO_HORIZON = 1 << 62  # a horizon above all revisions


@dataclass(slots=True)
class Horizons:
    """The oldest revisions whose states can be read. by_prefix: for resources with their own bounds, by prefix.

    since: when `default` was the newest revision, in milliseconds since 1970. looked: time of the last check by any
    server.
    """

    default: int
    by_prefix: dict[str, int] = field(default_factory=dict)
    since: int = 0
    looked: int = 0

    def horizon_of(self, prefix: str) -> int:
        """Return the horizon of a resource; that of all others if it has no own bounds."""
        if prefix in ("", "/"):
            return max([self.default, *self.by_prefix.values()])
        return self.by_prefix.get(prefix, self.default)

    def encode(self) -> bytes:
        """Return the stored form."""
        return orjson.dumps({"all": self.default, "own": self.by_prefix, "since": self.since, "looked": self.looked})


def read_horizons(kv: Any) -> Horizons:
    """Return the stored horizons. Raises StoreError."""
    try:
        stored = orjson.loads(kv.value)
        default, own = max(int(stored["all"]), kv.create_revision), stored["own"].items()
        by_prefix = {str(prefix): int(revision) for prefix, revision in own}
        return Horizons(default, by_prefix, int(stored["since"]), int(stored["looked"]))
    except (ValueError, TypeError, LookupError, AttributeError):
        raise StoreError(f"etcd: {kv.key!r} is damaged") from None


async def scan_entries(client: EtcdClient, layout: EntryLayout, start: bytes, end: bytes) -> AsyncIterator[FoundEntry]:
    """Yield the keys of entries in a range. Raises StoreError."""
    while True:
        request = m.RangeRequest(key=start, range_end=end, limit=_PAGE, keys_only=True)
        answer = await client.call_etcd("range", request)
        for kv in answer.kvs:
            entry = layout.read_key(kv)
            if entry is not None:
                yield entry
        if not answer.more:
            return
        start = answer.kvs[-1].key + b"\0"
        await asyncio.sleep(0)


class LogTrimmer:
    """Trims the log for one server. horizons: as this server knows them."""

    def __init__(self, client: EtcdClient, layout: EntryLayout, bounds: HistoryBounds, fence: bytes) -> None:
        self.horizons = Horizons(0)
        self._client = client
        self._layout = layout
        self._bounds = bounds
        self._fence = fence  # written with the deletes, so that watches reach this revision
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Create the log if there is none, and trim it from now on. Raises StoreError."""
        await self.create_log()
        self._task = asyncio.get_running_loop().create_task(self._trim_regularly())

    async def create_log(self) -> None:
        """Create the log if there is none. Earlier states are unknown. Raises StoreError."""
        key, value = self._layout.marker, Horizons(0, {}, int(clock.time() * 1000)).encode()
        await self._client.call_etcd("txn", m.compare_created(key, 0) + m.put_key(key, value))
        await self.read_horizons()

    async def stop(self) -> None:
        """Stop the checks."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def read_horizons(self) -> int:
        """Read the horizons. Returns the revision of their key, 0 if there is no log. Raises StoreError."""
        kvs = (await self._client.call_etcd("range", m.RangeRequest(key=self._layout.marker))).kvs
        self.horizons = read_horizons(kvs[0]) if kvs else Horizons(_NO_HORIZON)
        return int(kvs[0].mod_revision) if kvs else 0

    async def _trim_regularly(self) -> None:
        while True:
            await asyncio.sleep(_PERIOD)
            try:
                await self.trim_log()
            except StoreError as error:
                log.warning("etcd: the history log was not trimmed: %s", error)

    async def trim_log(self) -> None:
        """Delete what exceeds the bounds, unless another server has checked recently. Raises StoreError."""
        revision = await self.read_horizons()
        if not revision:  # a restore has deleted the log
            await self.create_log()
            return
        now = int(clock.time() * 1000)
        if 0 <= now - self.horizons.looked < _PERIOD * 900 or not await self._put_horizons(revision, now):
            return
        start, end = self._layout.range_under(keys.ALL)
        entries = [item async for item in scan_entries(self._client, self._layout, start, end)]
        entries.sort(key=attrgetter("revision"))
        await asyncio.sleep(0)
        horizons = self._choose_horizons(entries, now)
        if horizons != self.horizons:
            revision = await self.read_horizons()
            if not await self._put_horizons(revision, now, horizons):
                return
        deleted: list[bytes] = []
        for offset in range(0, len(entries), _PAGE):
            for item in entries[offset : offset + _PAGE]:
                if item.revision <= self.horizons.horizon_of(keys.prefix_of(item.key)):
                    deleted.append(item.entry_key)
            await asyncio.sleep(0)
        for offset in range(0, len(deleted), _TXN_DELETES):
            deletes = b"".join(map(m.delete_key, deleted[offset : offset + _TXN_DELETES]))
            await self._client.call_etcd("txn", deletes + m.put_key(self._fence))

    async def _put_horizons(self, revision: int, now: int, horizons: Horizons | None = None) -> bool:
        """Write the horizons. Returns False if another server has written them meanwhile."""
        new_horizons = horizons or self.horizons
        new_horizons.looked = now
        key = self._layout.marker
        writes = m.put_key(key, new_horizons.encode()) + m.put_key(self._fence)
        answer = await self._client.call_etcd("txn", m.compare_revision(key, revision) + writes)
        if answer.succeeded:
            self.horizons = new_horizons
        return bool(answer.succeeded)

    def _choose_horizons(self, entries: list[FoundEntry], now: int) -> Horizons:
        """Return the horizons that fit the bounds. entries: all entries, oldest first."""
        before = self.horizons
        horizons = Horizons(before.default, dict(before.by_prefix), before.since, before.looked)
        by_prefix = self._bounds.by_prefix
        common = [entry for entry in entries if keys.prefix_of(entry.key) not in by_prefix] if by_prefix else entries
        last = _find_last(self._bounds.default, common, now, lambda entry: entry.revision > before.default)
        if last is not None:
            horizons.default, horizons.since = last.revision, max(before.since, last.name.written_at)
        for prefix, keep in self._bounds.by_prefix.items():
            own_entries = [entry for entry in entries if entry.key.startswith(prefix)]
            last = _find_last(keep, own_entries, now, lambda entry: True)
            if last is not None:
                horizons.by_prefix[prefix] = max(last.revision, horizons.by_prefix.get(prefix, before.default))
        return horizons


def _find_last(
    keep: Keep | None, entries: list[FoundEntry], now: int, applies: Callable[[FoundEntry], bool]
) -> FoundEntry | None:
    """Return the newest entry that must be deleted, None if all may stay."""
    matching = [entry for entry in entries if applies(entry)]
    rows, size, last = len(matching), sum(oldest.name.size for oldest in matching), None
    for oldest in matching:
        if keep is not None and not is_exceeded(keep, rows, size, now - oldest.name.written_at):
            break
        rows, size, last = rows - 1, size - oldest.name.size, oldest
    return last
