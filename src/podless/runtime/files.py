"""Writes files atomically, readable only by their owner."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

from podless.runtime.option import StartError

log = logging.getLogger("podless")


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
