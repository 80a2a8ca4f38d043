"""Converts JSON to CEL values by the declarations of a schema, with one function for each kind of value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podless.cel import correlation, gotimes
from podless.cel.bounds import charge_each
from podless.cel.errors import EvaluationError
from podless.cel.schematypes import Decl, escape_name
from podless.cel.values import Duration, MapList, SetList, Timestamp
from podless.codec import gobase64, gotext, gotime, serializer


class SchemalessValue:
    """Data without a schema. It is compared like JSON in Go, where 1 and 1.0 differ."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SchemalessValue) and correlation.equal_json(self.value, other.value)

    def __hash__(self) -> int:
        return hash(serializer.encode_sorted(self.value))


def _make_container_error(decl: Decl) -> EvaluationError:
    expected, kind = ("an array", "array") if decl.kind == "list" else ("a map", "object")
    return EvaluationError(f"invalid data, expected {expected} for the provided schema with type={kind}")


def _convert_list(decl: Decl, value: Any) -> Any:
    items = decl.items
    assert items is not None
    if not isinstance(value, list):
        raise _make_container_error(decl)
    converted = value if items.is_plain else [convert_value(items, item) for item in charge_each(value)]
    kind = decl.schema.get("x-kubernetes-list-type")
    if kind == "set":
        return SetList(converted)
    if kind == "map":
        keys = decl.schema.get("x-kubernetes-list-map-keys") or ()
        return MapList(converted, tuple(escape_name(key) or key for key in keys))
    return converted


def _convert_map(decl: Decl, value: Any) -> Any:
    items = decl.items
    assert items is not None
    if not isinstance(value, dict):
        raise _make_container_error(decl)
    return value if items.is_plain else {key: convert_value(items, item) for key, item in charge_each(value.items())}


def _convert_object(decl: Decl, value: Any) -> Any:
    if not isinstance(value, dict):
        raise _make_container_error(decl)
    if decl.is_plain:
        return value
    converted = {}
    for real, item in charge_each(value.items()):
        if item is None:  # a null field is absent for expressions, but counts in comparisons of objects
            converted[f" {real}"] = SchemalessValue(None)
            continue
        name = escape_name(real)
        field_decl = decl.find_field(name) if name is not None else None
        if name is not None and field_decl is not None:
            converted[name] = convert_value(field_decl, item)
        else:
            converted[f" {real}"] = SchemalessValue(
                item
            )  # a name that no expression can use, so that only equality sees it
    return converted


def _make_scalar_conversion(name: str, *classes: type) -> Callable[[Decl, Any], Any]:
    def convert_scalar(decl: Decl, value: Any) -> Any:
        if value.__class__ in classes:
            return value
        raise EvaluationError(f"invalid data, expected {name}, got {gotext.name_type(value)}")

    return convert_scalar


_check_number = _make_scalar_conversion("float", float, int)
_convert_text = _make_scalar_conversion("string", str)


def _convert_int_or_string(decl: Decl, value: Any) -> Any:
    if value.__class__ is str or value.__class__ is int:
        return value
    raise EvaluationError("invalid data, expected XIntOrString value to be either a string or integer")


def _make_text_conversion(label: str, parse: Callable[[str], Any]) -> Callable[[Decl, Any], Any]:
    """Return the conversion of texts. label: for errors. parse: raises ValueError."""

    def convert_text(decl: Decl, value: Any) -> Any:
        text = _convert_text(decl, value)
        try:
            return parse(text)
        except ValueError as error:
            raise EvaluationError(f"Invalid {label} {text}: {error}") from None

    return convert_text


def _parse_date(text: str) -> Timestamp:
    timestamp = gotimes.parse_timestamp(f"{text}T00:00:00Z")
    if timestamp is None:
        raise ValueError(f'parsing time "{text}" as "2006-01-02": cannot parse "{text}" as "2006"')
    return timestamp


def _parse_date_time(text: str) -> Timestamp:
    """Return a time in RFC 3339, or without a zone, the last layout that kube-apiserver tries."""
    return gotimes.parse_timestamp(text) or Timestamp(*gotime.parse_instant(text, gotime.LOCAL))


_CONVERT: dict[str, Callable[[Decl, Any], Any]] = {
    "list": _convert_list,
    "map": _convert_map,
    "object": _convert_object,
    "double": lambda decl, value: float(_check_number(decl, value)),
    "int": _make_scalar_conversion("int", int),
    "bool": _make_scalar_conversion("bool", bool),
    "string": _convert_text,
    "dyn": _convert_int_or_string,
    # the only alphabet that kube-apiserver accepts
    "bytes": _make_text_conversion("byte formatted string", lambda text: gobase64.decode_base64(text, url=True)),
    "duration": _make_text_conversion("duration", lambda text: Duration(gotime.parse_span(text))),
    "date": _make_text_conversion("date formatted string", _parse_date),
    "date-time": _make_text_conversion("date-time formatted string", _parse_date_time),
}


def convert_value(declared: Decl, value: Any) -> Any:
    """Return a JSON value as a CEL value. Raises EvaluationError for a value of another type."""
    if value is None:
        if declared.nullable:
            return None
        raise EvaluationError("invalid data, got null for schema with nullable=false")
    return _CONVERT[declared.kind](declared, value)


def convert_container(declared: Decl, value: Any) -> Any:
    """Return a list or map unchanged. Raises EvaluationError for other values."""
    if value is None or isinstance(value, list if declared.kind == "list" else dict):
        return value
    raise _make_container_error(declared)
