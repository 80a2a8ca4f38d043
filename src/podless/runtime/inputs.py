"""Reads standard input, and files that may have no end, such as pipes and devices, up to a limit."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from podless.runtime.files import describe_fault
from podless.runtime.option import ReportedError

MAX = 256 << 20  # bytes that are read into memory
STANDARD_INPUT = "standard input"
_PIECE = 1 << 20


class BadInput(ReportedError):
    """An input is closed, too long or cannot be read. The text is one line and names the input."""


def open_standard_input() -> BinaryIO:
    """Return standard input. Raises BadInput if it is closed."""
    if sys.stdin is None:
        raise BadInput(f"{STANDARD_INPUT}: closed; name a file, or pass the manifests through a pipe")
    return sys.stdin.buffer


def read_standard_input() -> bytes:
    """Return all of standard input. Raises BadInput, OSError."""
    return b"".join(read_pieces(open_standard_input(), STANDARD_INPUT, MAX))


def read_path(path: Path) -> bytes:
    """Return the bytes of a file. Regular files have any length. Raises BadInput."""
    try:
        if path.is_file():
            return path.read_bytes()
        with path.open("rb") as file:
            return b"".join(read_pieces(file, str(path), MAX))
    except OSError as error:
        raise BadInput(describe_fault(error, path)) from None


def read_pieces(file: BinaryIO, name: str, limit: int) -> Iterator[bytes]:
    """Yield the pieces of a stream. Raises BadInput if it has more than `limit` bytes, OSError."""
    size = 0
    while piece := file.read(_PIECE):
        size += len(piece)
        if size > limit:
            raise BadInput(f"{name}: longer than {limit >> 20} MiB; save it in a file, and name the file")
        yield piece
