"""Values in the form in which errors show them."""

from __future__ import annotations

from typing import Any

from podless.codec import gotext, serializer
from podless.codec.gotext import Literal
from podless.runtime.release import has
from podless.structs.gotypes import canonical_json

# errors after which validation stops
MAX_ERRORS = 5000
# deeper values are not shown, because printing them recurses
_MAX_DEPTH = 201


def show_value(value: Any) -> Any:
    """Return the value with sorted keys, as Go prints it. Scalars stay; a value that nests too deeply is replaced.

    Releases that show no JSON print lists and maps as Go code.
    """
    if value.__class__ is not dict and value.__class__ is not list:
        return value
    if has("ValuesAsJSON") or serializer.is_deeper(value, _MAX_DEPTH):
        return sort_value(value)
    return Literal(gotext.format_interface(value))


def sort_value(value: Any) -> Any:
    """Return a list or map with sorted keys, or a text if it nests too deeply."""
    too_deep = serializer.is_deeper(value, _MAX_DEPTH)
    return "(a value that nests too deep to be shown)" if too_deep else canonical_json(value)
