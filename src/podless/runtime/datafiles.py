"""Tables in text files beside the code. Two or more spaces separate the parts of a row; # starts a comment line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_GAP = re.compile(r" {2,}")


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
