"""Where the audit log goes and what it tells."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Audit:
    """path: the file, - for standard output. policy: a file with what is told; None for the metadata of every request.

    size: bytes at which the file is set aside, 0 for never. backups: how many of these are kept, 0 for all.
    """

    path: Path
    policy: Path | None = None
    size: int = 100 << 20
    backups: int = 10
