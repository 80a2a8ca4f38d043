"""The standard functions of CEL: sizes, strings, conversions and types."""

from __future__ import annotations

import math
import operator
import re
from typing import Any

from podless.cel import access, arithmetic, gotimes, patterns
from podless.cel.decls import Library, declare, declare_each, parse_type
from podless.cel.errors import EvaluationError
from podless.cel.sizes import PER_CHARACTER, CallSite, Cost, Estimate, Range, count_traversal, search_cost
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
    conversion_error,
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
_TRUE = frozenset(("1", "t", "true", "T", "True", "TRUE"))
_FALSE = frozenset(("0", "f", "false", "F", "False", "FALSE"))


def to_int(value: Any) -> int:
    """Return int(value)."""
    kind = value.__class__
    if kind is int:
        return int(value)
    if kind is Uint:
        return arithmetic.check_int(int(value))
    if kind is float:
        if value != value or not -(2.0**63) < value < 2.0**63:
            raise EvaluationError("integer overflow")
        return int(value)
    if kind is str:
        if not _INTEGER.match(value) or len(value) > _MAX_DIGITS or not INT_MIN <= int(value) <= INT_MAX:
            raise conversion_error(value, "int")
        return int(value)
    if kind is Timestamp:
        return int(value.ns // SECOND)
    if kind is Duration:
        return int(value.ns)
    raise conversion_error(value, "int")


def to_uint(value: Any) -> Uint:
    """Return uint(value)."""
    kind = value.__class__
    if kind is Uint:
        return Uint(value)
    if kind is int:
        return arithmetic.check_uint(value)
    if kind is float:
        if value != value or not 0 <= value < 2.0**64:
            raise EvaluationError("unsigned integer overflow")
        return Uint(value)
    if kind is str:
        if not _NATURAL.match(value) or len(value) > _MAX_DIGITS or int(value) > UINT_MAX:
            raise conversion_error(value, "uint")
        return Uint(value)
    raise conversion_error(value, "uint")


def to_double(value: Any) -> float:
    """Return double(value)."""
    kind = value.__class__
    if kind is str:
        if not _FLOAT.match(value):
            raise conversion_error(value, "double")
        number = float(value)
        if math.isinf(number) and "i" not in value.lower():
            raise conversion_error(value, "double")
        return number
    if kind in (float, int, Uint):
        return float(value)
    raise conversion_error(value, "double")


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


def to_string(value: Any) -> str:
    """Return string(value)."""
    kind = value.__class__
    if kind is str:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is int or kind is Uint:
        return str(int(value))
    if kind is float:
        return show_double(value)
    if kind is bytes:
        try:
            return str(value.decode())
        except UnicodeDecodeError:
            raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None
    if kind is Timestamp:
        return gotimes.format_timestamp(value)
    if kind is Duration:
        return gotimes.format_duration(value)
    if kind is TypeValue:
        return str(value.name)
    raise conversion_error(value, "string")


def to_bytes(value: Any) -> bytes:
    """Return bytes(value)."""
    if value.__class__ is str:
        return bytes(value.encode("utf-8", "surrogatepass"))
    if value.__class__ is bytes:
        return bytes(value)
    raise conversion_error(value, "bytes")


def to_bool(value: Any) -> bool:
    """Return bool(value)."""
    if value.__class__ is bool:
        return bool(value)
    if value.__class__ is str and value in _TRUE:
        return True
    if value.__class__ is str and value in _FALSE:
        return False
    raise conversion_error(value, "bool")


def to_timestamp(value: Any) -> Timestamp:
    """Return timestamp(value)."""
    kind = value.__class__
    if kind is Timestamp:
        return Timestamp(value.ns, value.offset)
    if kind is int:
        return arithmetic.make_timestamp(value * SECOND)
    if kind is str:
        time = gotimes.parse_timestamp(value)
        if time is None:
            raise conversion_error(value, "google.protobuf.Timestamp")
        if not gotimes.is_in_years(time):
            raise EvaluationError("timestamp overflow")
        return time
    raise conversion_error(value, "google.protobuf.Timestamp")


def to_duration(value: Any) -> Duration:
    """Return duration(value). The overload for int always fails, as in cel-go."""
    kind = value.__class__
    if kind is Duration:
        return Duration(value.ns)
    if kind is str:
        try:
            return Duration(gotime.parse_duration(value))
        except ValueError:
            pass
    raise conversion_error(value, "google.protobuf.Duration")


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
        declare("type(A) -> type(A)", "type", access.type_of),
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
