"""The syntax tree of an expression, with macros expanded, and the walk that all passes use.

Nodes are compared by identity. offset is the position in error messages: a call's is its parenthesis, a selection's its
dot, an operator's the operator. The checker sets type and overloads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Generic, TypeVar

from podless.cel.types import ERROR, Type
from podless.runtime.meter import charge

T = TypeVar("T")
_NODE_STEPS = 16  # steps for a node in a pass


class Expr:
    """A node. type: set by the checker. visit_method: the name of the method for its class in an ExprVisitor."""

    __slots__ = ("offset", "overloads", "type")
    visit_method: ClassVar[str]

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.type: Type = ERROR
        self.overloads: tuple[str, ...] = ()

    def list_children(self) -> list[Expr]:
        """Return the child nodes, in the order of the text."""
        return []


class LiteralExpr(Expr):
    """A constant."""

    __slots__ = ("kind", "value")
    visit_method = "visit_literal"

    def __init__(self, offset: int, value: Any, kind: Type) -> None:
        super().__init__(offset)
        self.value = value
        self.kind = kind


class Ident(Expr):
    """A name. constant: it is the name of a type, which `value` holds."""

    __slots__ = ("constant", "name", "value")
    visit_method = "visit_ident"

    def __init__(self, offset: int, name: str) -> None:
        super().__init__(offset)
        self.name = name
        self.constant = False
        self.value: Any = None


class Select(Expr):
    """The selection of a field. is_test: only test its presence, for has()."""

    __slots__ = ("field", "is_test", "operand", "qualified_ident")
    visit_method = "visit_select"

    def __init__(self, offset: int, operand: Expr, field: str, test: bool = False) -> None:
        super().__init__(offset)
        self.operand = operand
        self.field = field
        self.is_test = test
        self.qualified_ident: Ident | None = None  # set by the checker if the whole dotted name is a variable

    def list_children(self) -> list[Expr]:
        return [self.qualified_ident or self.operand]


class CallExpr(Expr):
    """A function or operator with arguments. target: the receiver of a member function."""

    __slots__ = ("args", "function", "target")
    visit_method = "visit_call"

    def __init__(self, offset: int, function: str, args: list[Expr], target: Expr | None = None) -> None:
        super().__init__(offset)
        self.function = function
        self.args = args
        self.target = target

    def list_children(self) -> list[Expr]:
        return self.args if self.target is None else [self.target, *self.args]


class ListExpr(Expr):
    """[a, b, ?c]. optional: the indexes of optional items."""

    __slots__ = ("items", "optional")
    visit_method = "visit_list"

    def __init__(self, offset: int, items: list[Expr], optional: frozenset[int] = frozenset()) -> None:
        super().__init__(offset)
        self.items = items
        self.optional = optional

    def list_children(self) -> list[Expr]:
        return self.items


class MapEntry:
    """One entry of a map or message. For messages, the key is a field name."""

    __slots__ = ("key", "offset", "optional", "value")

    def __init__(self, offset: int, key: Any, value: Expr, optional: bool) -> None:
        self.offset = offset
        self.key = key
        self.value = value
        self.optional = optional


class MapExpr(Expr):
    """{k: v, ?o: w}."""

    __slots__ = ("entries",)
    visit_method = "visit_map"

    def __init__(self, offset: int, entries: list[MapEntry]) -> None:
        super().__init__(offset)
        self.entries = entries

    def list_children(self) -> list[Expr]:
        return [child for entry in self.entries for child in (entry.key, entry.value)]


class MessageExpr(Expr):
    """Name{field: value}."""

    __slots__ = ("entries", "name")
    visit_method = "visit_message"

    def __init__(self, offset: int, name: str, entries: list[MapEntry]) -> None:
        super().__init__(offset)
        self.name = name
        self.entries = entries

    def list_children(self) -> list[Expr]:
        return [entry.value for entry in self.entries]


class Comprehension(Expr):
    """The expansion of a macro over lists and maps: a fold with an accumulator.

    macro: its origin, which the compiler uses: all, exists, exists_one, list, map, entries or bind. body: the macro's
    own expressions: the filter if there is one, and the predicate or value.
    """

    __slots__ = ("accu", "body", "condition", "filter", "init", "iter_range", "macro", "result", "step", "var", "var2")
    visit_method = "visit_comprehension"

    def __init__(
        self,
        offset: int,
        macro: str,
        iter_range: Expr,
        names: tuple[str, str],
        accu: str,
        steps: tuple[Expr, Expr, Expr, Expr],
        filter: Expr | None,
        body: Expr,
    ) -> None:
        super().__init__(offset)
        self.macro = macro
        self.iter_range = iter_range
        self.var, self.var2 = names
        self.accu = accu
        self.init, self.condition, self.step, self.result = steps
        self.filter = filter
        self.body = body

    def list_children(self) -> list[Expr]:
        return [self.iter_range, self.init, self.condition, self.step, self.result]


class ExprVisitor(Generic[T]):
    """A walk over a tree, with one method for each class of nodes."""

    def visit(self, node: Expr) -> T:
        """Call the method for the node's class, and return its result."""
        charge(_NODE_STEPS)
        result: T = getattr(self, node.visit_method)(node)
        return result

    def visit_literal(self, node: LiteralExpr) -> T:
        raise NotImplementedError

    def visit_ident(self, node: Ident) -> T:
        raise NotImplementedError

    def visit_select(self, node: Select) -> T:
        """Visit a field, or a test for it."""
        raise NotImplementedError

    def visit_call(self, node: CallExpr) -> T:
        """Visit a function or operator."""
        raise NotImplementedError

    def visit_list(self, node: ListExpr) -> T:
        """Visit a list literal."""
        raise NotImplementedError

    def visit_map(self, node: MapExpr) -> T:
        """Visit a map literal."""
        raise NotImplementedError

    def visit_message(self, node: MessageExpr) -> T:
        """Visit a message literal."""
        raise NotImplementedError

    def visit_comprehension(self, node: Comprehension) -> T:
        """Visit a macro over a list or map."""
        raise NotImplementedError


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


ACCU = "@result"
UNUSED = "#unused"
