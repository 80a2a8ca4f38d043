"""The compiled parts that simple nodes of one schema share, and the memory that compiling on the loop adds."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from podless.runtime.memo import is_off_loop
from podless.schema.mode import Mode

# memory of a compiled part in bytes, plus that for each byte of its code; includes tables, nodes and shapes
_PART, _PER_BYTE = 2000, 4


class Leaves(dict[tuple[Mode, bytes], Any]):
    """The parts for simple values, the `NodeFunction`s of schema/compile.py, by mode and schema.

    count: receives the bytes of parts that the loop compiles.
    """

    __slots__ = ("_count",)

    def __init__(self, count: Callable[[int], None] | None = None) -> None:
        super().__init__()
        self._count = count

    def count_part(self, run: FunctionType) -> None:
        """Count a compiled part. Work off the loop drops its parts, or `Kind.complete` weighs them."""
        if self._count is not None and not is_off_loop():
            self._count(_PART + _PER_BYTE * len(run.__code__.co_code))
