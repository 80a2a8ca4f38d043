"""Entries of the change log in etcd: one key for each change, written in the transaction of the change itself.

An entry has the author and the state that the change replaced. The state that the change made is in the next entry, or
is the object itself. So deleting an entry loses nothing that a later state needs. Most states are differences: deflated
with the state that replaced them as the dictionary. About one in eight is whole. An object with four states:

    revision of the change      5           8           11              14
    its entry keeps             no state    s5, whole   s8 from s11     s11 from s14
    the state that it made      s5          s8  <------ s11  <--------- s14, the object itself

To read a state, podless begins with the object, or with the next entry whose state is whole, and undoes changes one by
one: s14 and the entry of 14 give s11, then the entry of 11 gives s8. s5 needs only the entry of 8.

The value is a line with the author as JSON, a line of numbers, and the deflated state.

The key is PREFIX/~podless/history, the object's key, a zero byte, and the `EntryName`. "~" sorts after all names of
Kubernetes, so that a watch of the objects does not see the log. The zero byte keeps entries in the order of their
objects.
"""

from __future__ import annotations

import uuid
import zlib
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from typing import Any, NamedTuple

import orjson

from podless.runtime.bounded import bounded_cache
from podless.store import keys
from podless.store.contract import AUTHOR, KEPT, NOBODY, Author, Operation, Record, StoreError
from podless.store.etcd.layout import KeyLayout
from podless.store.etcd.messages import put_key
from podless.store.history import HistoryBounds, HistoryClock, pack_value, unpack_value
from podless.store.keys import StoredValue

StateFinder = Callable[[str, int], Record | None]  # returns the state of a key at a revision, None if it is not known
_DEFLATE_WINDOW = 1 << 15  # bytes of deflate's window
# multiplier that spreads revisions evenly; else the turns of writers could make all states of an object differences
_SPREAD = 0x9E3779B1
_MAX_REQUEST = 5 << 18  # bytes of object and entry together; etcd accepts requests of 1.5 MiB
_ENTRY_BYTES = 240  # approximate bytes of an entry in etcd, besides its value and the key of its object


class EntryName(NamedTuple):
    """The content of an entry's key.

    written_at: milliseconds since 1970. size: approximate bytes of the entry. writer: number of the server that wrote
    it. position: position of the change in its commit. differs: the state is stored as a difference.
    """

    written_at: int
    size: int
    writer: str
    position: int
    differs: bool = False

    def encode(self) -> bytes:
        """Return the end of the entry's key."""
        at, size, writer, index, differs = self
        return b"%x.%x.%b.%x%b" % (at, size, writer.encode(), index, b".d" if differs else b"")


class FoundEntry(NamedTuple):
    """The key of an entry, the object's key, the revision of the change, and the entry's name."""

    entry_key: bytes
    key: str
    revision: int
    name: EntryName

    @property
    def sort_key(self) -> tuple[int, int]:
        """The sort key of changes: revision, then position in the commit."""
        return self.revision, self.name.position


class EntryContent(NamedTuple):
    """The value of an entry.

    expect: the revision that was replaced, 0 for none. packed: the replaced state, deflated; b"" if there was none or
    it was too large. deletes: the change was a delete.
    """

    author: Author
    expect: int
    created: int
    offset: int
    packed: bytes
    deletes: bool

    def find_replaced(self, entry: FoundEntry, after: Record | None) -> Record | None:
        """Return the state that was replaced, None if it is unknown. Raises StoreError.

        after: the state that the change made.
        """
        if not self.packed or (entry.name.differs and (after is None or after.revision != entry.revision)):
            return None
        try:
            data = unpack_value(self.packed, after.stored.data if entry.name.differs and after is not None else b"")
        except zlib.error:
            raise make_damaged_error(entry.entry_key) from None
        return Record(entry.key, StoredValue(data, self.offset), self.expect, self.created)


