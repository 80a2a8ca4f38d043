"""Reads the change log in etcd: who changed what, and states that etcd itself has compacted (drawing: entry.py)."""

from __future__ import annotations

import heapq
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from podless.store import keys
from podless.store.contract import ChangeLog, HistoryCompacted, LoggedWrite, Record
from podless.store.etcd import messages as m
from podless.store.etcd.client import CompactedByEtcd, EtcdClient
from podless.store.etcd.entry import EntryContent, EntryLayout, FoundEntry, LogEncoder, StateFinder, decode_content
from podless.store.etcd.follow import FENCES
from podless.store.etcd.layout import KeyLayout
from podless.store.etcd.trimmer import LogTrimmer, scan_entries
from podless.store.history import HistoryBounds

_TXN_READS = 100  # reads in one transaction; etcd allows 128
_READ_BYTES = 4 << 20  # bytes of entries in one read
_FIRST_ENTRIES = 8  # entries of unknown size in one read
_SMALL_STATE = 8192  # bytes of an average state; smaller ones are read in larger numbers
_POSITION_BITS = 10  # bits of a sequence number for the position of a change in its commit
_MAX_POSITION = (1 << _POSITION_BITS) - 1
_CHAIN_ENTRIES = 16  # entries of one object in one read
_END = 1 << 62
_CACHED_ENTRIES = 20_000  # entries of the last scan that are cached for the next page


class _EntryScan(NamedTuple):
    """The entries under some prefixes, newest first, up to a sequence number."""

    prefixes: tuple[str, ...]
    newest: int
    entries: list[FoundEntry]


