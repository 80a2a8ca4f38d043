"""Entries of the change log in etcd: one key for each change, written in the transaction of the change itself.

An entry holds the author and the state that the change replaced. The state that it made is that of the next entry, or
the object itself. So an entry that is forgotten takes nothing along that a later state needs.

Its key is PREFIX/~podless/history, the object's key, a zero byte, and what `EntryName` says. "~" sorts behind all names
of Kubernetes, so that a watch of the objects does not see the log. The zero byte keeps entries in the order of their
objects.
"""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

import orjson

from podless.store.contract import Author, Record, StoreError
from podless.store.etcd.layout import KeyLayout
from podless.store.keys import Stored

_LEVEL = 1  # of zlib, as in the SQLite engine
_ROOM = 5 << 18  # bytes of object and entry together; etcd takes requests of 1.5 MiB
_ROW = 200  # bytes that an entry takes in etcd beside its value, about


class EntryName(NamedTuple):
    """What the key of an entry says. at: milliseconds since 1970. size: bytes of it, about. writer: the server that
    wrote it, with a number. place: of the change in its commit.
    """

    at: int
    size: int
    writer: str
    place: int

    def encode(self) -> bytes:
        """Return the end of the key."""
        return b"%x.%x.%b.%x" % (self.at, self.size, self.writer.encode(), self.place)


class Found(NamedTuple):
    """The key of an entry, the object's key, the revision of the change, and what the name says."""

    there: bytes
    key: str
    revision: int
    name: EntryName

    @property
    def order(self) -> tuple[int, int]:
        """Orders changes: by revision, then by their place in the commit."""
        return self.revision, self.name.place


class Content(NamedTuple):
    """What an entry says. expect: the revision that was replaced, 0 for none. before: the state then, None where there
    was none or it was too large to be kept. deletes: the change was a delete.
    """

    author: Author
    expect: int
    created: int
    before: Stored | None
    deletes: bool

    def record(self, key: str) -> Record | None:
        """Return the state that was replaced, where it is known."""
        return Record(key, self.before, self.expect, self.created) if self.before is not None else None


class EntryLayout:
    """Where entries are for one layout of keys."""

    def __init__(self, layout: KeyLayout) -> None:
        self._layout = layout
        self._start = len(layout.root)
        self.root = f"{layout.root}/~podless/history".encode()
        self.all = f"{layout.root}/~podless/".encode()
        self.marker = self.all + b"horizon"

    def of_key(self, key: str) -> tuple[bytes, bytes]:
        """Return the first key of the entries of an object, and the first behind them."""
        start = self.root + self._layout.key(key)[self._start :]
        return start + b"\0", start + b"\1"

    def under(self, prefix: str) -> tuple[bytes, bytes]:
        """Return the first key of the entries of all objects under a prefix, and the first behind them."""
        start = self.root + self._layout.key(prefix)[self._start :]
        return start, start[:-1] + bytes((start[-1] + 1,))

    def between(self, prefix: str, after: str, end: str) -> tuple[bytes, bytes]:
        """Return the same behind the key `after` and up to the key `end`, "" for no such bound."""
        low, high = self.under(prefix)
        return self.of_key(after)[1] if after else low, self.of_key(end)[1] if end else high

    def key(self, key: str, name: EntryName) -> bytes:
        """Return the key of an entry."""
        return self.of_key(key)[0] + name.encode()

    def read_key(self, kv: Any) -> Found | None:
        """Return what the key of an entry says, None for what is none."""
        there, _, name = kv.key.rpartition(b"\0")
        try:
            at, size, writer, place = name.split(b".")
            told = EntryName(int(at, 16), int(size, 16), writer.decode(), int(place, 16))
            key = self._layout.back(self._layout.root.encode() + there[len(self.root) :])
        except ValueError:
            return None
        return Found(kv.key, key, kv.mod_revision, told)


def encode_content(content: Content, room: int) -> bytes:
    """Return the value of an entry. room: bytes of the object that is written with it."""
    author, expect, created, before, deletes = content
    head: dict[str, Any] = {"author": [_clean(part) for part in author[:6]], "expect": expect, "created": created}
    if author.audit:
        head["audit"] = author.audit.hex()
    if deletes:
        head["deletes"] = True
    if before is None:
        return _deflate(orjson.dumps(head))
    value = _deflate(orjson.dumps(head | {"offset": before.offset}) + b"\n" + before.data)
    return value if len(value) + room < _ROOM else _deflate(orjson.dumps(head))


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _deflate(data: bytes) -> bytes:
    return zlib.compress(data, _LEVEL, -15)


def size_of(there: bytes, value: bytes) -> int:
    """Return how many bytes an entry takes, about."""
    return len(there) + len(value) + _ROW


def decode_content(there: bytes, value: bytes) -> Content:
    """Return what an entry says. Raises StoreError."""
    try:
        head, _, data = zlib.decompress(value, -15).partition(b"\n")
        told = orjson.loads(head)
        user, sender, verb, subresource, manager, agent = map(str, told["author"])
        author = Author(user, sender, verb, subresource, manager, agent, bytes.fromhex(told.get("audit", "")))
        before = Stored(data, int(told["offset"])) if "offset" in told else None
        return Content(author, int(told["expect"]), int(told["created"]), before, bool(told.get("deletes")))
    except (zlib.error, ValueError, TypeError, LookupError, AttributeError):
        raise StoreError(f"etcd: the entry {there!r} of the change log is damaged") from None
