"""How much one evaluation may look at and make, whatever it costs."""

from __future__ import annotations

from podless.cel.errors import CostExceeded

# no value grows beyond so many bytes, and nothing looks at more parts of values at once, whatever it costs
MAX_SIZE = 64 << 20
MAX_WORK = 5_000_000
_ITEM = 16  # bytes that an item of a list is taken for


def bounded(size: int) -> None:
    """Refuse to make a value of such a size."""
    if size > MAX_SIZE:
        raise CostExceeded


def bounded_list(count: int) -> None:
    """Refuse to make a list of so many items."""
    bounded(count * _ITEM)


def afford(work: int) -> None:
    """Refuse to look at so many parts of values."""
    if work > MAX_WORK:
        raise CostExceeded
