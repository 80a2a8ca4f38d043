"""Converts the results of mutations to JSON.

Source: k8s.io/apiserver pkg/cel/mutation, and the conversions of cel-go's types.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Container
from typing import Any

from podless.cel import gotimes
from podless.cel.bounds import charge_each
from podless.cel.errors import EvaluationError
from podless.cel.library.formats import Format
from podless.cel.library.network import Cidr, Ip
from podless.cel.library.quantity import QuantityValue
from podless.cel.library.semver import Semver
from podless.cel.library.standard import to_string
from podless.cel.policies.authorizer import CLASS_NAMES
from podless.cel.values import (
    INT_MAX,
    INT_MIN,
    ConcatenatedList,
    Duration,
    Message,
    Optional,
    StringList,
    Timestamp,
    TypeValue,
    Uint,
)
from podless.codec import gotext
from podless.codec.gotext import GoValue
from podless.codec.gourl import Url
from podless.runtime.meter import charge

_MAX_SAFE_INTEGER = (1 << 53) - 1  # larger integers become strings in JSON
_TARGET_TYPE = "*structpb.Value"
_NOT_JSON = "JSONPath valueExpression evaluated to a type that could not marshal to JSON: "
_OPAQUE = {QuantityValue: "Quantity", Semver: "Semver", Url: "URL", Ip: "IP", Cidr: "CIDR", Format: "Format"}
_KEYS = {
    int: "unsupported type conversion from 'int' to string",
    Uint: "unsupported type conversion from 'uint' to string",
    bool: "type conversion error from bool to 'string'",
}


class TypeMismatch(Exception):
    """An object or a patch has the wrong type. The text says why."""


def make_patch_operations(patches: list[Message]) -> list[dict[str, Any]]:
    """Return the JSON patch operations of JSONPatch messages. Raises TypeMismatch for values without a JSON form."""
    result = []
    for patch in patches:
        operation = {name: value for name, value in patch.items() if name != "value"}
        if "value" in patch:
            _check_names(patch["value"])
            try:
                operation["value"] = _patch_value(patch["value"])
            except EvaluationError as error:
                raise TypeMismatch(f"{_NOT_JSON}{error}") from None
        result.append(operation)
    return result


def _check_names(value: Any) -> None:
    if isinstance(value, Message):
        wrong = _find_misplaced(value, value.name)
        if wrong:
            raise TypeMismatch("type mismatch: " + "\n".join(wrong))


def _find_misplaced(value: Any, path: str) -> list[str]:
    """Return an error for each message whose type name is not the path of its field."""
    results: list[str] = []
    if isinstance(value, Message):
        if value.name != path:
            results.append(
                f"unexpected type name {gotext.quote(value.name)}, expected {gotext.quote(path)}, which matches field "
                "name path from root Object type"
            )
        for name, item in value.items():
            results += _find_misplaced(item, f"{path}.{name}")
    elif isinstance(value, list):
        for item in charge_each(value):
            results += _find_misplaced(item, path)
    elif isinstance(value, dict):
        for item in charge_each(value.values()):
            results += _find_misplaced(item, path)
    return results


def _patch_value(value: Any) -> Any:
    """Return the value of a patch operation, a google.protobuf.Value, as JSON."""
    if value is None or value.__class__ in (bool, str):
        return value
    if isinstance(value, Message):
        return _convert_object(_apply_fields(value, ()))
    if isinstance(value, list):
        return [_patch_value(item) for item in charge_each(value)]
    if isinstance(value, dict):
        for key in value:
            if key.__class__ is not str:
                raise EvaluationError(_KEYS.get(key.__class__, "type conversion error from Double to 'string'"))
        return {key: _patch_value(item) for key, item in charge_each(value.items())}
    convert = _SCALARS.get(value.__class__)
    if convert is None:
        raise EvaluationError(f"type conversion error from '{_OPAQUE.get(value.__class__, '')}' to '{_TARGET_TYPE}'")
    return convert(value)


def _convert_integer(value: int) -> int | str:
    if value.__class__ is int and not INT_MIN <= value <= INT_MAX:
        return value  # in Go it is a double, not an integer
    return int(value) if abs(value) <= _MAX_SAFE_INTEGER else str(int(value))


def _convert_double(value: float) -> float | int:
    """Return the JSON number of a double: an integer if it is integral."""
    if not math.isfinite(value):
        text = "NaN" if value != value else "+Inf" if value > 0 else "-Inf"
        raise EvaluationError(
            f"json: error calling MarshalJSON for type {_TARGET_TYPE}: proto: google.protobuf.Value.number_value:"
            f" invalid {text} value"
        )
    return int(value) if value.is_integer() and abs(value) < 2.0**63 else value


def _convert_optional(value: Optional) -> Any:
    if not value.present:
        raise EvaluationError("optional.none() dereference")
    return _patch_value(value.value)


def _reject_type(value: TypeValue) -> Any:
    raise EvaluationError("type conversion not supported for 'type'")


_SCALARS: dict[type, Callable[[Any], Any]] = {
    int: _convert_integer,
    Uint: _convert_integer,
    float: _convert_double,
    bytes: lambda value: base64.b64encode(value).decode(),
    Timestamp: to_string,
    Duration: to_string,
    Optional: _convert_optional,
    TypeValue: _reject_type,
}


def _convert_object(value: Any) -> Any:
    """Return a constructed object, with its numbers as doubles."""
    if isinstance(value, dict):
        return {key: _convert_object(item) for key, item in charge_each(value.items())}
    if isinstance(value, list):
        return [_convert_object(item) for item in charge_each(value)]
    if isinstance(value, GoValue):
        if isinstance(value.value, int):
            return _convert_double(float(value.value))
        if isinstance(value.value, bytes):
            return base64.b64encode(value.value).decode()
        raise EvaluationError(f"proto: invalid type: {value.kind}")
    return _convert_double(float(value)) if value.__class__ in (int, float) else value


def apply_message(value: Message, data: Container[int]) -> dict[str, Any]:
    """Return the object of an Object message. Raises TypeMismatch.

    data: the ids of lists and maps that are parts of the request. Values that the expression created are converted one
    level deep only, as in kube-apiserver; deeper values stay Go values, which no schema accepts.
    """
    _check_names(value)
    message: dict[str, Any] = _apply_fields(value, data)
    return message


def collect_container_ids(values: dict[str, Any]) -> set[int]:
    """Return the ids of all lists and maps in some values."""
    ids: set[int] = set()
    todo: list[Any] = [value for value in values.values() if isinstance(value, dict | list)]
    while todo:
        container = todo.pop()
        ids.add(id(container))
        items = charge_each(container.values() if isinstance(container, dict) else container)
        charge(1)
        todo += [item for item in items if isinstance(item, dict | list)]
    return ids


def _apply_fields(value: Message, data: Container[int]) -> Any:
    return {name: _apply_field(name, item, data) for name, item in charge_each(value.items())}


def _apply_field(name: str, value: Any, data: Container[int]) -> Any:
    if id(value) in data:
        return value
    if value.__class__ is Optional:
        return _apply_field(name, value.value, data) if value.present else None
    if isinstance(value, list) and value.__class__ not in (ConcatenatedList, StringList):
        return [_convert_to_native(item, data) for item in charge_each(value)] or None
    if value.__class__ is dict:
        for key in value:
            if key.__class__ is not str:
                kind = _TYPES[key.__class__]
                key_text = (
                    f"'{_format_rune(key)}'" if isinstance(key, int) and kind != "types.Bool" else f"%!q({kind}={key})"
                )
                raise TypeMismatch(f"fail to convert field {gotext.quote(name)}: map key {key_text} is of type {kind}")
        return {key: _convert_to_native(item, data) for key, item in charge_each(value.items())}
    return _convert_to_native(value, data)


def _format_rune(code: int) -> str:
    return repr(chr(code if 0 <= code <= 0x10FFFF else 0xFFFD))[1:-1]


def _convert_to_native(value: Any, data: Container[int]) -> Any:
    """Return the equivalent of Go's Value()."""
    kind = value.__class__
    if id(value) in data or kind in (str, bool, float):
        return value
    if kind is int:
        return int(value)
    if kind is Message:
        return _apply_fields(value, data)
    if kind is ConcatenatedList:
        return [_convert_to_native(item, data) for item in charge_each(value)]
    if kind is Optional:
        return _convert_to_native(value.value, data) if value.present else None
    if kind is TypeValue:
        return value.name
    return GoValue(value, *_describe_go_value(value))