class EntryLayout:
    """The keys of entries for one layout of keys."""

    def __init__(self, layout: KeyLayout) -> None:
        self._layout = layout
        self._start = len(layout.root)
        self.root = f"{layout.root}/~podless/history".encode()
        self.prefix = f"{layout.root}/~podless/".encode()
        self.marker = self.prefix + b"horizon"

    def of_key(self, key: str) -> tuple[bytes, bytes]:
        """Return the first key of an object's entries, and the first key after them."""
        start = self.root + self._layout.encode_key(key)[self._start :]
        return start + b"\0", start + b"\1"

    def range_under(self, prefix: str) -> tuple[bytes, bytes]:
        """Return the first key of the entries of all objects under a prefix, and the first key after them."""
        start = self.root + self._layout.encode_key(prefix)[self._start :]
        return start, start[:-1] + bytes((start[-1] + 1,))

    def range_between(self, prefix: str, after: str, end: str) -> tuple[bytes, bytes]:
        """Return the same range for objects after the key `after` and up to the key `end`; "" for no bound."""
        low, high = self.range_under(prefix)
        return self.of_key(after)[1] if after else low, self.of_key(end)[1] if end else high

    def read_key(self, kv: Any) -> FoundEntry | None:
        """Return the entry name in a key, None for other keys."""
        prefix, _, name = kv.key.rpartition(b"\0")
        try:
            at, size, writer, index, *differs = name.split(b".")
            entry_name = EntryName(int(at, 16), int(size, 16), writer.decode(), int(index, 16), bool(differs))
            key = self._layout.decode_key(self._layout.root.encode() + prefix[len(self.root) :])
        except ValueError:
            return None
        return FoundEntry(kv.key, key, kv.mod_revision, entry_name)


def _pack_state(before: StoredValue, expect: int, after: StoredValue | None) -> tuple[bytes, bool]:
    """Return a state in the form of an entry (b"" if it is too large), and whether it is a difference.

    expect: its revision. after: the state that replaces it.
    """
    if after is not None and expect * _SPREAD >> 16 & 7 and len(after.data) <= _DEFLATE_WINDOW:
        packed = pack_value(before.data, after.data)
        if len(packed) * 2 < len(before.data):
            return packed, True
    packed = pack_value(before.data)
    return packed if len(packed) + (len(after.data) if after is not None else 0) < _MAX_REQUEST else b"", False


def _encode_content(content: EntryContent) -> bytes:
    author, expect, created, offset, packed, deletes = content
    author_line, audit = _encode_author(*author[:6]), author.audit.hex().encode()
    return b"%b\n%d %d %d %d %b\n%b" % (author_line, expect, created, offset, deletes, audit, packed)


@bounded_cache(1024)
def _encode_author(*texts: str) -> bytes:
    return orjson.dumps([text.encode("utf-8", "replace").decode() for text in texts])


def decode_content(entry_key: bytes, value: bytes) -> EntryContent:
    """Return the content of an entry. Raises StoreError."""
    try:
        author_line, numbers, packed = value.split(b"\n", 2)
        expect, created, offset, deletes, audit = numbers.split(b" ")
        user, sender, verb, subresource, manager, agent = map(str, orjson.loads(author_line))
        author = Author(user, sender, verb, subresource, manager, agent, bytes.fromhex(audit.decode()))
        return EntryContent(author, int(expect), int(created), int(offset), packed, deletes == b"1")
    except (ValueError, TypeError, LookupError):
        raise make_damaged_error(entry_key) from None


def make_damaged_error(entry_key: bytes) -> StoreError:
    """Return the error of a damaged entry."""
    return StoreError(f"etcd: the entry {entry_key!r} of the change log is damaged")


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
            packed, differs = _pack_state(before.stored, expect, stored)
        value = _encode_content(EntryContent(author, expect, created, offset, packed, stored is None))
        start, _ = self._layout.of_key(key)
        name = EntryName(self._clock.next_time(), len(start) + len(value) + _ENTRY_BYTES, writer, position, differs)
        return put_key(start + name.encode(), value, lease)
