"""Lines of Python, and the values that they stand for."""

from __future__ import annotations

from typing import Any

from podless.cel.declared import Decl
from podless.cel.runtime import GLOBALS
from podless.cel.types import Type


class Value:
    """A Python expression. decl: it gives JSON of this declaration, not yet a value of the language."""

    __slots__ = ("code", "decl", "kind")

    def __init__(self, code: str, kind: Type, decl: Decl | None = None) -> None:
        self.code = code
        self.kind = kind
        self.decl = decl


class Writer:
    """Lines of Python, and the constants that they name."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.names: dict[str, Any] = dict(GLOBALS)
        self.count = 0
        self.pending = 0
        self.loops = 0
        self.timed = False

    def tick(self) -> None:
        """Look at the clock now and then, before work in a loop whose cost is less than its time."""
        if self.loops:
            self.timed = True
            self.line("n += 1")
            self.line("if not n & 15 and clock() > end: raise CostExceeded")

    def line(self, text: str) -> None:
        """One line, after the cost of what was before it."""
        self.lines.append(f"{' ' * self.depth}{text}")

    def spend(self, cost: int | str) -> None:
        """Count a cost, known now or found by an expression."""
        if isinstance(cost, int):
            self.pending += cost
        else:
            self.line(f"c += {cost}")

    def settle(self) -> None:
        """Write down the cost that has been counted."""
        if self.pending:
            self.line(f"c += {self.pending}")
            self.pending = 0

    def temp(self) -> str:
        """A name that is used nowhere else."""
        self.count += 1
        return f"t{self.count}"

    def keep(self, code: str) -> str:
        """A name for what an expression gives."""
        name = self.temp()
        self.line(f"{name} = {code}")
        return name

    def constant(self, value: Any) -> str:
        """A name for a value."""
        self.count += 1
        name = f"k{self.count}"
        self.names[name] = value
        return name

    def open(self, head: str) -> None:
        """Begin a block."""
        self.settle()
        self.line(head)
        self.depth += 1

    def close(self) -> None:
        """End a block."""
        self.settle()
        if self.lines[-1].endswith(":"):
            self.line("pass")
        self.depth -= 1
