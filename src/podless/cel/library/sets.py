"""Sets: CEL's sets extension, on lists."""

from __future__ import annotations

from typing import Any

from podless.cel import access, bounds
from podless.cel.cost import ONE, CallSite, Cost, Estimate
from podless.cel.functions import Library, declare
from podless.runtime.meter import charge


def contains_all(items: list[Any], required: list[Any]) -> bool:
    """Return whether `items` contains every item of `required`."""
    bounds.afford_work(len(items) * len(required))
    return all(_is_in(item, items) for item in required)


def _is_in(item: Any, items: list[Any]) -> bool:
    charge(len(items))
    return access.contains_item(item, items)


def _are_equal(left: list[Any], right: list[Any]) -> bool:
    return contains_all(left, right) and contains_all(right, left)


def _do_intersect(left: list[Any], right: list[Any]) -> bool:
    bounds.afford_work(len(left) * len(right))
    return any(_is_in(item, left) for item in right)


def _make_cost(factor: float) -> Cost:
    def estimate_call(site: CallSite) -> Estimate:
        return site.get_size(0).multiply(site.get_size(1)).scale(factor).add(ONE), None

    return Cost(estimate_call, lambda one, other, *_: int(len(one) * len(other) * factor) + 1)


LIBRARY = Library(
    "sets",
    (
        declare("sets.contains(list(A), list(A)) -> bool", "list_sets_contains_list", contains_all, _make_cost(1)),
        declare("sets.equivalent(list(A), list(A)) -> bool", "list_sets_equivalent_list", _are_equal, _make_cost(2)),
        declare("sets.intersects(list(A), list(A)) -> bool", "list_sets_intersects_list", _do_intersect, _make_cost(1)),
    ),
)
