"""Literals that no evaluation could use: found when an expression is compiled, as kube-apiserver does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podless.cel import homogeneous, patterns
from podless.cel.decls import Declarations
from podless.cel.errors import EvaluationError, Issue, ProgramError
from podless.cel.library import standard
from podless.cel.syntax import Call, Expr, ListOf, Literal, nodes

_CONVERSIONS = {
    "int": standard.to_int,
    "uint": standard.to_uint,
    "double": standard.to_double,
    "bool": standard.to_bool,
    "string": standard.to_string,
    "bytes": standard.to_bytes,
    "timestamp": standard.to_timestamp,
    "duration": standard.to_duration,
}


def literals(tree: Expr, declarations: Declarations) -> list[Issue]:
    """Literals that are not what they have to be: of one type, a duration, a timestamp, a pattern or a format."""
    found: dict[tuple[int, str], Issue] = {}
    if declarations.homogeneous:
        for issue in homogeneous.check(tree):
            found.setdefault((issue.offset, issue.message), issue)
    for node in nodes(tree):
        if isinstance(node, Call):
            for issue in _call(node, declarations):
                found.setdefault((issue.offset, issue.message), issue)
    return list(found.values())


def _call(node: Call, declarations: Declarations) -> Iterator[Issue]:
    check = declarations.overloads[node.overloads[0]].check if node.overloads else None
    if check is not None and isinstance(node.target, Literal) and isinstance(node.args[0], ListOf):
        problem = check(node.target.value, node.args[0].items)
        if problem is not None:
            yield Issue((problem[0] or node).offset, problem[1])
    if not node.args or not isinstance(node.args[0], Literal):
        return
    arg = node.args[0]
    if node.function in ("duration", "timestamp"):
        if _fails(node.function, arg.value):
            yield Issue(arg.offset, f"invalid {node.function} argument")
    elif node.function == "matches":
        # of the global function that is the text, which is taken for a pattern all the same
        try:
            patterns.compile(arg.value)
        except patterns.PatternError:
            yield Issue(arg.offset, "invalid matches argument")


def _fails(function: str, value: Any) -> bool:
    try:
        _CONVERSIONS[function](value)
    except EvaluationError:
        return True
    return False


def constants(tree: Expr) -> None:
    """Constants that are worked out before the first evaluation. Raises ProgramError for what is wrong with one."""
    for node in nodes(tree):
        if not isinstance(node, Call):
            continue
        try:
            _constant(node)
        except EvaluationError as error:
            raise ProgramError(str(error)) from None


def _constant(node: Call) -> None:
    args = node.args if node.target is None else [node.target, *node.args]
    if node.function in ("matches", "find", "findAll") and isinstance(args[1], Literal):
        patterns.compile(args[1].value)
    elif node.function in _CONVERSIONS and node.target is None and isinstance(args[0], Literal):
        _CONVERSIONS[node.function](args[0].value)
