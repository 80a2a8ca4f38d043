"""Limits the time that one request may spend on patterns in its objects, because RE2 holds the interpreter."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

MOST: Final = 100_000_000  # nanoseconds, by runtime/patternprice.py


class Allowance:
    """The remaining time, in nanoseconds."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MOST

    def spend(self, price: float) -> bool:
        """Spend some time. Returns False, and spends nothing, if less is left."""
        if price > self.left:
            return False
        self.left -= int(price)
        return True


# of the request under way; None for work that is not a request's
ALLOWANCE: ContextVar[Allowance | None] = ContextVar("allowance", default=None)
