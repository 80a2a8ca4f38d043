"""The names that the generated code of a schema can use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from podless.runtime.meter import charge
from podless.schema import defaulting, embedded, lists
from podless.schema.emit import CALL, PER_STEP
from podless.schema.prune import CONTAINERS, has_unknown_container, holds_containers

# branches of anyOf and the like between two charges
_BRANCHES_PER_CHARGE = 32


class _Compiled(Protocol):
    """A compiled node: compile.NodeFunction."""

    run: Callable[[Any], bool]


def _count_valid(functions: tuple[_Compiled, ...], value: Any, limit: int) -> int:
    """Return how many functions accept a value; stops at `limit`."""
    result = 0
    for index, function in enumerate(functions):
        if not index % _BRANCHES_PER_CHARGE:
            charge(_BRANCHES_PER_CHARGE * CALL // PER_STEP)
        if function.run(value):
            result += 1
            if result == limit:
                break
    return result


def _are_all_valid(functions: tuple[_Compiled, ...], value: Any) -> bool:
    """Return whether all functions accept a value."""
    for index, function in enumerate(functions):
        if not index % _BRANCHES_PER_CHARGE:
            charge(_BRANCHES_PER_CHARGE * CALL // PER_STEP)
        if not function.run(value):
            return False
    return True


NAMES: dict[str, Any] = {
    "CONTAINERS": CONTAINERS,
    "holds_containers": holds_containers,
    "has_unknown": has_unknown_container,
    "unique": lists.are_unique,
    "resource": embedded.is_clean,
    "inf": float("inf"),
    "different": lambda items: not lists.find_repeated(items, exact=True),
    "charge": charge,
    "take": defaulting.take_bytes,
    "undecided": defaulting.leave_undecided,
    "add": defaulting.add_defaults,
    "holds": _count_valid,
    "every": _are_all_valid,
}
