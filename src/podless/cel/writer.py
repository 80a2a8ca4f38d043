"""Writes lines of Python, and names for their values.

Python's compiler accepts at most 20 nested blocks and 100 levels of indentation. Code nested deeper than MAX_DEPTH
therefore goes into a separate function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from podless.cel.bounds import COST_PER_CHARGE, PAUSE_SECONDS
from podless.cel.runtime import GLOBALS
from podless.cel.schematypes import Decl
from podless.runtime.dataclass import dataclass

MAX_DEPTH = 10  # levels of indentation; a block that starts there adds at most three more
MAX_LENGTH = 200  # characters of one expression, which limits its brackets too
_NAME = re.compile(r"\b[tv][0-9]+\b")


@dataclass(slots=True, eq=False)
class Value:
    """A Python expression. decl: it returns JSON of this declaration, not yet a CEL value."""

    code: str
    decl: Decl | None = None


class CodeWriter:
    """Lines of Python, and the constants that they use."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.names: dict[str, Any] = dict(GLOBALS)
        self.count = 0
        self.pending = 0
        self.loops = 0
        self.timed = self.looped = False
        self.functions: list[str] = []

    def write_clock_check(self) -> None:
        """Write a check of the clock in every fourth iteration, before work that takes longer than its cost says."""
        if self.loops:
            self.timed = True
            self.write_line("n += 1")
            self.write_line("if not n & 3 and clock() > due: due, until = pause(until)")

    def write_cost_check(self) -> None:
        """Write a check of the cost at the end of a loop's body; it also pauses for other requests now and then."""
        self.write_cost()
        self.looped = True
        self.write_line("if c > stop: stop = check_loop_cost(c, limit)")

    def write_line(self, text: str) -> None:
        """Write one line."""
        self.lines.append(f"{' ' * self.depth}{text}")

    def add_cost(self, cost: int | str) -> None:
        """Add a cost: a number, or an expression."""
        if isinstance(cost, int):
            self.pending += cost
        else:
            self.write_line(f"c += {cost}")

    def write_cost(self) -> None:
        """Write the cost added since the last call."""
        if self.pending:
            self.write_line(f"c += {self.pending}")
            self.pending = 0

    def name_temp(self) -> str:
        """Return a new variable name."""
        self.count += 1
        return f"t{self.count}"

    def assign_temp(self, code: str) -> str:
        """Assign an expression to a variable, and return its name."""
        name = self.name_temp()
        self.write_line(f"{name} = {code}")
        return name

    def name_constant(self, value: Any) -> str:
        """Return a name for a constant."""
        self.count += 1
        name = f"k{self.count}"
        self.names[name] = value
        return name

    def block(self, head: str) -> CodeWriter:
        """Begin a block, the lines that are written in a `with` statement."""
        self.write_cost()
        self.write_line(head)
        self.depth += 1
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, failed: object, *_: object) -> None:
        if failed is None:
            self.write_cost()
            if self.lines[-1].endswith(":"):
                self.write_line("pass")
            self.depth -= 1

    def begin_function(self, exact: bool) -> None:
        """Start the body of a function. exact: an error keeps its cost."""
        self.depth = 1
        if exact:
            self.write_line("try:")
            self.depth = 2

    def begin_separate_function(self, exact: bool) -> SeparateFunction:
        """Continue in a separate function."""
        self.write_cost()
        return SeparateFunction(self, exact)

    def join_source(self, head: str) -> str:
        """Return the whole source. head: of the main function."""
        prologue = " c = 0\n"
        if self.looped or self.functions:
            prologue += f" stop = limit if limit < {COST_PER_CHARGE} else {COST_PER_CHARGE}\n"
        if self.timed or self.functions:
            prologue += f" n = 0\n until = 0.0\n due = clock() + {PAUSE_SECONDS}\n"
        return "\n".join((*self.functions, f"{head}\n{prologue}" + "\n".join(self.lines), ""))


class SeparateFunction:
    """A separate function for code that is nested too deep."""

    def __init__(self, writer: CodeWriter, exact: bool) -> None:
        self._writer = writer
        self._exact = exact
        self._outer_block = writer.lines, writer.depth
        writer.lines = []
        writer.begin_function(exact)

    def end(self, code: str, scope: Iterable[str]) -> str:
        """Return `code` from the function, and return the name of its result. scope: code that the body may use."""
        writer = self._writer
        writer.write_cost()
        writer.write_line(f"return {code}, c, n, until, None")
        if self._exact:
            writer.lines += [" except EvaluationError as error:", "  return None, c, n, until, error"]
        writer.count += 1
        name = f"f{writer.count}"
        used = sorted({variable for expression in scope for variable in _NAME.findall(expression)})
        arguments = ", ".join(("c", "limit", "stop", "n", "due", "until", *used))
        writer.functions.append("\n".join((f"def {name}({arguments}):", *writer.lines)))
        writer.lines, writer.depth = self._outer_block
        result = writer.name_temp()
        writer.write_line(f"{result}, c, n, until, error = {name}({arguments})")
        if self._exact:
            writer.write_line("if error is not None: raise error")
        return result
