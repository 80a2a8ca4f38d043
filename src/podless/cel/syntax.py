"""The tree that the parser makes of an expression, macros expanded.

Nodes are compared by identity. offset is the place that errors name: a call's is its parenthesis, a selection's its
dot, an operator's the operator. type and overloads are filled in by the checker.
"""

from __future__ import annotations

from typing import Any

from podless.cel.types import ERROR, Type


class Expr:
    """A node. type: found by the checker. refers: the declared variable or type it names, if any."""

    __slots__ = ("offset", "overloads", "type")

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.type: Type = ERROR
        self.overloads: tuple[str, ...] = ()


class Literal(Expr):
    """A constant."""

    __slots__ = ("kind", "value")

    def __init__(self, offset: int, value: Any, kind: Type) -> None:
        super().__init__(offset)
        self.value = value
        self.kind = kind


class Ident(Expr):
    """A name; constant: it names a type, whose value is kept in `value`."""

    __slots__ = ("constant", "name", "value")

    def __init__(self, offset: int, name: str) -> None:
        super().__init__(offset)
        self.name = name
        self.constant = False
        self.value: Any = None


class Select(Expr):
    """A field of an operand; test: only whether it is there, which has() asks."""

    __slots__ = ("field", "ident", "operand", "test")

    def __init__(self, offset: int, operand: Expr, field: str, test: bool = False) -> None:
        super().__init__(offset)
        self.operand = operand
        self.field = field
        self.test = test
        self.ident: Ident | None = None  # what a dotted name turns out to be


class Call(Expr):
    """A function or operator with arguments; target: what a member function is called on."""

    __slots__ = ("args", "function", "target")

    def __init__(self, offset: int, function: str, args: list[Expr], target: Expr | None = None) -> None:
        super().__init__(offset)
        self.function = function
        self.args = args
        self.target = target


class ListOf(Expr):
    """[a, b, ?c]; optional: the places of items that may be none."""

    __slots__ = ("items", "optional")

    def __init__(self, offset: int, items: list[Expr], optional: frozenset[int] = frozenset()) -> None:
        super().__init__(offset)
        self.items = items
        self.optional = optional


class Entry:
    """One entry of a map or of a message; key is a name in messages."""

    __slots__ = ("key", "offset", "optional", "value")

    def __init__(self, offset: int, key: Any, value: Expr, optional: bool) -> None:
        self.offset = offset
        self.key = key
        self.value = value
        self.optional = optional


class MapOf(Expr):
    """{k: v, ?o: w}."""

    __slots__ = ("entries",)

    def __init__(self, offset: int, entries: list[Entry]) -> None:
        super().__init__(offset)
        self.entries = entries


class Message(Expr):
    """Name{field: value}."""

    __slots__ = ("entries", "name")

    def __init__(self, offset: int, name: str, entries: list[Entry]) -> None:
        super().__init__(offset)
        self.name = name
        self.entries = entries


class Comprehension(Expr):
    """What macros over lists and maps stand for: a fold with an accumulator.

    macro: how it came about, which the compiler goes by: all, exists, exists_one, list, map, entries or bind.
    body: the macro's own expressions: the filter if any, and the predicate or value.
    """

    __slots__ = ("accu", "body", "condition", "guard", "init", "macro", "over", "result", "step", "var", "var2")

    def __init__(
        self,
        offset: int,
        macro: str,
        over: Expr,
        names: tuple[str, str],
        accu: str,
        parts: tuple[Expr, Expr, Expr, Expr],
        guard: Expr | None,
        body: Expr,
    ) -> None:
        super().__init__(offset)
        self.macro = macro
        self.over = over
        self.var, self.var2 = names
        self.accu = accu
        self.init, self.condition, self.step, self.result = parts
        self.guard = guard
        self.body = body


ACCU = "@result"
UNUSED = "#unused"
