"""Values as errors show them."""

from __future__ import annotations

from typing import Any

from podless.runtime.meter import each
from podless.structs.gotypes import canonical_json

# errors after which no further values are looked at
MOST = 5000
# values that nest deeper are not shown, for printing them recurses
_DEPTH = 200


def show_value(value: Any) -> Any:
    """The value with sorted keys, as Go prints it; scalars are as they are, what nests too deep is replaced."""
    if value.__class__ is not dict and value.__class__ is not list:
        return value
    return canonical_json(value) if not is_deeper(value, _DEPTH) else "(a value that nests too deep to be shown)"


def is_deeper(value: Any, most: int) -> bool:
    """Whether a JSON value has more than so many levels; it is looked at without recursion."""
    level = [value]
    for _ in range(most + 1):
        below: list[Any] = []
        for item in each(level):
            if item.__class__ is dict:
                below += item.values()
            elif item.__class__ is list:
                below += item
        level = [item for item in each(below) if item.__class__ is dict or item.__class__ is list]
        if not level:
            return False
    return True
