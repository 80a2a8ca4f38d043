"""Calls whose overload is chosen at evaluation, by the types of the arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podless.cel import types, values
from podless.cel.errors import EvaluationError, NoOverload
from podless.cel.functions import Overload
from podless.cel.types import Type

# kind of a declared type: names of the types that its values have
_KINDS = {kind: kind for kind in ("bool", "bytes", "double", "int", "string", "uint", "type", "list", "map")}
_KINDS |= types.RUNTIME_NAMES


def fits_type(value: Any, type_: Type) -> bool:
    """Return whether a value has a type. Of lists and maps only the first item is checked, as in cel-go."""
    if type_.kind in ("dyn", "param"):
        return True
    name = values.NAMES.get(value.__class__)
    if name != _KINDS.get(type_.kind, type_.name):
        return False
    if type_.kind == "list" and value:
        return fits_type(value[0], type_.params[0])
    if type_.kind == "map" and value:
        key = next(iter(value))
        return fits_type(key, type_.params[0]) and fits_type(value[key], type_.params[1])
    if type_.name == "optional_type" and value.present:
        return fits_type(value.value, type_.params[0])
    return True


# functions that take any list and check the items themselves
_ANY_LIST_FUNCTIONS = frozenset(("flatten", "sort", "@sortByAssociatedKeys"))
_NUMBERS = frozenset(("double", "int", "uint"))
_TIMES = frozenset(("google.protobuf.Timestamp", "google.protobuf.Duration"))
_TEXTS = frozenset(("bytes", "string"))
# functions and operators, and the types that their first argument can have
_FIRST_TYPES = {
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _NUMBERS | _TIMES | _TEXTS | {"bool"}),
    "_+_": _NUMBERS | _TIMES | _TEXTS | {"list"},
    "_-_": _NUMBERS | _TIMES,
    **dict.fromkeys(("_*_", "_/_"), _NUMBERS),
    "_%_": frozenset(("int", "uint")),
    "-_": frozenset(("double", "int")),
    "size": _TEXTS | {"list", "map"},
    "matches": frozenset(("string",)),
    **dict.fromkeys(("sort", "@sortByAssociatedKeys"), frozenset(("list",))),
}
# functions that check their arguments themselves; their errors do not name the function
_UNNAMED_FUNCTIONS = frozenset(("!_", "@in", "_==_", "_!=_", "contains", "startsWith", "endsWith"))


def _make_overload_error(function: str, args: tuple[Any, ...]) -> EvaluationError:
    """Return the error for arguments that no overload accepts, with the detail that cel-go gives."""
    names = [values.NAMES.get(arg.__class__, "") for arg in args]
    first_types = _FIRST_TYPES.get(function)
    if first_types is not None and names[0] not in first_types:
        return NoOverload(f"no such overload: {function}")
    if first_types is not None or function in _UNNAMED_FUNCTIONS:
        return NoOverload()
    return NoOverload(f"no such overload: {function}({', '.join(names)})")


def _erase_params(kind: Type) -> Type:
    """Return a type with its parameters replaced by dyn."""
    return types.Type(kind.kind, kind.name, (types.DYN,) * len(kind.params))


def guard_overloads(function: str, overloads: list[Overload], is_nameless: bool = False) -> Callable[..., Any]:
    """Return a function that calls the first matching overload. It raises EvaluationError if none matches.

    is_nameless: that error does not name the function.
    """
    ignores_params = function in _ANY_LIST_FUNCTIONS
    candidates = [
        (tuple(map(_erase_params, overload.args)) if ignores_params else overload.args, overload.call)
        for overload in overloads
    ]

    def call_matching(*args: Any) -> Any:
        for arg_types, run in candidates:
            if run is not None and all(map(fits_type, args, arg_types)):
                return run(*args)
        raise NoOverload() if is_nameless else _make_overload_error(function, args)

    call_matching.__name__ = function
    return call_matching
