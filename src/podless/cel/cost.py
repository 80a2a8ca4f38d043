"""Sizes and costs as ranges, and the two parts of a function's cost: estimate and actual cost.

Costs are counted in cel-go's units: 0.1 for each character that is visited. Numbers are limited to 64 bits, unsigned.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from podless.cel.syntax import Expr, LiteralExpr
from podless.cel.types import Type
from podless.cel.values import size_of
from podless.runtime.meter import charge

MAX_COST = (1 << 64) - 1
PER_CHARACTER = 0.1
PER_PATTERN = 0.25
_MAX_VISITED = 50_000_000
_VALUES_PER_CHARGE = 512  # values between two charges
NEW_LIST = 10
NEW_MAP = 30
NEW_MESSAGE = 40


class Range(NamedTuple):
    """A minimum and a maximum."""

    low: int
    high: int

    def add(self, other: Range) -> Range:
        return Range(min(self.low + other.low, MAX_COST), min(self.high + other.high, MAX_COST))

    def multiply(self, other: Range) -> Range:
        return Range(min(self.low * other.low, MAX_COST), min(self.high * other.high, MAX_COST))

    def scale(self, factor: float) -> Range:
        """Return the product with a factor, rounded up."""
        return Range(scale_count(self.low, factor), scale_count(self.high, factor))

    def union(self, other: Range) -> Range:
        """Return a range that contains both."""
        return Range(min(self.low, other.low), max(self.high, other.high))


UNKNOWN = Range(0, MAX_COST)
ZERO = Range(0, 0)
ONE = Range(1, 1)


def scale_count(count: int, factor: float) -> int:
    """Return a count times a factor, rounded up."""
    product = count * factor
    return MAX_COST if product >= 2.0**64 else math.ceil(product)


class CallSite:
    """A call whose cost is estimated. Argument 0 is the target of a member function.

    measure: returns the size of an argument. measure_items: returns the size of the items of a list of strings or
    bytes, None for others.
    """

    __slots__ = ("_args", "_measure", "_measure_items")

    def __init__(
        self, args: list[Expr], measure: Callable[[Expr], Range], measure_items: Callable[[Expr], Range | None]
    ) -> None:
        self._args, self._measure, self._measure_items = args, measure, measure_items

    def get_size(self, index: int) -> Range:
        """Return the size of an argument."""
        return self._measure(self._args[index])

    def get_item_size(self, index: int) -> Range | None:
        """Return the size of the items of a list argument of strings or bytes; None for others."""
        return self._measure_items(self._args[index])

    def get_type(self, index: int) -> Type:
        """Return the type of an argument."""
        return self._args[index].type

    def get_constant(self, index: int) -> Any:
        """Return the value of a literal argument, None for others."""
        node = self._args[index]
        return node.value if isinstance(node, LiteralExpr) else None

    @property
    def count(self) -> int:
        """The number of arguments."""
        return len(self._args)


# the cost, and the size of the result (None if unknown)
Estimate = tuple[Range, Range | None]


class Cost(NamedTuple):
    """The cost of a function: estimated from the sizes of arguments, and counted from arguments and result."""

    estimate: Callable[[CallSite], Estimate]
    actual: Callable[..., int]


# the cost of one unit
UNIT = Cost(lambda site: (ONE, None), lambda *_: 1)


def count_traversal(value: Any, *_: Any) -> int:
    """Return the actual cost of visiting each character of the first argument."""
    return math.ceil(size_of(value) * PER_CHARACTER)


def traversal_cost(factor: float = 1.0, *, sized: bool = False) -> Cost:
    """Return the cost of visiting each character of the first argument. sized: the result has the same size."""
    per_character = factor * PER_CHARACTER

    def estimate_call(site: CallSite) -> Estimate:
        size = site.get_size(0)
        return size.scale(per_character), size if sized else None

    return Cost(estimate_call, lambda first, *_: math.ceil(size_of(first) * per_character))


def search_cost(*, sized: bool) -> Cost:
    """Return the cost of a pattern search: the product of both lengths. sized: the result is a part of the text."""

    def estimate_call(site: CallSite) -> Estimate:
        text = site.get_size(0)
        cost = text.add(ONE).scale(PER_CHARACTER).multiply(site.get_size(1).scale(PER_PATTERN))
        return cost, Range(0, text.high) if sized else None

    def count_search(text: Any, pattern: Any, *_: Any) -> int:
        return math.ceil((1.0 + size_of(text)) * PER_CHARACTER) * math.ceil(size_of(pattern) * PER_PATTERN)

    return Cost(estimate_call, count_search)


def measure_value(value: Any) -> int:
    """Return the cost of visiting all parts of a value."""
    total = visited = 0
    todo = [value]
    while todo and total < _MAX_VISITED and len(todo) < _MAX_VISITED:
        item = todo.pop()
        if not (visited := visited + 1) % _VALUES_PER_CHARGE:
            charge(_VALUES_PER_CHARGE)
        kind = item.__class__
        if kind is str:
            total += int(len(item.encode("utf-8", "surrogatepass")) * PER_CHARACTER)
        elif kind is bytes:
            total += int(len(item) * PER_CHARACTER)
        elif isinstance(item, list):
            todo += item
        elif kind is dict:
            todo += item
            todo += item.values()
        else:
            total += 1
    return max(total, len(todo))