def _describe_go_value(value: Any) -> tuple[str, str, str]:
    """Return a value as Go formats it, as text and as code, and the name of its type."""
    if isinstance(value, list):
        inside = ", ".join(map(_format_code, value))
        if value.__class__ is StringList:
            return f"[{' '.join(value)}]", f"[]string{{{inside}}}", "[]string"
        return f"[{' '.join(map(_format_value, value))}]", f"[]ref.Val{{{inside}}}", "[]ref.Val"
    if isinstance(value, dict):
        pairs = [
            (_format_value(key), _format_code(key), item)
            for key, item in sorted(value.items(), key=lambda pair: str(pair[0]))
        ]
        text = " ".join(f"{key}:{_format_value(item)}" for key, _, item in pairs)
        code = ", ".join(f"{key}:{_format_code(item)}" for _, key, item in pairs)
        return f"map[{text}]", f"map[ref.Val]ref.Val{{{code}}}", "map[ref.Val]ref.Val"
    if value is None:
        return "NULL_VALUE", "0", "structpb.NullValue"
    kind = value.__class__
    return (
        _format_value(value),
        _format_code(value, "[]uint8"),
        _NATIVE.get(kind) or CLASS_NAMES.get(kind, kind.__name__),
    )


_TYPES = {int: "types.Int", Uint: "types.Uint", bool: "types.Bool", float: "types.Double"}
_NATIVE = {
    Uint: "uint64",
    bytes: "[]uint8",
    Timestamp: "time.Time",
    Duration: "time.Duration",
    QuantityValue: "*resource.Quantity",
    Semver: "semver.Version",
    Url: "*url.URL",
    Ip: "netip.Addr",
    Cidr: "netip.Prefix",
}


def _format_value(value: Any) -> str:
    """Return a value formatted with %v."""
    kind = value.__class__
    if kind is bytes:
        return f"[{' '.join(map(str, value))}]"
    if kind is Timestamp:
        return gotimes.format_go_timestamp(value)
    if kind is Duration:
        return gotimes.format_go_duration(value)
    if kind is TypeValue:
        return str(value.name)
    if isinstance(value, list):
        return f"[{', '.join(map(_format_value, value))}]"
    if value is None:
        return "0"
    return (
        str(int(value))
        if kind is Uint
        else gotext.format_plain(value)
        if kind in (str, bool, int, float)
        else str(value)
    )


def _format_code(value: Any, of_bytes: str = "types.Bytes") -> str:
    """Return a value formatted with %#v. of_bytes: the Go type of bytes."""
    kind = value.__class__
    if kind is str:
        return gotext.quote(value)
    if kind is Uint:
        return f"0x{int(value):x}"
    if kind is bytes:
        return f"{of_bytes}{{{', '.join(f'0x{byte:x}' for byte in value)}}}"
    return str(value.ns) if kind is Duration else _format_value(value)
