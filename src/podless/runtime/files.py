"""Files that are there whole or not at all, and that only their owner can read."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

from podless.runtime.option import StartError

log = logging.getLogger("podless")


def write_file(path: Path, data: bytes, mode: int) -> None:
    """Write a file in one step, readable from its first moment only by those who may. Raises OSError."""
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
    """What went wrong with a file, for a person: where, and why. path: where the error does not say that."""
    where, why = error.filename or path, (error.strerror or str(error)).lower()
    return f"{where}: {why}" if where else why


def make_private(path: Path) -> None:
    """Take the rights of all others from a file or folder that is there, and say so.

    Raises StartError where others have rights and somebody else owns it.
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