class EtcdChangeLog(ChangeLog):
    """Reads and writes the log of one server.

    bounds: how much is kept. compacted: the newest compacted revision. leased: whether a key expires by a lease.
    """

    def __init__(
        self,
        client: EtcdClient,
        layout: KeyLayout,
        bounds: HistoryBounds,
        *,
        authors: bool,
        compacted: Callable[[], int],
        read: Callable[[str], Awaitable[Record | None]],
        leased: Callable[[str], bool],
    ) -> None:
        self._client = client
        self._objects = layout
        self._layout = EntryLayout(layout)
        self._bounds = bounds
        self._compacted = compacted
        self._leased = leased
        self._scan: _EntryScan | None = None
        self.writer = LogEncoder(self._layout, bounds, read, authors=authors)
        self.trimmer = LogTrimmer(client, self._layout, bounds, layout.encode_key(f"{FENCES}log"))

    def use_states(self, find_state: StateFinder) -> None:
        self.writer.find_state = find_state

    async def open(self, *, writing: bool) -> None:
        """Prepare for reading. writing: also create the log if there is none, and trim it. Raises StoreError."""
        if writing:
            await self.trimmer.start()
        else:
            await self.trimmer.read_horizons()

    async def delete_log(self, *, anew: bool) -> None:
        """Delete the log. anew: then create a new one. Raises StoreError."""
        start = self._layout.prefix
        await self._client.call_etcd("txn", m.delete_key(start, start[:-1] + b"0"))
        self._scan = None
        if anew:
            await self.trimmer.create_log()

    def read_horizon(self, prefix: str) -> int:
        compacted, horizon = self._compacted(), self.trimmer.horizons.horizon_of(keys.prefix_of(prefix))
        return min(compacted, horizon) if self._bounds.keeps(prefix) else compacted

    async def read_key(self, key: str, before: int = 0, after: int = 0, limit: int = 100) -> list[LoggedWrite]:
        scanned = [item async for item in scan_entries(self._client, self._layout, *self._layout.of_key(key))]
        matching = [item for item in scanned if item.key == key and after < _sequence_number(item) < (before or _END)]
        return await self._read_entries(heapq.nlargest(limit, matching, key=lambda item: item.sort_key))

    async def read_under(
        self, prefixes: Sequence[str], before: int = 0, after: int = 0, limit: int = 100
    ) -> list[LoggedWrite]:
        scan = self._scan
        if scan is None or scan.prefixes != tuple(prefixes) or not before or before > scan.newest:
            entries: list[FoundEntry] = []
            for prefix in prefixes:
                start, end = self._layout.range_under(prefix)
                entries += [item async for item in scan_entries(self._client, self._layout, start, end)]
            entries.sort(key=lambda item: item.sort_key, reverse=True)
            scan = _EntryScan(tuple(prefixes), _sequence_number(entries[0]) if entries else 0, entries)
            self._scan = scan if len(entries) <= _CACHED_ENTRIES else None
        selected: list[FoundEntry] = []
        for item in scan.entries:
            if _sequence_number(item) <= after or len(selected) >= limit:
                break
            if _sequence_number(item) < (before or _END):
                selected.append(item)
        return await self._read_entries(selected)

    async def find_revision(self, at: int) -> int:
        await self.trimmer.read_horizons()
        horizons = self.trimmer.horizons
        if at < horizons.since:
            raise HistoryCompacted(self.read_horizon(keys.ALL))
        newest = horizons.default
        start, end = self._layout.range_under(keys.ALL)
        async for entry in scan_entries(self._client, self._layout, start, end):
            if entry.name.written_at <= at:
                newest = max(newest, entry.revision)
        return newest

    async def find_time(self, revision: int) -> int:
        """Return when the log's oldest state was the newest one, if this is its revision; else 0."""
        horizons = self.trimmer.horizons
        return horizons.since if revision == horizons.default else 0

    async def find_sequence(self, revision: int) -> int:
        return revision << _POSITION_BITS | _MAX_POSITION

    async def list_resources(self) -> list[str]:
        entries = scan_entries(self._client, self._layout, *self._layout.range_under(keys.ALL))
        prefixes = {keys.prefix_of(entry.key) async for entry in entries}
        return sorted(prefix for prefix in prefixes if not prefix.startswith(keys.OWN))

    # changes

    async def _read_entries(self, entries: list[FoundEntry]) -> list[LoggedWrite]:
        """Return the changes of entries, newest first; fewer if their states are large.

        The sizes of states are unknown before they are read, so the first read is small, and later ones grow if states
        are small.
        """
        writes, newer, size, offset, batch = list[LoggedWrite](), dict[str, Record | None](), 0, 0, _FIRST_ENTRIES
        while offset < len(entries) and size <= _READ_BYTES:
            described = await self._describe_entries(entries[offset : offset + batch], newer)
            writes += described
            offset += batch
            now = sum(
                keys.size_of(write.stored) + keys.size_of(write.replaced and write.replaced.stored)
                for write in described
            )
            size += now
            batch = batch * 2 if now <= batch * _SMALL_STATE else _FIRST_ENTRIES
        return writes

    async def _describe_entries(
        self, found_entries: list[FoundEntry], newer: dict[str, Record | None]
    ) -> list[LoggedWrite]:
        """Return the changes of a few entries. newer: the states that later changes replaced, by key; is updated."""
        contents = await self._read_contents(found_entries)
        newer |= await self._read_newer([entry for entry in found_entries if entry.key not in newer], contents)
        writes = []
        for entry in found_entries:
            content = contents.get(entry.entry_key)
            if content is None:  # trimmed meanwhile
                continue
            after = None if content.deletes else await self._state_after(entry, newer.get(entry.key))
            newer[entry.key] = replaced = content.find_replaced(entry, after)
            if after is None and not content.deletes:
                continue  # another program has replaced the state, and etcd has compacted it
            written = (entry.key, entry.revision, _sequence_number(entry), entry.name.written_at, content.author)
            stored, created = after.stored if after is not None else None, content.created or entry.revision
            writes.append(LoggedWrite(*written, stored, created, replaced))
        return writes

    async def _state_after(self, entry: FoundEntry, newer: Record | None) -> Record | None:
        """Return the state that a change made. newer: the state that the next change replaced, or the present one."""
        if newer is not None and newer.revision == entry.revision:
            return newer
        try:
            request = m.RangeRequest(key=self._objects.encode_key(entry.key), revision=entry.revision)
            kvs = (await self._client.call_etcd("range", request)).kvs
        except CompactedByEtcd:
            return None
        return self._objects.decode_record(kvs[0]) if kvs and kvs[0].mod_revision == entry.revision else None

    async def _read_contents(self, found_entries: Iterable[FoundEntry]) -> dict[bytes, EntryContent]:
        ranges = await self._read_ranges([m.RangeRequest(key=entry.entry_key) for entry in found_entries])
        return {kv.key: decode_content(kv.key, kv.value) for kvs in ranges for kv in kvs}

    async def _read_newer(
        self, found_entries: Iterable[FoundEntry], contents: dict[bytes, EntryContent]
    ) -> dict[str, Record | None]:
        """Return, by key, the state that the newest of these changes made, if it is known."""
        newest: dict[str, FoundEntry] = {}
        for entry in found_entries:
            newest.setdefault(entry.key, entry)
        asking = {
            key: found.revision
            for key, found in newest.items()
            if found.entry_key in contents and not contents[found.entry_key].deletes
        }
        newer: dict[str, Record | None] = {}
        later: dict[str, list[tuple[FoundEntry, EntryContent]]] = {key: [] for key in asking}
        while asking:  # read entries up to one with a whole state, or to the present state
            questions = []
            for key, revision in asking.items():
                start, end = self._layout.of_key(key)
                following = m.RangeRequest(
                    key=start,
                    range_end=end,
                    min_mod_revision=revision + 1,
                    limit=_CHAIN_ENTRIES,
                    sort_order=m.ASCEND,
                    sort_target=m.BY_MOD,
                )
                questions += [following, m.RangeRequest(key=self._objects.encode_key(key))]
            answers = await self._read_ranges(questions)
            pairs, asking = list(zip(asking, answers[::2], answers[1::2], strict=True)), {}
            for key, entries, present in pairs:
                later[key] += [pair for kv in entries for pair in self._read_entry(kv)]
                if len(entries) == _CHAIN_ENTRIES and all(found.name.differs for found, _ in later[key]):
                    asking[key] = entries[-1].mod_revision
                else:
                    newer[key] = _undo_changes(later[key], self._objects.decode_record(present[0]) if present else None)
        return newer

    def _read_entry(self, kv: Any) -> list[tuple[FoundEntry, EntryContent]]:
        """Return (entry, content) in a list; an empty list if the key is not an entry's. Raises StoreError."""
        entry = self._layout.read_key(kv)
        return [(entry, decode_content(kv.key, kv.value))] if entry is not None else []

    async def _read_ranges(self, questions: Sequence[Any]) -> list[Any]:
        ranges: list[Any] = []
        for offset in range(0, len(questions), _TXN_READS):
            requests = [m.Request(request_range=question) for question in questions[offset : offset + _TXN_READS]]
            answer = await self._client.call_etcd("txn", m.TxnRequest(success=requests))
            ranges += [response.response_range.kvs for response in answer.responses]
        return ranges

    # states

    async def restore_state(
        self, records: list[Record], prefix: str, revision: int, after: str = "", end: str = ""
    ) -> list[Record]:
        """Return the state at a revision. records: the present state.

        after, end: only keys after the first and up to the second, "" for no bound. Raises HistoryCompacted,
        StoreError.
        """
        await self.trimmer.read_horizons()
        horizon = self.read_horizon(prefix)
        if revision < horizon:
            raise HistoryCompacted(horizon)
        present = {record.key: record for record in records}
        state = {record.key: record for record in records if record.revision <= revision}
        # changes of each key after the revision; the first one replaced the wanted state
        later: dict[str, list[FoundEntry]] = {}
        async for entry in scan_entries(self._client, self._layout, *self._layout.range_between(prefix, after, end)):
            if entry.revision > revision and entry.key not in state:
                later.setdefault(entry.key, []).append(entry)
        for key, _, written, created in records:
            if written > revision and key not in later:
                self._check_known(key, written, created, revision)
        for group in _group_chains([_choose_entries(entries, present.get(key)) for key, entries in later.items()]):
            contents = await self._read_contents(entry for chain in group for entry in chain)
            for chain in group:
                first = chain[0]
                chain_contents = [(entry, contents[entry.entry_key]) for entry in chain if entry.entry_key in contents]
                if len(chain_contents) < len(chain):
                    raise HistoryCompacted(first.revision)
                before, content = _undo_changes(chain_contents, present.get(first.key)), chain_contents[0][1]
                if before is not None and before.revision <= revision:
                    state[first.key] = before
                elif content.expect:
                    self._check_known(first.key, max(content.expect, revision + 1), content.created, revision)
        return [state[key] for key in sorted(state, key=self._objects.encode_key)]

    def _check_known(self, key: str, revision: int, created: int, entry_revision: int) -> None:
        """Raise HistoryCompacted if an object existed whose state is unknown."""
        if created <= entry_revision and not key.startswith(keys.OWN) and not self._leased(key):
            raise HistoryCompacted(revision)


