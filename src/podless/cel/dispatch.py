"""Calls whose arguments are looked at when they are there: the form of a function that fits their types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podless.cel import values
from podless.cel.decls import Overload
from podless.cel.errors import EvaluationError
from podless.cel.types import Type

# kind of a declared type -> names of types that values of it have
_KINDS = {
    "bool": "bool",
    "bytes": "bytes",
    "double": "double",
    "int": "int",
    "string": "string",
    "uint": "uint",
    "null": "null_type",
    "duration": "google.protobuf.Duration",
    "timestamp": "google.protobuf.Timestamp",
    "type": "type",
    "list": "list",
    "map": "map",
}


def fits(value: Any, wanted: Type) -> bool:
    """Whether a value is of a type; of lists and maps, the first item is looked at, as in the original."""
    if wanted.kind in ("dyn", "param"):
        return True
    name = values.NAMES.get(value.__class__)
    if name != _KINDS.get(wanted.kind, wanted.name):
        return False
    if wanted.kind == "list" and value:
        return fits(value[0], wanted.params[0])
    if wanted.kind == "map" and value:
        key = next(iter(value))
        return fits(key, wanted.params[0]) and fits(value[key], wanted.params[1])
    if wanted.name == "optional_type" and value.present:
        return fits(value.value, wanted.params[0])
    return True


def guarded(function: str, overloads: list[Overload]) -> Callable[..., Any]:
    """A function that takes the first of some forms that fits."""
    forms = [(overload.args, overload.call) for overload in overloads]

    def call(*args: Any) -> Any:
        for wanted, run in forms:
            if run is not None and all(map(fits, args, wanted)):
                return run(*args)
        raise EvaluationError("no such overload")

    call.__name__ = function
    return call
