"""Estimates the maximum cost of an expression from its tree and the sizes in schemas, as cel-go does."""

from __future__ import annotations

from typing import Any

from podless.cel.declared import Decl
from podless.cel.decls import Declarations
from podless.cel.escape import RESERVED
from podless.cel.sizes import MOST, NEW_LIST, NEW_MAP, NEW_MESSAGE, ONE, UNKNOWN, ZERO, Range
from podless.cel.syntax import (
    CallExpr,
    Comprehension,
    Expr,
    Ident,
    ListExpr,
    LiteralExpr,
    MapExpr,
    MessageExpr,
    Pass,
    Select,
)
from podless.cel.types import Type, is_optional
from podless.runtime.release import has

_SCALARS = frozenset(("bool", "double", "duration", "int", "timestamp", "uint"))
_NOTHING = Range(MOST, 0)


class _Lost:
    """A path that the schema does not know."""


_LOST = _Lost()
# the path of a value in the schema: none, a declaration, or unknown
Place = Decl | _Lost | None
Entry = tuple[str, Range, Range]  # list or map, size of keys, size of values


def estimate_cost(tree: Expr, declarations: Declarations, root: Decl | None = None, name: str = "") -> Range:
    """Return the minimum and maximum cost of an expression. root: the declaration of the variables.

    name: the variable that has this declaration, "" for all.
    """
    return _Estimator(declarations, root, name).visit(tree)


class _Local:
    __slots__ = ("entry", "place", "size")

    def __init__(self, place: Place, size: Range | None, entry: Entry | None) -> None:
        self.place = place
        self.size = size
        self.entry = entry


