"""Rows of tables that were shown before: lists are shown again and again, and few objects change in between."""

from __future__ import annotations

from typing import Any

from podless.publish.table import Row

_MOST = 32 << 20  # bytes of rows
_OLD = 8  # of so many rows that have to go, one is the oldest


class Rows:
    """Rows by the keys of their objects, each with the state that it shows."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._size = 0
        self._gone = 0
        self._rows: dict[str, tuple[Any, Row, int]] = {}

    def find(self, key: str, state: Any) -> Row | None:
        """The row of an object in this state. state: all that the row depends on but the time, such as the revision."""
        known = self._rows.get(key)
        return known[1] if known is not None and known[0] == state else None

    def keep(self, key: str, state: Any, row: Row) -> None:
        """Remember a row in place of that of an earlier state."""
        size = 200 + sum(len(piece) for piece in row if isinstance(piece, bytes))
        known = self._rows.pop(key, None)
        if known is not None:
            self._size -= known[2]
        self._rows[key] = state, row, size
        self._size += size
        while self._size > self._most:
            self._drop()

    def _drop(self) -> None:
        """Lists are read from the start: where one does not fit, what came last is needed last.

        The oldest go now and then, for they may be of objects that are gone.
        """
        self._gone += 1
        key = next(iter(self._rows)) if self._gone % _OLD == 0 else next(reversed(self._rows))
        self._size -= self._rows.pop(key)[2]
