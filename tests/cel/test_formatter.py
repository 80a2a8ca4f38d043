"""A tree's text is the expression again."""

from __future__ import annotations

from typing import Any

import pytest

from podless.cel import macros, parser
from podless.cel.errors import CompileError
from podless.cel.formatter import format_expression
from podless.cel.syntax import Expr, MapEntry
from tests.conformance import recorded


def rules(value: Any) -> set[str]:
    """All expressions in bodies."""
    if isinstance(value, list):
        return set().union(*map(rules, value))
    if not isinstance(value, dict):
        return set()
    own = {value.get(name) for name in ("rule", "messageExpression", "expression")}
    return {one for one in own if isinstance(one, str)}.union(*map(rules, value.values()))


def shape(node: Any) -> Any:
    """A tree without its places."""
    if isinstance(node, Expr | MapEntry):
        names = [name for kind in type(node).__mro__ for name in getattr(kind, "__slots__", ())]
        left = [name for name in names if name not in ("offset", "type", "overloads", "ident")]
        return type(node).__name__, [(name, shape(getattr(node, name))) for name in left]
    return [shape(part) for part in node] if isinstance(node, list | tuple) else repr(node)


def test_recorded_expressions_are_what_they_were() -> None:
    found = rules([step.get("body") for one in recorded.scenarios("cel", "admission") for step in one["steps"]])
    seen = 0
    for source in found:
        try:
            tree = parser.parse_expression(source, macros.EVERY)
        except CompileError:
            continue
        seen += 1
        assert shape(parser.parse_expression(format_expression(tree), macros.EVERY)) == shape(tree), source
    assert seen > 500


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("(a+b)*c - (d - e)", "(a + b) * c - (d - e)"),
        ("((a && b) && (c || d))", "a && b && (c || d)"),
        ("-(1) + -x", "-(1) + -x"),
        ("has(a.b) ? a.?b.orValue('x') : c[?0].value()", 'has(a.b) ? a.?b.orValue("x") : c[?0].value()'),
        ("l.filter(x, x > 1).map(x, x + 1).all(i, v, i < v)", "l.filter(x, x > 1).map(x, x + 1).all(i, v, i < v)"),
        ("m.transformMap(k, v, v > 1, k)", "m.transformMap(k, v, v > 1, k)"),
        ("o.optMap(x, x + 1).optFlatMap(y, optional.of(y))", "o.optMap(x, x + 1).optFlatMap(y, optional.of(y))"),
        ("cel.bind(x, 1u, b'\\x00a' == y)", "cel.bind(x, 1u, b'\\x00a' == y)"),
        ("l.sortBy(e, e.n)", "l.sortBy(e, e.n)"),
        ("a.`b-c` in {'k': [1, ?o]}", 'a.`b-c` in {"k": [1, ?o]}'),
    ],
)
def test_written_as_people_do(source: str, shown: str) -> None:
    assert format_expression(parser.parse_expression(source, macros.EVERY)) == shown
