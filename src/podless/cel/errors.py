"""What can go wrong with an expression: when it is compiled, and when it is evaluated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_MOST = 100
_LONG = 16384


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing wrong with a source text. offset: where, in characters; -1 for nowhere in particular."""

    offset: int
    message: str


def locate_offset(source: str, offset: int) -> tuple[int, int]:
    """Line (from 1) and column (from 0) of an offset; -1 and -1 for no place."""
    if offset < 0:
        return -1, -1
    line = source.count("\n", 0, offset)
    return line + 1, offset - (source.rfind("\n", 0, offset) + 1)


def display_issue(source: str, issue: Issue) -> str:
    """An issue as cel-go prints it: place, message, the line, and a mark under the place."""
    line, column = locate_offset(source, issue.offset) if source else (1, -1)
    text = f"ERROR: <input>:{line}:{column + 1}: {issue.message}"
    if line < 1 or column < 0:
        return text
    start = issue.offset - column
    end = source.find("\n", start)  # no split: each of many issues would list all lines
    shown = source[start : end if end >= 0 else len(source)].replace("\t", " ")
    if len(shown.encode("utf-8", "replace")) > _LONG:
        return text
    marks = "".join("．" if ord(char) > 127 else "." for char in shown[:column])
    mark = "＾" if len(shown) > column and ord(shown[column]) > 127 else "^"
    return f"{text}\n | {shown}\n | {marks}{mark}"


class CelError(Exception):
    """Anything that this package raises."""


class CompileError(CelError):
    """The source text is no expression, or its types do not fit. issues: what is wrong, in the order of the text."""

    def __init__(self, source: str, issues: Iterable[Issue]) -> None:
        everything = list(issues)
        kept = sorted(everything[:_MOST], key=lambda issue: locate_offset(source, issue.offset))
        texts = [display_issue(source, issue) for issue in kept]
        if len(everything) > _MOST:
            texts.append(f"{len(everything) - _MOST} more errors were truncated")
        super().__init__("\n".join(texts))
        self.source = source
        self.issues = tuple(kept)

    def __reduce__(self) -> tuple[type[CompileError], tuple[str, tuple[Issue, ...]]]:
        return CompileError, (self.source, self.issues)


class ProgramError(CelError):
    """The expression is sound, but a constant in it is not: a pattern or a text that cannot be converted."""


class EvaluationError(CelError):
    """An evaluation has no value, such as for a key that is missing or a number that overflows.

    cost: what was spent before it was found.
    """

    cost = 0


class NoOverload(EvaluationError):
    """The arguments of a call fit no declaration, known only at run time."""

    def __init__(self, message: str = "no such overload") -> None:
        super().__init__(message)


class Halted(EvaluationError):
    """The evaluation ends here, whatever && and || would make of an error."""


class Panic(Halted):
    """An evaluation that ends a real server's evaluator, with what it says of that."""

    def __init__(self, message: str = "interface conversion: *types.Err is not traits.Lister: missing method Add"):
        super().__init__(f"internal error: {message}")


class CostExceeded(Halted):
    """An evaluation was stopped because it did more work than its budget allows."""

    def __init__(self, message: str = "operation cancelled: actual cost limit exceeded") -> None:
        super().__init__(message)


def no_overload(name: str = "", *types: str) -> NoOverload:
    """Return the error of a call with arguments of these types; "" leaves out both, as cel-go does for some."""
    return NoOverload(f"no such overload: {name}({', '.join(types)})") if name else NoOverload()
