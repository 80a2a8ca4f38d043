"""Finds invalid literals, and lists and maps of mixed types, at compile time, as kube-apiserver does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from podless.cel import access, patterns, types
from podless.cel.dispatch import guard_overloads
from podless.cel.errors import EvaluationError, Issue, ProgramError
from podless.cel.functions import Declarations
from podless.cel.library import standard
from podless.cel.syntax import CallExpr, Expr, Ident, ListExpr, LiteralExpr, MapExpr, walk_nodes
from podless.cel.types import Type
from podless.cel.values import Duration, Timestamp, TypeValue

# functions whose literal first argument is checked. For the global form of matches() that is the text, not the pattern
_READERS: dict[str, Callable[[str], Any]] = {
    "duration": standard.to_duration,
    "matches": patterns.compile_pattern,
    "timestamp": standard.to_timestamp,
}
_CONVERSIONS = frozenset(("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"))
PATTERNS = frozenset(("matches", "find", "findAll"))
_EXEMPT = "format"
_INDEXES = frozenset(("_[_]", "_[?_]"))
_GO_TYPES = {
    bytes: "types.Bytes",
    type(None): "types.Null",
    Timestamp: "types.Timestamp",
    Duration: "types.Duration",
    TypeValue: "*types.Type",
}


def check_literals(tree: Expr, declarations: Declarations) -> list[Issue]:
    """Return an issue for each invalid literal: mixed types, durations, timestamps, patterns and formats."""
    issues: dict[tuple[int, str], Issue] = {}
    if declarations.kubernetes:
        for issue in check_homogeneous(tree):
            issues.setdefault((issue.offset, issue.message), issue)
    for node in walk_nodes(tree):
        if isinstance(node, CallExpr):
            for issue in _check_call(node, declarations):
                issues.setdefault((issue.offset, issue.message), issue)
    return list(issues.values())


def _check_call(node: CallExpr, declarations: Declarations) -> Iterator[Issue]:
    check = declarations.overloads[node.overloads[0]].check if node.overloads else None
    if check is not None and isinstance(node.target, LiteralExpr) and isinstance(node.args[0], ListExpr):
        problem = check(node.target.value, node.args[0].items)
        if problem is not None:
            yield Issue((problem[0] or node).offset, problem[1])
    if not node.args or not isinstance(node.args[0], LiteralExpr):
        return
    arg = node.args[0]
    if node.function in _READERS:
        try:
            _READERS[node.function](arg.value)
        except EvaluationError:
            yield Issue(arg.offset, f"invalid {node.function} argument")


def check_constants(tree: Expr, declarations: Declarations) -> None:
    """Evaluate constant expressions before the first evaluation. Raises ProgramError for an invalid one.

    Conversions of constants are constants, and so are lists and maps of them; constant patterns are compiled. Source:
    cel-go's optimizations of a program.
    """
    constants: dict[Expr, Any] = {}
    for node in reversed(list(walk_nodes(tree, backwards=True))):
        try:
            _fold_constant(node, constants, declarations)
        except EvaluationError as error:
            raise ProgramError(str(error)) from None


def _fold_constant(node: Expr, constants: dict[Expr, Any], declarations: Declarations) -> None:
    if isinstance(node, LiteralExpr):
        constants[node] = node.value
    elif isinstance(node, Ident):
        if node.constant:
            constants[node] = node.value
    elif isinstance(node, ListExpr):
        if not node.optional and all(item in constants for item in node.items):
            constants[node] = [constants[item] for item in node.items]
    elif isinstance(node, MapExpr):
        if all(child in constants for child in node.list_children()) and not any(
            entry.optional for entry in node.entries
        ):
            entries = [(constants[entry.key], constants[entry.value]) for entry in node.entries]
            if all(access.is_key(key) for key, _ in entries):
                constants[node] = dict(entries)
    elif isinstance(node, CallExpr):
        args = node.list_children()
        if node.function in PATTERNS and len(args) > 1 and isinstance(pattern := constants.get(args[1]), str):
            patterns.compile_pattern(pattern)
        if node.function in _INDEXES and args[1] in constants and not access.is_key(constants[args[1]]):
            raise ProgramError(f"invalid qualifier type: {_name_go_type(constants[args[1]])}")
        if node.function in _CONVERSIONS and len(args) == 1 and args[0] in constants:
            call = guard_overloads(node.function, [declarations.overloads[name] for name in node.overloads])
            constants[node] = call(constants[args[0]])


def _name_go_type(value: Any) -> str:
    """Return the type of a value of cel-go, as %T formats it."""
    return _GO_TYPES.get(value.__class__, "*types.baseMap" if isinstance(value, dict) else "*types.baseList")


def check_homogeneous(tree: Expr) -> list[Issue]:
    """Return an issue for each item of a list or map literal whose type differs from that of the first item.

    tree: a checked tree, in which items of mixed types are dyn; dyn only matches dyn. The arguments of format() may
    differ. Source: cel-go's validator of homogeneous aggregate literals.
    """
    issues: list[Issue] = []
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, CallExpr) and node.function == _EXEMPT:
            continue
        if isinstance(node, ListExpr):
            items = [(item, _type_of_item(item, index in node.optional)) for index, item in enumerate(node.items)]
            issues += list(_find_mismatches(items))[:1]
        elif isinstance(node, MapExpr):
            issues += _find_mismatches([(entry.key, entry.key.type) for entry in node.entries])
            issues += _find_mismatches(
                [(entry.value, _type_of_item(entry.value, entry.optional)) for entry in node.entries]
            )
        todo.extend(reversed(node.list_children()))
    return issues


def _type_of_item(item: Expr, optional: bool) -> Type:
    return types.unwrap_optional(item.type)[0] if optional else item.type


def _find_mismatches(items: list[tuple[Expr, Type]]) -> Iterator[Issue]:
    for item, item_type in items[1:]:
        first_type = items[0][1]
        if not types.are_equivalent(first_type, item_type):
            yield Issue(item.offset, f"expected type '{first_type}' but found '{item_type}'")
