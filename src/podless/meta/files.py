"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_file(path: Path, data: bytes, mode: int) -> None:
    """Write a file in one step, readable from its first moment only by those who may. Raises OSError."""
    temporary = path.with_name(f".{path.name}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    temporary.replace(path)
