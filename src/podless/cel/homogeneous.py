"""Checks that the items of a list or map literal have one type, except in the arguments of format().

Source: cel-go's validator of homogeneous aggregate literals. It runs after the checker, for which items of mixed types
are dyn. The first item decides; dyn only matches dyn.
"""

from __future__ import annotations

from collections.abc import Iterator

from podless.cel import types
from podless.cel.errors import Issue
from podless.cel.syntax import CallExpr, Expr, ListExpr, MapExpr
from podless.cel.types import Type

_EXEMPT = "format"


def check_homogeneous(tree: Expr) -> list[Issue]:
    """Return an issue for each item of a checked tree whose type differs from that of the first item."""
    issues: list[Issue] = []
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, CallExpr) and node.function == _EXEMPT:
            continue
        if isinstance(node, ListExpr):
            items = [(item, _type_of_item(item, place in node.optional)) for place, item in enumerate(node.items)]
            issues += list(_mismatches(items))[:1]
        elif isinstance(node, MapExpr):
            issues += _mismatches([(entry.key, entry.key.type) for entry in node.entries])
            issues += _mismatches([(entry.value, _type_of_item(entry.value, entry.optional)) for entry in node.entries])
        todo.extend(reversed(node.children()))
    return issues


def _type_of_item(item: Expr, optional: bool) -> Type:
    return types.unwrap_optional(item.type)[0] if optional else item.type


def _mismatches(items: list[tuple[Expr, Type]]) -> Iterator[Issue]:
    for item, found in items[1:]:
        wanted = items[0][1]
        if not types.are_equivalent(wanted, found):
            yield Issue(item.offset, f"expected type '{wanted}' but found '{found}'")
