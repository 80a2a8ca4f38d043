"""Writes files atomically, readable only by their owner; reads files and standard input."""

from __future__ import annotations

import logging
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from podless.runtime.option import ReportedError, StartError

log = logging.getLogger("podless")

MAX = 256 << 20  # bytes that are read into memory of files that may have no end, such as pipes and devices
STANDARD_INPUT = "standard input"
_PIECE = 1 << 20


def write_file(path: Path, data: bytes, mode: int) -> None:
    """Write a file in one step. It never exists with wider permissions than `mode`. Raises OSError."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None


def describe_fault(error: OSError, path: object = None) -> str:
    """Return the path and the reason of a file error. path: used if the error names no file."""
    named, reason = error.filename or path, (error.strerror or str(error)).lower()
    if isinstance(error, FileNotFoundError) and (missing := _missing_folder(named)):
        reason = f"the folder {missing} does not exist"
    elif isinstance(error, FileExistsError) and named and Path(str(named)).is_file():
        reason = "is a file, not a folder"
    return f"{named}: {reason}" if named else reason


def _missing_folder(path: object) -> Path | None:
    """Return the folder of a path if that is missing, too."""
    if not isinstance(path, str | os.PathLike) or not path:
        return None
    folder = Path(path).parent
    try:
        return None if folder.exists() else folder
    except OSError:
        return None


def make_private(path: Path) -> None:
    """Remove other users' access from an existing file or folder, and log that.

    Raises StartError if other users have access and another user owns it.
    """
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return
    if mode & 0o077 == 0:
        return
    try:
        path.chmod(mode & 0o700)
    except PermissionError:
        raise StartError(f"{path}: other users have access (mode {mode:o}), and another user owns it") from None
    log.warning("files: restricted access to %s: its mode was %o and is %o now", path, mode, mode & 0o700)


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
