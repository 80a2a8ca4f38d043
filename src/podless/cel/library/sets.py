"""Sets: CEL's sets extension, on lists."""

from __future__ import annotations

from typing import Any

from podless.cel import access, bounds
from podless.cel.decls import Library, declare_function, plain
from podless.cel.sizes import ONE, Cost, Estimate, Site
from podless.cel.types import BOOL, LIST_A
from podless.runtime.meter import charge


def contains(items: list[Any], others: list[Any]) -> bool:
    """Return whether `items` contains each of the others."""
    bounds.afford_work(len(items) * len(others))
    return all(_within(other, items) for other in others)


def _within(item: Any, items: list[Any]) -> bool:
    charge(len(items))
    return access.within(item, items)


def _equivalent(one: list[Any], other: list[Any]) -> bool:
    return contains(one, other) and contains(other, one)


def _intersects(one: list[Any], other: list[Any]) -> bool:
    bounds.afford_work(len(one) * len(other))
    return any(_within(item, one) for item in other)


def _cost(factor: float) -> Cost:
    def estimate(site: Site) -> Estimate:
        return site.size(0).times(site.size(1)).scaled(factor).plus(ONE), None

    return Cost(estimate, lambda one, other, *_: int(len(one) * len(other) * factor) + 1)


_PAIR = (LIST_A, LIST_A)
LIBRARY = Library(
    "sets",
    (
        declare_function("sets.contains", plain("list_sets_contains_list", _PAIR, BOOL, contains), cost=_cost(1)),
        declare_function(
            "sets.equivalent", plain("list_sets_equivalent_list", _PAIR, BOOL, _equivalent), cost=_cost(2)
        ),
        declare_function(
            "sets.intersects", plain("list_sets_intersects_list", _PAIR, BOOL, _intersects), cost=_cost(1)
        ),
    ),
)
