"""What one request may spend on patterns that come with its objects: RE2 keeps the interpreter while it compiles."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

MOST: Final = 100_000_000  # nanoseconds, by runtime/patternprice.py


class Allowance:
    """What is left of it, in nanoseconds."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MOST

    def take(self, price: float) -> bool:
        """Spend some of it. False where there is not so much left: then nothing is spent."""
        if price > self.left:
            return False
        self.left -= int(price)
        return True


# of the request under way; None for work that is not a request's
ALLOWANCE: ContextVar[Allowance | None] = ContextVar("allowance", default=None)
