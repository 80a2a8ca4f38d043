"""Errors of expressions, at compile time and at evaluation."""

from __future__ import annotations

from collections.abc import Iterable

from podless.runtime.dataclass import dataclass

_MAX_ISSUES = 100
_MAX_LINE = 16384


@dataclass(frozen=True, slots=True)
class Issue:
    """One error in a source text. offset: its position in characters; -1 for none."""

    offset: int
    message: str


def locate_offset(source: str, offset: int) -> tuple[int, int]:
    """Return line (from 1) and column (from 0) of an offset; -1 and -1 for no position."""
    if offset < 0:
        return -1, -1
    line = source.count("\n", 0, offset)
    return line + 1, offset - (source.rfind("\n", 0, offset) + 1)


def display_issue(source: str, issue: Issue) -> str:
    """Format an issue as cel-go does: position, message, the line, and a caret."""
    line, column = locate_offset(source, issue.offset) if source else (1, -1)
    text = f"ERROR: <input>:{line}:{column + 1}: {issue.message}"
    if line < 1 or column < 0:
        return text
    start = issue.offset - column
    end = source.find("\n", start)  # no split: each of many issues would list all lines
    source_line = source[start : end if end >= 0 else len(source)].replace("\t", " ")
    if len(source_line.encode("utf-8", "replace")) > _MAX_LINE:
        return text
    marks = "".join("．" if ord(char) > 127 else "." for char in source_line[:column])
    mark = "＾" if len(source_line) > column and ord(source_line[column]) > 127 else "^"
    return f"{text}\n | {source_line}\n | {marks}{mark}"


class CelError(Exception):
    """The base class of all errors of this package."""


class CompileError(CelError):
    """The source is not a valid expression, or its types are wrong. issues: the errors in the order of the text."""

    def __init__(self, source: str, issues: Iterable[Issue]) -> None:
        all_issues = list(issues)
        first_issues = sorted(all_issues[:_MAX_ISSUES], key=lambda issue: locate_offset(source, issue.offset))
        texts = [display_issue(source, issue) for issue in first_issues]
        if len(all_issues) > _MAX_ISSUES:
            texts.append(f"{len(all_issues) - _MAX_ISSUES} more errors were truncated")
        super().__init__("\n".join(texts))
        self.source = source
        self.issues = tuple(first_issues)

    def __reduce__(self) -> tuple[type[CompileError], tuple[str, tuple[Issue, ...]]]:
        return CompileError, (self.source, self.issues)


class ProgramError(CelError):
    """A constant of a valid expression is invalid: a pattern, or a text that cannot be converted."""


class EvaluationError(CelError):
    """An evaluation failed, for example because of a missing key or an overflow.

    cost: the cost up to the error.
    """

    cost = 0


class NoOverload(EvaluationError):
    """No overload matches the arguments of a call; found at evaluation."""

    def __init__(self, message: str = "no such overload") -> None:
        super().__init__(message)


class NoSuchKey(EvaluationError):
    """A map or object does not have this key or field."""

    def __init__(self, key_text: str) -> None:
        super().__init__(f"no such key: {key_text}")


class Halted(EvaluationError):
    """An error that ends the evaluation, even inside && and ||."""


class Panic(Halted):
    """An evaluation that makes kube-apiserver's evaluator panic; the text is that of the panic."""

    def __init__(self, message: str = "interface conversion: *types.Err is not traits.Lister: missing method Add"):
        super().__init__(f"internal error: {message}")


class CostExceeded(Halted):
    """An evaluation exceeded its cost limit."""

    def __init__(self, cost: int = 0) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")
        self.cost = cost
