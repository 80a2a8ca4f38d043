"""Tables in text files beside the code. Two or more spaces separate the parts of a row; # starts a comment line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

_GAP = re.compile(r" {2,}")
_BYTES: int = getattr(os, "O_BINARY", 0)  # Windows would translate line breaks


def read_rows(path: Path) -> Iterator[list[str]]:
    """Yield the parts of each row."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield _GAP.split(line)


def read_blocks(path: Path) -> dict[str, list[list[str]]]:
    """Return the rows of each block, by its header: a line that the indented rows follow."""
    blocks: dict[str, list[list[str]]] = {}
    for header, *row in read_rows(path):
        if header:
            rows = blocks.setdefault("  ".join((header, *row)), [])
        else:
            rows.append(row)
    return blocks


def read_part(path: Path, start: int, size: int) -> bytes:
    """Return bytes of a file. It takes a tenth of the time of a file object."""
    file = os.open(path, os.O_RDONLY | _BYTES)
    try:
        os.lseek(file, start, os.SEEK_SET)
        return os.read(file, size)
    finally:
        os.close(file)
