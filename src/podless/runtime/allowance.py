"""Limits the time that one request may spend on compiling patterns, because RE2 holds the GIL meanwhile."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

MOST: Final = 100_000_000  # nanoseconds, as runtime/patternprice.py estimates them


class Allowance:
    """The remaining time of one request, in nanoseconds."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MOST

    def spend(self, price: float) -> bool:
        """Spend some time. Returns False, and spends nothing, if less is left."""
        if price > self.left:
            return False
        self.left -= int(price)
        return True


# of the present request; None for work that belongs to no request
ALLOWANCE: ContextVar[Allowance | None] = ContextVar("allowance", default=None)
