"""The syntax tree of an expression, with macros expanded, and the walk that all passes use.

Nodes are compared by identity. offset is the position in error messages: a call's is its parenthesis, a selection's its
dot, an operator's the operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any, ClassVar, Generic, TypeVar

from podless.cel.types import ERROR, Type
from podless.runtime.dataclass import dataclass
from podless.runtime.meter import charge

T = TypeVar("T")
ACCU = "@result"  # the accumulator of most comprehensions
UNUSED = "#unused"  # the variable of a comprehension over an empty list
_NODE_STEPS = 16  # steps for a node in a pass


@dataclass(slots=True, eq=False)
class Expr:
    """A node. type, overloads: set by the checker. visit_method: the method for its class in an ExprVisitor."""

    visit_method: ClassVar[str]
    offset: int
    type: Type = field(default=ERROR, init=False)
    overloads: tuple[str, ...] = field(default=(), init=False)

    def list_children(self) -> list[Expr]:
        """Return the child nodes, in the order of the text."""
        return []


@dataclass(slots=True, eq=False)
class LiteralExpr(Expr):
    """A constant."""

    visit_method = "visit_literal"
    value: Any
    kind: Type


@dataclass(slots=True, eq=False)
class Ident(Expr):
    """A name. constant: it is the name of a type, which `value` holds."""

    visit_method = "visit_ident"
    name: str
    constant: bool = field(default=False, init=False)
    value: Any = field(default=None, init=False)


@dataclass(slots=True, eq=False)
class Select(Expr):
    """The selection of a field. is_test: only test its presence, for has().

    qualified_ident: set by the checker if the whole dotted name is a variable.
    """

    visit_method = "visit_select"
    operand: Expr
    field: str
    is_test: bool = False
    qualified_ident: Ident | None = None

    def list_children(self) -> list[Expr]:
        return [self.qualified_ident or self.operand]


@dataclass(slots=True, eq=False)
class CallExpr(Expr):
    """A function or operator with arguments. target: the receiver of a member function."""

    visit_method = "visit_call"
    function: str
    args: list[Expr]
    target: Expr | None = None

    def list_children(self) -> list[Expr]:
        return self.args if self.target is None else [self.target, *self.args]


@dataclass(slots=True, eq=False)
class ListExpr(Expr):
    """[a, b, ?c]. optional: the indexes of optional items."""

    visit_method = "visit_list"
    items: list[Expr]
    optional: frozenset[int] = frozenset()

    def list_children(self) -> list[Expr]:
        return self.items


@dataclass(slots=True, eq=False)
class MapEntry:
    """One entry of a map or message. For messages, the key is a field name."""

    offset: int
    key: Any
    value: Expr
    optional: bool


@dataclass(slots=True, eq=False)
class MapExpr(Expr):
    """{k: v, ?o: w}."""

    visit_method = "visit_map"
    entries: list[MapEntry]

    def list_children(self) -> list[Expr]:
        return [child for entry in self.entries for child in (entry.key, entry.value)]


@dataclass(slots=True, eq=False)
class MessageExpr(Expr):
    """Name{field: value}."""

    visit_method = "visit_message"
    name: str
    entries: list[MapEntry]

    def list_children(self) -> list[Expr]:
        return [entry.value for entry in self.entries]


@dataclass(slots=True, eq=False)
class Comprehension(Expr):
    """The expansion of a macro over lists and maps: a fold with an accumulator.

    macro: its origin, which the compiler uses: all, exists, exists_one, list, map, entries or bind. var2: "" for one
    variable only. filter, body: the macro's own expressions: the filter if there is one, and the predicate or value.
    """

    visit_method = "visit_comprehension"
    macro: str
    iter_range: Expr
    var: str
    var2: str
    accu: str
    init: Expr
    condition: Expr
    step: Expr
    result: Expr
    filter: Expr | None
    body: Expr

    def list_children(self) -> list[Expr]:
        return [self.iter_range, self.init, self.condition, self.step, self.result]


class ExprVisitor(Generic[T]):
    """A walk over a tree, with a method for each class of nodes that it can meet: the class's `visit_method`."""

    def visit(self, node: Expr) -> T:
        """Call the method for the node's class, and return its result."""
        charge(_NODE_STEPS)
        result: T = getattr(self, node.visit_method)(node)
        return result


def walk_nodes(tree: Expr, *, backwards: bool = False) -> Iterator[Expr]:
    """Yield all nodes, the root first, in the order of the text, or backwards with the last child first."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(node.list_children() if backwards else reversed(node.list_children()))


def uses_variable(tree: Expr, name: str) -> bool:
    """Return whether a tree uses a variable."""
    return any(isinstance(node, Ident) and node.name == name and not node.constant for node in walk_nodes(tree))
