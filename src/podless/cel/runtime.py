"""Functions that generated code calls, and the global names of every program."""

from __future__ import annotations

import math
import struct
import time
from typing import Any

from podless.cel import access, arithmetic, bounds, compare, values
from podless.cel.errors import CostExceeded, EvaluationError, Halted, NoOverload, NoSuchKey, Panic
from podless.cel.values import NONE, Optional, Uint


def _field(value: Any, real: str, name: str) -> Any:
    """Return a declared field. A null field counts as missing."""
    result = value.get(real)
    if result is None:
        raise NoSuchKey(name)
    return result


def _item(place: list[Any], key: Any) -> Any:
    """Return an item of a declared list, which accepts integer indexes only."""
    if key.__class__ is float and key.is_integer() and 0 <= key < len(place):
        raise EvaluationError(f"unsupported index: {int(key)}")
    return access.index(place, key)


def _least(one: Any, other: Any) -> int:
    return math.ceil(min(values.size_of(one), values.size_of(other)) * 0.1)


_UNSET = object()  # the value of an omitted optional field


def _opened(value: Optional) -> Any:
    return value.value if value.present else _UNSET


def _build(name: str, fields: list[tuple[str, Any]]) -> Any:
    """Return the plain value of a wrapper or JSON message."""
    given = {key: value for key, value in fields if value is not _UNSET}
    if name == "google.protobuf.Duration":
        return arithmetic.span(given.get("seconds", 0) * values.SECOND + given.get("nanos", 0))
    if name == "google.protobuf.Timestamp":
        return arithmetic.moment(given.get("seconds", 0) * values.SECOND + given.get("nanos", 0))
    if name == "google.protobuf.FloatValue":
        return struct.unpack("f", struct.pack("f", given.get("value", 0.0)))[0]
    if name in _JSON:
        return _json(name, given)
    return given.get("value", _ZEROS[name])


def _json(name: str, given: dict[str, Any]) -> Any:
    """Return a JSON value. A null is written as the enum null_value."""
    if name == "google.protobuf.Value":
        return next((value for key, value in given.items() if key != "null_value"), None)
    return next(iter(given.values()), _JSON[name]())


_JSON: dict[str, Any] = {
    "google.protobuf.Value": None,
    "google.protobuf.ListValue": list,
    "google.protobuf.Struct": dict,
}


def _construct(name: str, fields: list[tuple[str, Any]]) -> values.Message:
    """Construct a message of a declared type."""
    return values.Message(name, ((key, value) for key, value in fields if value is not _UNSET))


_ZEROS: dict[str, Any] = {
    "google.protobuf.BoolValue": False,
    "google.protobuf.BytesValue": b"",
    "google.protobuf.DoubleValue": 0.0,
    "google.protobuf.FloatValue": 0.0,
    "google.protobuf.Int32Value": 0,
    "google.protobuf.Int64Value": 0,
    "google.protobuf.StringValue": "",
    "google.protobuf.UInt32Value": Uint(0),
    "google.protobuf.UInt64Value": Uint(0),
}


def _absent(name: str) -> Any:
    raise EvaluationError(f"no such attribute(s): {name}")


GLOBALS: dict[str, Any] = {
    "absent": _absent,
    "clock": time.perf_counter,
    "CostExceeded": CostExceeded,
    "EvaluationError": EvaluationError,
    "Halted": Halted,
    "NONE": NONE,
    "Optional": Optional,
    "Panic": Panic,
    "build": _build,
    "construct": _construct,
    "equal": compare.equal,
    "field": _field,
    "go_on": bounds.go_on,
    "has": access.has,
    "index": access.index,
    "item": _item,
    "insert": access.insert,
    "iterate": access.iterate,
    "least": _least,
    "no_overload": NoOverload,
    "opened": _opened,
    "optional_index": access.optional_index,
    "pause": bounds.pause_work,
    "put": access.put_item,
    "remove": access.remove_item,
    "select": access.select,
    "truth": access.truth,
    "whole": arithmetic.whole,
}
