"""Limits the time that one request may spend on compiling patterns, because RE2 holds the GIL meanwhile."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

FULL_ALLOWANCE: Final = 100_000_000  # nanoseconds, as runtime/patternprice.py estimates them


class TimeAllowance:
    """The remaining time of one request, in nanoseconds."""

    __slots__ = ("remaining",)

    def __init__(self) -> None:
        self.remaining = FULL_ALLOWANCE

    def spend(self, price: float) -> bool:
        """Spend some time. Returns False, and spends nothing, if less is left."""
        if price > self.remaining:
            return False
        self.remaining -= int(price)
        return True


# of the present request; None for work that belongs to no request
ALLOWANCE: ContextVar[TimeAllowance | None] = ContextVar("allowance", default=None)
