"""Reads standard input, and files that may have no end, such as pipes and devices, up to a limit."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

MAX = 256 << 20  # bytes that are read into memory
STANDARD_INPUT = "standard input"
_PIECE = 1 << 20


class BadInput(Exception):
    """An input is closed or too long. The text is one line and names the input."""


def open_standard_input() -> BinaryIO:
    """Return standard input. Raises BadInput if it is closed."""
    if sys.stdin is None:
        raise BadInput(f"{STANDARD_INPUT}: closed; name a file, or pass the manifests through a pipe")
    return sys.stdin.buffer


def read_standard_input() -> bytes:
    """Return all of standard input. Raises BadInput, OSError."""
    return b"".join(read_pieces(open_standard_input(), STANDARD_INPUT, MAX))


def read_path(path: Path) -> bytes:
    """Return the bytes of a file. Regular files have any length. Raises BadInput, OSError."""
    if path.is_file():
        return path.read_bytes()
    with path.open("rb") as file:
        return b"".join(read_pieces(file, str(path), MAX))


def read_pieces(file: BinaryIO, name: str, limit: int) -> Iterator[bytes]:
    """Yield the pieces of a stream. Raises BadInput if it has more than `limit` bytes, OSError."""
    size = 0
    while piece := file.read(_PIECE):
        size += len(piece)
        if size > limit:
            raise BadInput(f"{name}: longer than {limit >> 20} MiB; save it in a file, and name the file")
        yield piece