class _Estimator(Pass[Range]):
    def __init__(self, declarations: Declarations, root: Decl | None, name: str) -> None:
        self.costs = declarations.costs
        self.root: Place = root if root is not None else _LOST
        self.name = name
        self.places: dict[Expr, Place] = {}
        self.sizes: dict[Expr, Range] = {}
        self.entries: dict[Expr, Entry] = {}
        self.locals: dict[str, list[_Local]] = {}

    def literal(self, node: LiteralExpr) -> Range:
        return ZERO

    def ident(self, node: Ident) -> Range:
        local = self.local(node.name)
        self.places[node] = local.place if local is not None else self.path_start(node.name)
        return ONE

    def path_start(self, name: str) -> Place:
        """Return the path of a variable."""
        return self.root if name == self.name or not self.name else _LOST

    def local(self, name: str) -> _Local | None:
        known = self.locals.get(name)
        return known[-1] if known else None

    def select(self, node: Select) -> Range:
        if node.ident is not None:
            self.places[node] = self.root
            return ONE
        if node.test:
            return self.visit(node.operand)
        total = self.visit(node.operand)
        if node.operand.type.kind in ("map", "struct", "param"):
            total = total.plus(ONE)
        self.places[node] = self.below(node.operand, node.field)
        return total

    def place(self, node: Expr) -> Place:
        """Return the path of a node's value."""
        if isinstance(node, Ident):
            local = self.local(node.name)
            if local is not None:
                return local.place
        return self.places.get(node)

    def below(self, node: Expr, step: str) -> Place:
        """Return the path one step down.

        As in cel-go, an unknown path starts at the root after its first step.
        """
        return self.step(self.place(node), step)

    def step(self, place: Place, step: str) -> Place:
        if place is None:
            return self.path_start(step)
        if isinstance(place, _Lost):
            return _LOST
        if step in ("@items", "@values"):
            return place.items or _LOST
        if step in ("@keys", "@indices"):
            return (place.keys or _KEY) if step == "@keys" and place.kind == "map" else _LOST
        # cel-go does not look up reserved words under their escaped names
        return (None if step in RESERVED and place.kind == "object" else place.field(step)) or _LOST

    def call(self, node: CallExpr) -> Range:
        if node.function == "dyn":
            total = ONE.plus(self.visit(node.args[0]))
            if not has("CELSizesOfConversions"):
                return total
            self.keep(node, self.size(node.args[0]))
            entry = self.entry(node.args[0])
            if entry is not None:
                self.entries[node] = entry
            return total
        costs = [self.visit(arg) for arg in node.args]
        total = ZERO if node.target is None else self.visit(node.target)
        spent, size = _NOTHING, None
        for overload in node.overloads:
            cost, result = self.form(node, overload, costs)
            spent = spent.union(cost)
            if result is not None:
                size = result if size is None else size.union(result)
            size = self.indexed(node, overload, size)
            if size is None:
                size = self.size(node)
        self.keep(node, size)
        return total.plus(spent)

    def indexed(self, node: CallExpr, overload: str, size: Range | None) -> Range | None:
        """Set the path of an indexed item, and return the item's size."""
        step = {"index_list": "@items", "index_map": "@values"}.get(overload)
        if step is None:
            return size
        entry = self.entry(node.args[0])
        self.places[node] = self.below(node.args[0], step)
        return None if entry is None else entry[2]

    def form(self, node: CallExpr, overload: str, costs: list[Range]) -> tuple[Range, Range | None]:
        """Return the cost of one overload with its arguments, and the size of its result."""
        total = ZERO
        for each in costs:
            total = total.plus(each)
        if overload in ("logical_and", "logical_or"):
            return Range(costs[0].low, total.high), None
        if overload == "conditional":
            self.join(node, node.args[1], node.args[2])
            size = self.size_of(node.args[1]).union(self.size_of(node.args[2]))
            return costs[0].plus(costs[1].union(costs[2])), size
        if overload in ("add_list", "add_string", "add_bytes"):
            self.join(node, node.args[0], node.args[1])
        cost = self.costs.get(overload)
        if cost is None:
            return ONE.plus(total), None
        spent, result = cost.estimate(_CallSite(self, node))
        return spent.plus(total), result

    def join(self, node: Expr, one: Expr, other: Expr) -> None:
        first, second = self.entry(one), self.entry(other)
        if first is not None and second is not None:
            self.entries[node] = (first[0], first[1].union(second[1]), first[2].union(second[2]))

    def list(self, node: ListExpr) -> Range:
        total = Range(NEW_LIST, NEW_LIST)
        size = _NOTHING if node.items else ZERO
        for item in node.items:
            total = total.plus(self.visit(item))
            size = size.union(self.size_of(item))
        self.entries[node] = ("list", ONE, size)
        return total

    def map(self, node: MapExpr) -> Range:
        total = Range(NEW_MAP, NEW_MAP)
        keys = values = _NOTHING if node.entries else ZERO
        for entry in node.entries:
            total = total.plus(self.visit(entry.key)).plus(self.visit(entry.value))
            keys, values = keys.union(self.size_of(entry.key)), values.union(self.size_of(entry.value))
        self.entries[node] = ("map", keys, values)
        return total

    def message(self, node: MessageExpr) -> Range:
        total = Range(NEW_MESSAGE, NEW_MESSAGE)
        for entry in node.entries:
            total = total.plus(self.visit(entry.value))
        return total

    def comprehension(self, node: Comprehension) -> Range:
        total = self.visit(node.over).plus(self.visit(node.init))
        accu = _Local(self.place(node.init), self.size(node.init), self.entry(node.init))
        self.push(node.accu, accu)
        if node.macro == "bind":
            total = total.plus(self.visit(node.result))
            self.pop(node.accu)
            self.keep(node, self.size(node.result))
            entry = self.entry(node.result)
            if entry is not None:
                self.entries[node] = entry
            return total
        names = self.variables(node)
        spent = self.visit(node.condition).plus(self.visit(node.step))
        for name in names:
            self.pop(name)
        total = total.plus(self.visit(node.result))
        self.pop(node.accu)
        count = self.size_of(node.over)
        if isinstance(node.init, LiteralExpr):
            self.keep(node, self.size(node.init))
        else:
            self.keep(node, count)
            entry = self.entry(node.step)
            if entry is not None:
                self.entries[node] = entry
        return total.plus(count.times(spent))

    def variables(self, node: Comprehension) -> tuple[str, ...]:
        """Bring the variables of a comprehension into scope, and return their names."""
        entry = self.entry(node.over)
        kind = entry[0] if entry is not None else node.over.type.kind
        listed = kind == "list"
        key = None if entry is None else entry[1]
        value = None if entry is None else entry[2]
        steps = ("@indices", "@items") if listed else ("@keys", "@values")
        if node.var2:
            self.push(node.var, _Local(self.below(node.over, steps[0]), key, None))
            self.push(node.var2, _Local(self.below(node.over, steps[1]), value, None))
            return node.var, node.var2
        step = "@items" if listed else "@keys"
        self.push(node.var, _Local(self.below(node.over, step), value if listed else key, None))
        return (node.var,)

    def push(self, name: str, local: _Local) -> None:
        self.locals.setdefault(name, []).append(local)

    def pop(self, name: str) -> None:
        self.locals[name].pop()

    def keep(self, node: Expr, size: Range | None) -> None:
        if size is not None:
            self.sizes[node] = size

    def size_of(self, node: Expr) -> Range:
        """Return the size of a node's value, the full range if it is unknown."""
        return self.size(node) or UNKNOWN

    def size(self, node: Expr) -> Range | None:
        """Return the size of a node's value, None if it is unknown."""
        result = self.sizes.get(node)
        if result is not None:
            return result
        result = _own_size(node)
        if result is not None:
            return result
        place = self.place(node)
        if isinstance(place, Decl):
            result = self.sizes[node] = Range(0, place.most)
            return result
        if _scalar(node.type):
            return ONE
        local = self.local(node.name) if isinstance(node, Ident) else None
        return None if local is None else local.size

    def entry(self, node: Expr) -> Entry | None:
        """Return the sizes of keys and values of a list or map."""
        result = self.entries.get(node)
        if result is None and isinstance(node, Ident):
            local = self.local(node.name)
            result = None if local is None else local.entry
        return result


