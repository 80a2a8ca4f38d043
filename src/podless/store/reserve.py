"""Room on the disk that the SQLite engine keeps back: on a full disk deletes go on, and make room for the rest."""

from __future__ import annotations

import os
from pathlib import Path

_BYTES = 8 << 20  # the log of a few hundred deletes, or of any number where the database can take them over


class Reserve:
    """A file beside the database that is as large as the room. released: the room is not kept back at present."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f"{path.name}-reserve")
        self.released = True

    def take(self) -> None:
        """Keep the room back. Raises OSError where there is none."""
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                os.posix_fallocate(file, 0, _BYTES)
            except OSError:
                os.truncate(file, 0)  # some file systems keep the part that there was room for
                raise
        finally:
            os.close(file)
        self.released = False

    def release(self) -> None:
        """Give the room up, for who writes next. Raises OSError."""
        if not self.released:
            os.truncate(self._path, 0)
            self.released = True
