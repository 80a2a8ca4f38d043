"""Converts JSON to CEL values by the declarations of a schema, with one function for each kind of value."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any

from podless.cel import gotimes, pairs
from podless.cel.bounds import charge_each
from podless.cel.declared import Decl
from podless.cel.errors import EvaluationError
from podless.cel.escape import escape_name
from podless.cel.values import Duration, MapList, SetList, Timestamp
from podless.codec import gotime, serializer

_GO = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "[]interface {}",
    dict: "map[string]interface {}",
}


class Unknown:
    """Data without a schema. It is compared like JSON in Go, where 1 and 1.0 differ."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unknown) and pairs.equal_json(self.value, other.value)

    def __hash__(self) -> int:
        return hash(serializer.encode_sorted(self.value))


_NO_MAP = "a map for the provided schema with type=object"


def _list(decl: Decl, value: Any) -> Any:
    items = decl.items
    assert items is not None
    if not isinstance(value, list):
        raise EvaluationError("invalid data, expected an array for the provided schema with type=array")
    out = value if items.plain else [convert_value(items, item) for item in charge_each(value)]
    kind = decl.schema.get("x-kubernetes-list-type")
    if kind == "set":
        return SetList(out)
    if kind == "map":
        keys = decl.schema.get("x-kubernetes-list-map-keys") or ()
        return MapList(out, tuple(escape_name(key) or key for key in keys))
    return out


def _map(decl: Decl, value: Any) -> Any:
    items = decl.items
    assert items is not None
    if not isinstance(value, dict):
        raise EvaluationError("invalid data, expected a map for the provided schema with type=object")
    return value if items.plain else {key: convert_value(items, item) for key, item in charge_each(value.items())}


def _object(decl: Decl, value: Any) -> Any:
    if not isinstance(value, dict):
        raise EvaluationError("invalid data, expected a map for the provided schema with type=object")
    if decl.plain:
        return value
    out = {}
    for real, item in charge_each(value.items()):
        if item is None:  # a null field is absent for expressions, but counts in comparisons of objects
            out[f" {real}"] = Unknown(None)
            continue
        name = escape_name(real)
        part = decl.field(name) if name is not None else None
        if name is not None and part is not None:
            out[name] = convert_value(part, item)
        else:
            out[f" {real}"] = Unknown(item)  # a name that no expression can use, so that only equality sees it
    return out


def _number(decl: Decl, value: Any) -> float:
    if value.__class__ is float or value.__class__ is int:
        return float(value)
    raise EvaluationError(f"invalid data, expected float, got {_GO.get(value.__class__, '')}")


def _int(decl: Decl, value: Any) -> int:
    if value.__class__ is int:
        return int(value)
    raise EvaluationError(f"invalid data, expected int, got {_GO.get(value.__class__, '')}")


def _bool(decl: Decl, value: Any) -> bool:
    if value.__class__ is bool:
        return bool(value)
    raise EvaluationError(f"invalid data, expected bool, got {_GO.get(value.__class__, '')}")


def _check_text(decl: Decl, value: Any) -> str:
    if value.__class__ is str:
        return str(value)
    raise EvaluationError(f"invalid data, expected string, got {_GO.get(value.__class__, '')}")


def _either(decl: Decl, value: Any) -> Any:
    if value.__class__ is str or value.__class__ is int:
        return value
    raise EvaluationError("invalid data, expected XIntOrString value to be either a string or integer")


def _bytes(decl: Decl, value: Any) -> bytes:
    return _base64(_check_text(decl, value))


def _duration(decl: Decl, value: Any) -> Duration:
    text = _check_text(decl, value)
    try:
        return Duration(gotime.parse_span(text))
    except ValueError as error:
        raise EvaluationError(f"Invalid duration {text}: {error}") from None


def _date(decl: Decl, value: Any) -> Timestamp:
    text = _check_text(decl, value)
    timestamp = gotimes.parse_timestamp(f"{text}T00:00:00Z")
    if timestamp is None:
        why = f'parsing time "{text}" as "2006-01-02": cannot parse "{text}" as "2006"'
        raise EvaluationError(f"Invalid date formatted string {text}: {why}")
    return timestamp


def _time(decl: Decl, value: Any) -> Timestamp:
    """Return a time in RFC 3339, or without a zone, the last layout that kube-apiserver tries."""
    text = _check_text(decl, value)
    timestamp = gotimes.parse_timestamp(text)
    if timestamp is not None:
        return timestamp
    try:
        return Timestamp(*gotime.parse_instant(text, gotime.LOCAL))
    except ValueError as error:
        raise EvaluationError(f"Invalid date-time formatted string {text}: {error}") from None


_CONVERT: dict[str, Callable[[Decl, Any], Any]] = {
    "list": _list,
    "map": _map,
    "object": _object,
    "double": _number,
    "int": _int,
    "bool": _bool,
    "string": _check_text,
    "dyn": _either,
    "bytes": _bytes,
    "duration": _duration,
    "date": _date,
    "date-time": _time,
}


_URL_SAFE = re.compile(r"[A-Za-z0-9_\-\r\n]*")


def _base64(text: str) -> bytes:
    """Return bytes from base64 with the URL alphabet, the only one that kube-apiserver accepts."""
    good = _URL_SAFE.match(text)
    assert good is not None
    end = good.end()
    rest = text[end:]
    digits = len(text[:end].replace("\n", "").replace("\r", ""))
    if rest.strip("=\r\n"):
        raise _not_base64(text, end + len(rest) - len(rest.lstrip("=")))
    if (digits + rest.count("=")) % 4 or rest.count("=") > 2:
        raise _not_base64(text, len(text))
    try:
        return base64.urlsafe_b64decode(text)
    except (binascii.Error, ValueError):
        raise _not_base64(text, end) from None


def _not_base64(text: str, at: int) -> EvaluationError:
    return EvaluationError(f"Invalid byte formatted string {text}: illegal base64 data at input byte {at}")


def convert_value(declared: Decl, value: Any) -> Any:
    """Return a JSON value as a CEL value. Raises EvaluationError for a value of another type."""
    if value is None:
        if declared.nullable:
            return None
        raise EvaluationError("invalid data, got null for schema with nullable=false")
    return _CONVERT[declared.kind](declared, value)


def convert_container(declared: Decl, value: Any) -> Any:
    """Return a list or map unchanged. Raises EvaluationError for other values."""
    wanted = list if declared.kind == "list" else dict
    if value is None or isinstance(value, wanted):
        return value
    shown = "an array for the provided schema with type=array" if wanted is list else _NO_MAP
    raise EvaluationError(f"invalid data, expected {shown}")
