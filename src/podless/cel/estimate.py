"""Estimates the maximum cost of an expression from its tree and the sizes in schemas, as cel-go does."""

from __future__ import annotations

from typing import NamedTuple

from podless.cel.cost import MAX_COST, NEW_LIST, NEW_MAP, NEW_MESSAGE, ONE, UNKNOWN, ZERO, CallSite, Range
from podless.cel.functions import Declarations
from podless.cel.lexer import RESERVED
from podless.cel.schematypes import Decl
from podless.cel.syntax import (
    CallExpr,
    Comprehension,
    Expr,
    ExprVisitor,
    Ident,
    ListExpr,
    LiteralExpr,
    MapExpr,
    MessageExpr,
    Select,
)
from podless.cel.types import Type, is_optional
from podless.runtime.release import has

_SCALARS = frozenset(("bool", "double", "duration", "int", "timestamp", "uint"))
_EMPTY_RANGE = Range(MAX_COST, 0)


class _UndeclaredPath:
    """A path that the schema does not know."""


_UNDECLARED = _UndeclaredPath()
# the path of a value in the schema: none, a declaration, or unknown
PathDecl = Decl | _UndeclaredPath | None
Entry = tuple[str, Range, Range]  # list or map, size of keys, size of values


def estimate_cost(tree: Expr, declarations: Declarations, root: Decl | None = None, name: str = "") -> Range:
    """Return the minimum and maximum cost of an expression. root: the declaration of the variables.

    name: the variable that has this declaration, "" for all.
    """
    return _CostEstimator(declarations, root, name).visit(tree)


class _LocalVariable(NamedTuple):
    path: PathDecl
    size: Range | None
    entry: Entry | None = None


