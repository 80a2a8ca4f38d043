"""The standard functions of CEL: sizes, strings, conversions and types."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from podless.cel import arithmetic, gotimes, patterns
from podless.cel.cost import PER_CHARACTER, CallSite, Cost, Estimate, Range, count_traversal, search_cost
from podless.cel.errors import EvaluationError
from podless.cel.functions import Library, declare, declare_each, parse_type
from podless.cel.types import DURATION, LIST_A, MAP_AB, NULL, TIMESTAMP, TYPE
from podless.cel.values import (
    INT_MAX,
    INT_MIN,
    SECOND,
    UINT_MAX,
    Duration,
    Timestamp,
    TypeValue,
    Uint,
    make_conversion_error,
    name_of,
)
from podless.codec import gotext, gotime
from podless.runtime.lazy import compile_late

_INTEGER = compile_late(r"[+-]?[0-9]+\Z")
_NATURAL = compile_late(r"[0-9]+\Z")
_FLOAT = compile_late(
    r"[+-]?(?:(?:[0-9]+(?:_[0-9]+)*\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)\Z", re.IGNORECASE
)
_MAX_DIGITS = 1000  # maximum digits of a number
_EXPONENT = 6  # exponents from here on are written
_BOOLS = {
    **dict.fromkeys(("1", "t", "true", "T", "True", "TRUE"), True),
    **dict.fromkeys(("0", "f", "false", "F", "False", "FALSE"), False),
}


def _make_conversion(target: str, conversions: Mapping[type, Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """Return a function that converts values by their class. target: the type, as errors name it."""

    def convert_value(value: Any) -> Any:
        convert = conversions.get(value.__class__)
        if convert is None:
            raise make_conversion_error(value, target)
        return convert(value)

    return convert_value


def _truncate_to_int(value: float) -> int:
    if value != value or not -(2.0**63) < value < 2.0**63:
        raise EvaluationError("integer overflow")
    return int(value)


def _parse_int(text: str) -> int:
    if not _INTEGER.match(text) or len(text) > _MAX_DIGITS or not INT_MIN <= int(text) <= INT_MAX:
        raise make_conversion_error(text, "int")
    return int(text)


def _truncate_to_uint(value: float) -> Uint:
    if value != value or not 0 <= value < 2.0**64:
        raise EvaluationError("unsigned integer overflow")
    return Uint(value)


def _parse_uint(text: str) -> Uint:
    if not _NATURAL.match(text) or len(text) > _MAX_DIGITS or int(text) > UINT_MAX:
        raise make_conversion_error(text, "uint")
    return Uint(text)


def _parse_double(text: str) -> float:
    if not _FLOAT.match(text):
        raise make_conversion_error(text, "double")
    number = float(text)
    if math.isinf(number) and "i" not in text.lower():
        raise make_conversion_error(text, "double")
    return number


def show_double(value: float) -> str:
    """Format a double as Go's %g: the fewest digits, with an exponent below -4 or above 5."""
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    sign, digits, power = gotext.shortest_decimal(value).normalize().as_tuple()
    minus = "-" if sign else ""
    if digits == (0,):
        return f"{minus}0"
    exponent = len(digits) + int(power) - 1
    if -4 <= exponent < _EXPONENT:
        return format(gotext.shortest_decimal(value).normalize(), "f")
    text = "".join(map(str, digits))
    fraction = f".{text[1:]}" if len(text) > 1 else ""
    return f"{minus}{text[0]}{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _decode_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


def _parse_bool(text: str) -> bool:
    if text not in _BOOLS:
        raise make_conversion_error(text, "bool")
    return _BOOLS[text]


def _parse_timestamp(text: str) -> Timestamp:
    time = gotimes.parse_timestamp(text)
    if time is None:
        raise make_conversion_error(text, "google.protobuf.Timestamp")
    if not gotimes.is_in_years(time):
        raise EvaluationError("timestamp overflow")
    return time


def _parse_duration(text: str) -> Duration:
    try:
        return Duration(gotime.parse_duration(text))
    except ValueError:
        raise make_conversion_error(text, "google.protobuf.Duration") from None


