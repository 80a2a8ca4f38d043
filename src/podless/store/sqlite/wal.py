"""Detects whether SQLite's write-ahead log lost durable commits.

Format: https://www.sqlite.org/fileformat2.html#walformat

After a crash, SQLite reads the log up to the first frame with a wrong checksum, because a torn write looks like that. A
flipped bit looks the same, and loses everything after it. A transaction starts only when the one before it is durable.
So if two or more transactions end after the place where SQLite stopped, the cause was not a torn write.
"""

from __future__ import annotations

import struct
from pathlib import Path

_HEADER = struct.Struct(">8I")  # magic, version, page size, checkpoint, two salts, two checksums
_FRAME = struct.Struct(">6I")  # page, pages of the database after a commit or 0, two salts, two checksums
_MAGIC = 0x377F0682  # with the last bit set, checksums are big-endian
_WORD = 0xFFFFFFFF


class DamagedLog(Exception):
    """The log's header is not one that SQLite wrote."""


def find_commits(path: Path) -> list[int]:
    """Return the numbers (from 1) of frames whose heads say that they end a transaction. Raises DamagedLog, OSError."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return []
    with file:
        raw = file.read(_HEADER.size)
        if len(raw) < _HEADER.size:
            return []
        magic, _, page, _, *salts, first, second = _HEADER.unpack(raw)
        if magic & ~1 != _MAGIC or _checksum(raw[:24], big=bool(magic & 1)) != (first, second):
            raise DamagedLog
        commits, number, offset = [], 0, _HEADER.size
        while len(head := file.read(_FRAME.size)) == _FRAME.size:
            number += 1
            _, ends, *checksum, _, _ = _FRAME.unpack(head)
            if ends and checksum == salts:
                commits.append(number)
            offset += _FRAME.size + page
            file.seek(offset)
        return commits


def count_readable(path: Path) -> int:
    """Return the number of frames with valid checksums, which SQLite reads. Takes 1 s for 4 MB. Raises OSError."""
    with path.open("rb") as file:
        magic, _, page, _, *salts, first, second = _HEADER.unpack(file.read(_HEADER.size))
        sums, number = (first, second), 0
        while len(frame := file.read(_FRAME.size + page)) == _FRAME.size + page:
            _, _, *salts_of_frame, first, second = _FRAME.unpack_from(frame)
            sums = _checksum(frame[:8] + frame[_FRAME.size :], big=bool(magic & 1), start=sums)
            if salts_of_frame != salts or sums != (first, second):
                break
            number += 1
        return number


def _checksum(data: bytes, *, big: bool, start: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """Return SQLite's checksum of a header, or of a frame that continues from the previous one."""
    first, second = start
    words = struct.unpack(f"{'>' if big else '<'}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & _WORD
        second = (second + odd + first) & _WORD
    return first, second