class _CostEstimator(ExprVisitor[Range]):
    def __init__(self, declarations: Declarations, root: Decl | None, name: str) -> None:
        self.costs = declarations.costs
        self.root: PathDecl = root if root is not None else _UNDECLARED
        self.name = name
        self.paths: dict[Expr, PathDecl] = {}
        self.sizes: dict[Expr, Range] = {}
        self.entries: dict[Expr, Entry] = {}
        self.locals: dict[str, _LocalVariable] = {}

    def visit_literal(self, node: LiteralExpr) -> Range:
        return ZERO

    def visit_ident(self, node: Ident) -> Range:
        local = self.locals.get(node.name)
        self.paths[node] = local.path if local is not None else self.start_path(node.name)
        return ONE

    def start_path(self, name: str) -> PathDecl:
        """Return the path of a variable."""
        return self.root if name == self.name or not self.name else _UNDECLARED

    def visit_select(self, node: Select) -> Range:
        if node.qualified_ident is not None:
            self.paths[node] = self.root
            return ONE
        if node.is_test:
            return self.visit(node.operand)
        total = self.visit(node.operand)
        if node.operand.type.kind in ("map", "struct", "param"):
            total = total.add(ONE)
        self.paths[node] = self.find_child_path(node.operand, node.field)
        return total

    def find_path(self, node: Expr) -> PathDecl:
        """Return the path of a node's value."""
        if isinstance(node, Ident):
            local = self.locals.get(node.name)
            if local is not None:
                return local.path
        return self.paths.get(node)

    def find_child_path(self, node: Expr, step: str) -> PathDecl:
        """Return the path one step down.

        As in cel-go, an unknown path starts at the root after its first step.
        """
        return self.step_down(self.find_path(node), step)

    def step_down(self, path: PathDecl, step: str) -> PathDecl:
        if path is None:
            return self.start_path(step)
        if isinstance(path, _UndeclaredPath):
            return _UNDECLARED
        if step in ("@items", "@values"):
            return path.items or _UNDECLARED
        if step in ("@keys", "@indices"):
            return (path.keys or _KEY) if step == "@keys" and path.kind == "map" else _UNDECLARED
        # cel-go does not look up reserved words under their escaped names
        return (None if step in RESERVED and path.kind == "object" else path.find_field(step)) or _UNDECLARED

    def visit_call(self, node: CallExpr) -> Range:
        if node.function == "dyn":
            total = ONE.add(self.visit(node.args[0]))
            if has("CELSizesOfConversions"):
                self.take_size(node, node.args[0])
            return total
        costs = [self.visit(arg) for arg in node.args]
        total = ZERO if node.target is None else self.visit(node.target)
        spent, size = _EMPTY_RANGE, None
        for overload in node.overloads:
            cost, result = self.estimate_overload(node, overload, costs)
            spent = spent.union(cost)
            if result is not None:
                size = result if size is None else size.union(result)
            size = self.index_container(node, overload, size)
            if size is None:
                size = self.find_size(node)
        self.set_size(node, size)
        return total.add(spent)

    def index_container(self, node: CallExpr, overload: str, size: Range | None) -> Range | None:
        """Set the path of an indexed item, and return the item's size."""
        step = {"index_list": "@items", "index_map": "@values"}.get(overload)
        if step is None:
            return size
        entry = self.find_entry(node.args[0])
        self.paths[node] = self.find_child_path(node.args[0], step)
        return None if entry is None else entry[2]

    def estimate_overload(self, node: CallExpr, overload: str, costs: list[Range]) -> tuple[Range, Range | None]:
        """Return the cost of one overload with its arguments, and the size of its result."""
        total = ZERO
        for arg_cost in costs:
            total = total.add(arg_cost)
        if overload in ("logical_and", "logical_or"):
            return Range(costs[0].low, total.high), None
        if overload == "conditional":
            self.join_entries(node, node.args[1], node.args[2])
            size = self.size_or_unknown(node.args[1]).union(self.size_or_unknown(node.args[2]))
            return costs[0].add(costs[1].union(costs[2])), size
        if overload in ("add_list", "add_string", "add_bytes"):
            self.join_entries(node, node.args[0], node.args[1])
        cost = self.costs.get(overload)
        if cost is None:
            return ONE.add(total), None
        spent, result = cost.estimate(CallSite(node.list_children(), self.size_or_unknown, self.find_item_size))
        return spent.add(total), result

    def join_entries(self, node: Expr, left: Expr, right: Expr) -> None:
        left_entry, right_entry = self.find_entry(left), self.find_entry(right)
        if left_entry is not None and right_entry is not None:
            self.entries[node] = (
                left_entry[0],
                left_entry[1].union(right_entry[1]),
                left_entry[2].union(right_entry[2]),
            )

    def visit_list(self, node: ListExpr) -> Range:
        total = Range(NEW_LIST, NEW_LIST)
        size = _EMPTY_RANGE if node.items else ZERO
        for item in node.items:
            total = total.add(self.visit(item))
            size = size.union(self.size_or_unknown(item))
        self.entries[node] = ("list", ONE, size)
        return total

    def visit_map(self, node: MapExpr) -> Range:
        total = Range(NEW_MAP, NEW_MAP)
        keys = values = _EMPTY_RANGE if node.entries else ZERO
        for entry in node.entries:
            total = total.add(self.visit(entry.key)).add(self.visit(entry.value))
            keys, values = keys.union(self.size_or_unknown(entry.key)), values.union(self.size_or_unknown(entry.value))
        self.entries[node] = ("map", keys, values)
        return total

    def visit_message(self, node: MessageExpr) -> Range:
        total = Range(NEW_MESSAGE, NEW_MESSAGE)
        for entry in node.entries:
            total = total.add(self.visit(entry.value))
        return total

    def visit_comprehension(self, node: Comprehension) -> Range:
        total = self.visit(node.iter_range).add(self.visit(node.init))
        accu = _LocalVariable(self.find_path(node.init), self.find_size(node.init), self.find_entry(node.init))
        saved, spent = self.locals, ZERO
        self.add_local(node.accu, accu)
        if node.macro != "bind":
            with_accu = self.locals
            self.add_variables(node)
            spent = self.visit(node.condition).add(self.visit(node.step))
            self.locals = with_accu
        total = total.add(self.visit(node.result))
        self.locals = saved
        if node.macro == "bind":
            self.take_size(node, node.result)
            return total
        count = self.size_or_unknown(node.iter_range)
        if isinstance(node.init, LiteralExpr):
            self.set_size(node, self.find_size(node.init))
        else:
            self.set_size(node, count)
            entry = self.find_entry(node.step)
            if entry is not None:
                self.entries[node] = entry
        return total.add(count.multiply(spent))

    def add_variables(self, node: Comprehension) -> None:
        """Bring the variables of a comprehension into scope."""
        kind, key, value = self.find_entry(node.iter_range) or (node.iter_range.type.kind, None, None)
        steps = ("@indices", "@items") if kind == "list" else ("@keys", "@values")
        if node.var2:
            self.add_local(node.var, _LocalVariable(self.find_child_path(node.iter_range, steps[0]), key))
            self.add_local(node.var2, _LocalVariable(self.find_child_path(node.iter_range, steps[1]), value))
            return
        step, size = ("@items", value) if kind == "list" else ("@keys", key)
        self.add_local(node.var, _LocalVariable(self.find_child_path(node.iter_range, step), size))

    def add_local(self, name: str, local: _LocalVariable) -> None:
        self.locals = self.locals | {name: local}

    def set_size(self, node: Expr, size: Range | None) -> None:
        if size is not None:
            self.sizes[node] = size

    def take_size(self, node: Expr, source: Expr) -> None:
        """Set the sizes of a node to those of another one."""
        self.set_size(node, self.find_size(source))
        entry = self.find_entry(source)
        if entry is not None:
            self.entries[node] = entry

    def size_or_unknown(self, node: Expr) -> Range:
        """Return the size of a node's value, the full range if it is unknown."""
        return self.find_size(node) or UNKNOWN

    def find_size(self, node: Expr) -> Range | None:
        """Return the size of a node's value, None if it is unknown."""
        result = self.sizes.get(node)
        if result is not None:
            return result
        result = _measure_literal(node)
        if result is not None:
            return result
        path = self.find_path(node)
        if isinstance(path, Decl):
            result = self.sizes[node] = Range(0, path.max_items)
            return result
        if _is_scalar(node.type):
            return ONE
        local = self.locals.get(node.name) if isinstance(node, Ident) else None
        return None if local is None else local.size

    def find_item_size(self, node: Expr) -> Range | None:
        """Return the size of the items of a list, from the path alone."""
        if not node.type.params:
            return None
        path = self.find_path(node)
        if path is None:
            return UNKNOWN
        item_path = self.step_down(path, "@items")
        return Range(0, item_path.max_items) if isinstance(item_path, Decl) else UNKNOWN

    def find_entry(self, node: Expr) -> Entry | None:
        """Return the sizes of keys and values of a list or map."""
        result = self.entries.get(node)
        if result is None and isinstance(node, Ident):
            local = self.locals.get(node.name)
            result = None if local is None else local.entry
        return result


class _MapKeyDecl(Decl):
    """The keys of a map: strings whose length the schema does not limit."""

    def __init__(self) -> None:
        self.kind, self.max_items, self.items = "string", 0, None

    def find_field(self, name: str) -> Decl | None:
        return None


_KEY = _MapKeyDecl()


def _measure_literal(node: Expr) -> Range | None:
    if isinstance(node, LiteralExpr):
        size = len(node.value) if isinstance(node.value, str | bytes) else 1
        return Range(size, size)
    if isinstance(node, ListExpr):
        return Range(len(node.items), len(node.items))
    if isinstance(node, MapExpr):
        return Range(len(node.entries), len(node.entries))
    return None


def _is_scalar(kind: Type) -> bool:
    if is_optional(kind):
        return has("CELSizesOfConversions") and _is_scalar(kind.params[0])
    return kind.kind in _SCALARS
