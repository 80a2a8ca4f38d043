"""Compresses packed states.

Every 32nd state of a key is stored whole (a keyframe). The others are deflated with their keyframe as the dictionary,
which leaves about 60 bytes of 1 KB. Any state can be read from two rows.
"""

from __future__ import annotations

import sqlite3

from podless.store.packing import pack_value, unpack_value

_INTERVAL = 32  # states from one keyframe of a key to the next
_CACHED = 4 << 20  # bytes of cached keyframes


class KeyframeCache:
    """A cache of the last keyframe of each key. Methods raise sqlite3.Error."""

    def __init__(self) -> None:
        # by the key's number: revision of its keyframe, value, number of states that refer to it
        self._frames: dict[int, tuple[int, bytes, int]] = {}
        self._size = 0

    def clear(self) -> None:
        """Drop all cached keyframes, because the database may have others."""
        self._frames.clear()
        self._size = 0

    def pack_value(
        self, database: sqlite3.Connection, name: int, revision: int, value: bytes | None, *, first: bool
    ) -> tuple[int, bytes | None]:
        """Return the revision of a value's keyframe (0 if the value is a keyframe itself), and the value to store.

        first: the object has no keyframe yet.
        """
        if value is None:
            self.drop_keyframe(name)
            return 0, None
        frame = None if first else self._read_frame(database, name)
        if frame is not None and frame[2] < _INTERVAL:
            packed = pack_value(value, frame[1])
            if len(packed) * 2 < len(value):
                self._frames[name] = (frame[0], frame[1], frame[2] + 1)
                return frame[0], packed
        self.drop_keyframe(name)
        self._frames[name] = (revision, value, 0)
        self._size += len(value)
        while self._size > _CACHED and len(self._frames) > 1:
            self.drop_keyframe(next(iter(self._frames)))
        return 0, pack_value(value)

    def drop_keyframe(self, name: int) -> None:
        """Drop the cached keyframe of a key."""
        frame = self._frames.pop(name, None)
        if frame is not None:
            self._size -= len(frame[1])

    def _read_frame(self, database: sqlite3.Connection, name: int) -> tuple[int, bytes, int] | None:
        frame = self._frames.get(name)
        if frame is not None:
            return frame
        newest = "SELECT revision, base, value IS NULL FROM past WHERE name = ? ORDER BY revision DESC LIMIT 1"
        row = database.execute(newest, (name,)).fetchone()
        if row is None or row[2]:
            return None
        base = row[1] or row[0]
        statement = "SELECT value FROM past WHERE name = ? AND revision = ?"
        since = database.execute("SELECT count(*) FROM past WHERE name = ? AND revision > ?", (name, base)).fetchone()
        value = unpack_value(database.execute(statement, (name, base)).fetchone()[0])
        self._frames[name] = frames = (base, value, since[0])
        self._size += len(value)
        return frames