def _sequence_number(entry: FoundEntry) -> int:
    return entry.revision << _POSITION_BITS | min(entry.name.position, _MAX_POSITION)


def _choose_entries(entries: list[FoundEntry], present: Record | None) -> list[FoundEntry]:
    """Return the changes to undo for the state before the first one: up to one whose entry has a whole state."""
    entries.sort(key=lambda entry: entry.sort_key)
    chain: list[FoundEntry] = []
    for entry in entries:
        chain.append(entry)
        if not entry.name.differs or (present is not None and entry.revision == present.revision):
            break
    return chain


def _undo_changes(later: list[tuple[FoundEntry, EntryContent]], present: Record | None) -> Record | None:
    """Return the state before some changes of one object (oldest first), None if unknown. present: the state now."""
    complete_index = next((index for index, (entry, _) in enumerate(later) if not entry.name.differs), len(later))
    state = present
    for entry, content in reversed(later[: complete_index + 1]):
        state = content.find_replaced(entry, state)
    return state


def _group_chains(chains: list[list[FoundEntry]]) -> Iterator[list[list[FoundEntry]]]:
    """Yield groups of chains, each with about as many entries as one read takes."""
    group: list[list[FoundEntry]] = []
    for chain in chains:
        group.append(chain)
        if sum(map(len, group)) >= _TXN_READS:
            yield group
            group = []
    if group:
        yield group