class _Key(Decl):
    """The keys of a map: strings whose length the schema does not limit."""

    def __init__(self) -> None:
        self.kind, self.most, self.items = "string", 0, None

    def field(self, name: str) -> Decl | None:
        return None


_KEY = _Key()


def _own_size(node: Expr) -> Range | None:
    """Return the size of a literal."""
    if isinstance(node, LiteralExpr):
        size = len(node.value) if isinstance(node.value, str | bytes) else 1
        return Range(size, size)
    if isinstance(node, ListExpr):
        return Range(len(node.items), len(node.items))
    if isinstance(node, MapExpr):
        return Range(len(node.entries), len(node.entries))
    return None


def _scalar(kind: Type) -> bool:
    if is_optional(kind):
        return has("CELSizesOfConversions") and _scalar(kind.params[0])
    return kind.kind in _SCALARS


class _CallSite:
    """A call, as seen by functions that estimate its cost."""

    __slots__ = ("args", "estimator")

    def __init__(self, estimator: _Estimator, node: CallExpr) -> None:
        self.estimator = estimator
        self.args = node.args if node.target is None else [node.target, *node.args]

    def size(self, index: int) -> Range:
        """Return the size of an argument."""
        return self.estimator.size_of(self.args[index])

    def item_size(self, index: int) -> Range | None:
        """Return the size of the items of a list, from the path alone."""
        node = self.args[index]
        if not node.type.params:
            return None
        where = self.estimator.place(node)
        if where is None:
            return UNKNOWN
        below = self.estimator.step(where, "@items")
        return Range(0, below.most) if isinstance(below, Decl) else UNKNOWN

    def type(self, index: int) -> Type:
        """Return the type of an argument."""
        return self.args[index].type

    def constant(self, index: int) -> Any:
        """Return the value of a literal."""
        node = self.args[index]
        return node.value if isinstance(node, LiteralExpr) else None

    @property
    def count(self) -> int:
        """The number of arguments."""
        return len(self.args)
