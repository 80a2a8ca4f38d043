"""Functions that generated code calls, and the global names of every program."""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Callable
from typing import Any

from podless.cel import access, arithmetic, bounds, values
from podless.cel.errors import CostExceeded, EvaluationError, Halted, NoOverload, NoSuchKey, Panic
from podless.cel.types import WRAPPERS
from podless.cel.values import NONE, Optional, Uint


def _get_field(value: Any, real: str, name: str) -> Any:
    """Return a declared field. A null field counts as missing."""
    result = value.get(real)
    if result is None:
        raise NoSuchKey(name)
    return result


def _get_item(items: list[Any], key: Any) -> Any:
    """Return an item of a declared list, which accepts integer indexes only."""
    if key.__class__ is float and key.is_integer() and 0 <= key < len(items):
        raise EvaluationError(f"unsupported index: {int(key)}")
    return access.get_item(items, key)


_UNSET = object()  # the value of an omitted optional field


def _build_wrapper(name: str, fields: list[tuple[str, Any]]) -> Any:
    """Return the plain value of a wrapper or JSON message."""
    given = {key: value for key, value in fields if value is not _UNSET}
    if name in _TIMES:
        return _TIMES[name](given.get("seconds", 0) * values.SECOND + given.get("nanos", 0))
    if name == "google.protobuf.FloatValue":
        return struct.unpack("f", struct.pack("f", given.get("value", 0.0)))[0]
    if name == "google.protobuf.Value":  # a null is written as the enum null_value
        return next((value for key, value in given.items() if key != "null_value"), None)
    if name in _CONTAINERS:
        return next(iter(given.values()), _CONTAINERS[name]())
    return given.get("value", _ZEROS[WRAPPERS[name].kind])


_TIMES: dict[str, Callable[[int], Any]] = {
    "google.protobuf.Duration": arithmetic.make_duration,
    "google.protobuf.Timestamp": arithmetic.make_timestamp,
}
_CONTAINERS: dict[str, Any] = {"google.protobuf.ListValue": list, "google.protobuf.Struct": dict}


def _construct_message(name: str, fields: list[tuple[str, Any]]) -> values.Message:
    return values.Message(name, ((key, value) for key, value in fields if value is not _UNSET))


# zero values by the kind of a type
_ZEROS: dict[str, Any] = {"bool": False, "bytes": b"", "double": 0.0, "int": 0, "string": "", "uint": Uint(0)}


def _fail_undeclared(name: str) -> Any:
    raise EvaluationError(f"no such attribute(s): {name}")


GLOBALS: dict[str, Any] = {
    "absent": _fail_undeclared,
    "clock": time.perf_counter,
    "CostExceeded": CostExceeded,
    "EvaluationError": EvaluationError,
    "Halted": Halted,
    "NONE": NONE,
    "Optional": Optional,
    "Panic": Panic,
    "build": _build_wrapper,
    "construct": _construct_message,
    "equal": values.are_equal,
    "field": _get_field,
    "check_loop_cost": bounds.check_loop_cost,
    "has": access.has_field,
    "index": access.get_item,
    "item": _get_item,
    "insert": access.insert_entry,
    "iterate": access.iterate_items,
    "least": lambda left, right: math.ceil(min(values.size_of(left), values.size_of(right)) * 0.1),
    "no_overload": NoOverload,
    "opened": lambda value: value.value if value.present else _UNSET,
    "optional_index": access.get_optional_item,
    "pause": bounds.pause_work,
    "put": access.put_item,
    "remove": access.remove_item,
    "select": access.select_field,
    "truth": access.require_bool,
    "whole": arithmetic.check_int,
}
