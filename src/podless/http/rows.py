"""A cache of table rows: the same lists are read again and again, and few objects change in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from podless.runtime import lazy, slices

if TYPE_CHECKING:
    from podless.publish import table
    from podless.publish.table import Row
else:
    table = lazy.LateModule("podless.publish.table")

_MAX = 32 << 20  # maximum bytes of all rows
_OLD = 8  # one in 8 dropped rows is the oldest one, see `_drop_row`
_TEXTS = 256  # cached texts that rows share
_TEXT = 4096  # maximum bytes of a shared text
_FIELDS = b'{"f:'  # start of a managedFields entry's fieldsV1


class CachedRow(NamedTuple):
    """A row, and the state it shows. length: its bytes. size: its bytes without the texts shared with other rows."""

    state: Any
    row: Row
    length: int
    size: int


class RowCache:
    """Rows by the keys of their objects, each with the state that it shows."""

    def __init__(self, limit: int = _MAX) -> None:
        self._limit = limit
        self._size = 0
        self._drop_count = 0
        self._rows: dict[str, CachedRow] = {}
        self._making: set[str] = set()  # keys of rows that suspended work is making
        self._texts: dict[bytes, bytes] = {}  # oldest first

    def find_row(self, key: str, state: Any) -> CachedRow | None:
        """Return the row of an object in this state, None if it is not cached.

        state: everything that the row depends on except the time, such as the revision.
        """
        row = self._rows.get(key)
        return row if row is not None and row.state == state else None

    def make_row(self, key: str, state: Any, make: Callable[[], Row]) -> CachedRow:
        """Make and cache the row of an object. If another answer is making it, wait for that in slices instead."""
        while key in self._making and slices.give_turn():
            earlier = self.find_row(key, state)
            if earlier is not None:
                return earlier
        self._making.add(key)
        try:
            row = make()
        finally:
            self._making.discard(key)
        return self.cache_row(key, state, row)

    def cache_row(self, key: str, state: Any, row: Row) -> CachedRow:
        """Cache a row in place of that of an earlier state."""
        cached = CachedRow(state, *self._share_texts(row))
        earlier = self._rows.pop(key, None)
        if earlier is not None:
            self._size -= earlier.size
        self._rows[key] = cached
        self._size += cached.size
        while self._size > self._limit:
            self._drop_row()
        return cached

    def _share_texts(self, row: Row) -> tuple[Row, int, int]:
        """Return the row with shared texts, its bytes, and its bytes without those."""
        pieces: list[bytes | float] = []
        length, size = 0, 200
        for piece in row:
            if isinstance(piece, bytes) and piece:
                length += len(piece)
                shared = self._texts.get(piece)
                if shared is not None:
                    piece = shared
                else:
                    size += len(piece)
                    if table.SHARED <= len(piece) <= _TEXT and piece.startswith(_FIELDS):
                        if len(self._texts) >= _TEXTS:
                            del self._texts[next(iter(self._texts))]
                        self._texts[piece] = piece
            pieces.append(piece)
        return tuple(pieces), length, size

    def _drop_row(self) -> None:
        """Drop a row, usually the newest: lists are read from the start, so dropping the oldest would lose every row.

        One in 8 dropped rows is the oldest, because its object may be deleted.
        """
        self._drop_count += 1
        key = next(iter(self._rows)) if self._drop_count % _OLD == 0 else next(reversed(self._rows))
        self._size -= self._rows.pop(key).size
