"""The modes of generated walks, and the compiled parts that equal nodes share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from types import FunctionType
from typing import Any

from podless.runtime.dataclass import dataclass
from podless.runtime.memo import is_off_loop

# memory of a compiled part in bytes, plus that for each byte of its code; includes tables, nodes and shapes
_PART_BYTES, _BYTES_PER_CODE_BYTE = 2000, 4


@dataclass(frozen=True, slots=True)
class Mode:
    """The steps of a walk: prune, fill in defaults, check."""

    prune: bool = False
    fill: bool = False
    check: bool = False
    nested: bool = False  # the walk is below allOf, anyOf, oneOf or not, which only check
    keep: bool = False  # unknown fields stay
    root: bool = False  # the value is a whole object, whose apiVersion, kind and metadata are handled elsewhere
    name: str = field(default="", compare=False)  # names the walk, if over whole objects


NORMALIZE = Mode(prune=True, fill=True, root=True, name="normalize")
CHECK = Mode(check=True, root=True, name="check")
PRUNE = Mode(prune=True, root=True, name="prune")
FILL = Mode(fill=True, root=True, name="fill")
ADMIT = Mode(prune=True, fill=True, check=True, root=True, name="admit")


class SharedParts(dict[tuple[Mode, bytes], Any]):
    """The parts of all versions of a definition, the `NodeFunction`s of schema/compile.py, by mode and key of the node.

    count: receives the bytes of parts that the loop compiles.
    """

    __slots__ = ("_count",)

    def __init__(self, count: Callable[[int], None] | None = None) -> None:
        super().__init__()
        self._count = count

    def count_part(self, run: FunctionType) -> None:
        """Count a compiled part."""
        self.count_bytes(_PART_BYTES + _BYTES_PER_CODE_BYTE * len(run.__code__.co_code))

    def count_bytes(self, size: int) -> None:
        """Count bytes that are kept. Work off the loop drops its parts, or `Kind.complete` weighs them."""
        if self._count is not None and not is_off_loop():
            self._count(size)