to_int = _make_conversion(
    "int",
    {
        int: int,
        Uint: lambda value: arithmetic.check_int(int(value)),
        float: _truncate_to_int,
        str: _parse_int,
        Timestamp: lambda value: value.ns // SECOND,
        Duration: lambda value: value.ns,
    },
)
to_uint = _make_conversion("uint", {Uint: Uint, int: arithmetic.check_uint, float: _truncate_to_uint, str: _parse_uint})
to_double = _make_conversion("double", {float: float, int: float, Uint: float, str: _parse_double})
to_string = _make_conversion(
    "string",
    {
        str: str,
        bool: lambda value: "true" if value else "false",
        int: str,
        Uint: lambda value: str(int(value)),
        float: show_double,
        bytes: _decode_text,
        Timestamp: gotimes.format_timestamp,
        Duration: gotimes.format_duration,
        TypeValue: lambda value: value.name,
    },
)
to_bytes = _make_conversion("bytes", {bytes: bytes, str: lambda value: value.encode("utf-8", "surrogatepass")})
to_bool = _make_conversion("bool", {bool: bool, str: _parse_bool})
to_timestamp = _make_conversion(
    "google.protobuf.Timestamp",
    {
        Timestamp: lambda value: Timestamp(value.ns, value.offset),
        int: lambda value: arithmetic.make_timestamp(value * SECOND),
        str: _parse_timestamp,
    },
)
# the overload for int always fails, as in cel-go
to_duration = _make_conversion(
    "google.protobuf.Duration", {Duration: lambda value: Duration(value.ns), str: _parse_duration}
)


def _estimate_encoding(site: CallSite) -> Estimate:
    size = site.get_size(0)
    return size.scale(PER_CHARACTER), Range(size.low, min(size.high * 4, (1 << 64) - 1))


def _estimate_decoding(site: CallSite) -> Estimate:
    size = site.get_size(0)
    return size.scale(PER_CHARACTER), Range(size.low // 4, size.high)


def _estimate_containment(site: CallSite) -> Estimate:
    return site.get_size(0).scale(PER_CHARACTER).multiply(site.get_size(1).scale(PER_CHARACTER)), None


def _count_containment(text: str, substring: str, *_: Any) -> int:
    return math.ceil(len(text) * PER_CHARACTER) * math.ceil(len(substring) * PER_CHARACTER)


# as in cel-go, the estimate uses the length of the argument, the actual cost that of the target
_AFFIX = Cost(lambda site: (site.get_size(1).scale(PER_CHARACTER), None), count_traversal)
_BYTES = Cost(_estimate_encoding, count_traversal)
_TEXT = Cost(_estimate_decoding, count_traversal)
_CONTAINMENT = Cost(_estimate_containment, _count_containment)
LIBRARY = Library(
    "standard",
    (
        declare("size(string) -> int", "size_string", len),
        declare("size(bytes) -> int", "size_bytes", len),
        declare("size(list(A)) -> int", "size_list", len),
        declare("size(map(A, B)) -> int", "size_map", len),
        declare("<string>.size() -> int", "string_size", len),
        declare("<bytes>.size() -> int", "bytes_size", len),
        declare("<list(A)>.size() -> int", "list_size", len),
        declare("<map(A, B)>.size() -> int", "map_size", len),
        declare("<string>.contains(string) -> bool", "contains_string", operator.contains, _CONTAINMENT),
        declare("<string>.startsWith(string) -> bool", "starts_with_string", str.startswith, _AFFIX),
        declare("<string>.endsWith(string) -> bool", "ends_with_string", str.endswith, _AFFIX),
        declare("matches(string, string) -> bool", "matches", patterns.has_match),
        declare("<string>.matches(string) -> bool", "matches_string", patterns.has_match, search_cost(sized=False)),
        declare("type(A) -> type(A)", "type", lambda value: TypeValue(name_of(value))),
        declare("dyn(A) -> dyn", "to_dyn", lambda a: a),
        *declare_each("int double duration string timestamp uint", "int({0}) -> int", "{1}_to_int64", to_int),
        *declare_each("uint double int string", "uint({0}) -> uint", "{1}_to_uint64", to_uint),
        *declare_each("double int string uint", "double({0}) -> double", "{1}_to_double", to_double),
        *declare_each("string bool", "string({0}) -> string", "{1}_to_string", to_string),
        declare("string(bytes) -> string", "bytes_to_string", to_string, _TEXT),
        *declare_each("double duration int timestamp uint", "string({0}) -> string", "{1}_to_string", to_string),
        declare("bytes(bytes) -> bytes", "bytes_to_bytes", to_bytes),
        declare("bytes(string) -> bytes", "string_to_bytes", to_bytes, _BYTES),
        *declare_each("bool string", "bool({0}) -> bool", "{1}_to_bool", to_bool),
        *declare_each("timestamp int string", "timestamp({0}) -> timestamp", "{1}_to_timestamp", to_timestamp),
        *declare_each("duration int string", "duration({0}) -> duration", "{1}_to_duration", to_duration),
    ),
    {
        **{name: parse_type(name) for name in ("bool", "bytes", "double", "int", "string", "uint")},
        "list": LIST_A,
        "map": MAP_AB,
        "null_type": NULL,
        "type": TYPE,
        "google.protobuf.Timestamp": TIMESTAMP,
        "google.protobuf.Duration": DURATION,
    },
)
