"""Encodes the change log's part of a commit: an entry for each written object."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from itertools import count

from podless.store import keys
from podless.store.contract import AUTHOR, KEPT, NOBODY, Operation, Record
from podless.store.etcd.entry import ROW, EntryContent, EntryLayout, EntryName, encode_content, pack_state
from podless.store.etcd.transaction import put_key
from podless.store.history import HistoryBounds, HistoryClock

StateFinder = Callable[[str, int], Record | None]  # returns the state of a key at a revision, None if it is not known


class LogEncoder:
    """Encodes the entries of one server.

    bounds: how long they are kept; a resource without bounds has none. authors: record authors. read: reads one key.
    """

    def __init__(
        self,
        layout: EntryLayout,
        bounds: HistoryBounds,
        read: Callable[[str], Awaitable[Record | None]],
        *,
        authors: bool,
    ) -> None:
        self.find_state: StateFinder = lambda key, revision: None
        self._layout = layout
        self._bounds = bounds
        self._read = read
        self._authors = authors
        self._clock = HistoryClock()
        self._name = uuid.uuid4().hex[:12]
        self._numbers = count()

    async def encode_entries(self, operations: Sequence[Operation], leases: Sequence[int]) -> bytes:
        """Return the entries as a part of the transaction. leases: of the operations, 0 for none. Raises StoreError."""
        entries, number = b"", next(self._numbers)
        for index, (operation, lease) in enumerate(zip(operations, leases, strict=True)):
            if operation.stored is not KEPT and self._bounds.bounds_of(keys.prefix_of(operation.key)) is not None:
                entries += await self._encode_entry(operation, f"{self._name}-{number:x}", index, lease)
        return entries

    async def _encode_entry(self, operation: Operation, writer: str, position: int, lease: int) -> bytes:
        key, stored, expect, _ = operation
        before: Record | None = None
        if expect:
            before = self.find_state(key, expect) or await self._read(key)
            if before is None or before.revision != expect:
                return b""  # the commit will fail anyway
        author = AUTHOR.get() if self._authors else NOBODY
        created, offset, packed, differs = 0, 0, b"", False
        if before is not None:
            created, offset = before.created, before.stored.offset
            packed, differs = pack_state(before.stored, expect, stored)
        value = encode_content(EntryContent(author, expect, created, offset, packed, stored is None))
        start, _ = self._layout.of_key(key)
        name = EntryName(self._clock.next_time(), len(start) + len(value) + ROW, writer, position, differs)
        return put_key(start + name.encode(), value, lease)
