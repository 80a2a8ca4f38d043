"""The values of YAML scalars and keys, by the rules of go-yaml v2 for a conversion to JSON."""

from __future__ import annotations

import base64
import binascii
import datetime
import math
import re
import struct
from typing import Any

from podless.codec import gotext, jsontext
from podless.codec.gotext import MAX_INT64, MAX_UINT64, MIN_INT64
from podless.codec.jsontext import YAMLError
from podless.runtime.release import has

WORDS: dict[str, tuple[str, Any]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), ("bool", True)),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), ("bool", False)),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), ("null", None)),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), ("float", float("nan"))),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), ("float", float("inf"))),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), ("float", float("-inf"))),
    "<<": ("merge", "<<"),
}
_HINTS = frozenset("+-.0123456789yYnNtTfFoO~<")
_RESOLVABLE = {"", "str", "bool", "int", "float", "null", "timestamp"}
_FLOAT = re.compile(r"[-+]?(\.[0-9]++|[0-9]++(\.[0-9]*+)?)([eE][-+]?[0-9]++)?")
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]++)|0[bB]([01]++)|0[oO]?([0-7]++)|([1-9][0-9]*+|0))")
_TIME = r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]++)?"
_DATE = re.compile(
    rf"([0-9]{{4}})-([0-9]{{1,2}})-([0-9]{{1,2}})(?:[Tt]{_TIME}(?:Z|[-+][0-9]{{2}}:[0-9]{{2}})| {_TIME})?"
)


def read_scalar(text: str, tag: str, plain: bool) -> Any:
    """Return the value of a scalar. tag: without YAML's own prefix, "" for none. plain: unquoted. Raises YAMLError."""
    if not tag and not plain:
        return text
    if tag == "binary":
        try:
            return jsontext.decode_utf8(base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True))
        except (binascii.Error, ValueError):
            raise YAMLError("yaml: !!binary value contains invalid base64 data") from None
    if tag not in _RESOLVABLE or tag == "str":
        return text
    kind, value = resolve_scalar(text, tag)
    if tag == "float" and kind == "int":
        return float(value)
    if tag and kind != tag:
        raise YAMLError(f"yaml: cannot decode !!{kind} `{text}` as a !!{tag}")
    return value


def resolve_scalar(text: str, tag: str = "") -> tuple[str, Any]:
    """Return the kind and value of a plain scalar. A date has its own kind, and its value is the text."""
    if text and text[0] not in _HINTS:
        return "str", text
    word = WORDS.get(text)
    if word is not None:
        return word
    if text[0] == ".":
        return _parse_float(text) or ("str", text)
    if text[0] in "+-0123456789":
        if tag in ("", "timestamp") and _is_date(text):
            return "timestamp", text
        digits = text.replace("_", "")
        return _parse_integer(digits) or _parse_float(digits) or ("str", text)
    return "str", text


def _parse_integer(text: str) -> tuple[str, Any] | None:
    match = _INTEGER.fullmatch(text)
    if not match or len(text) > 70:
        return None
    sign, *digits = match.groups()
    value = next(int(found, base) for found, base in zip(digits, (16, 2, 8, 10), strict=True) if found is not None)
    if sign:
        return ("int", int(f"{sign}{value}")) if MIN_INT64 <= int(f"{sign}{value}") <= MAX_INT64 else None
    return ("int", value) if value <= MAX_UINT64 else None


def _parse_float(text: str) -> tuple[str, Any] | None:
    if not _FLOAT.fullmatch(text):
        return None
    value = float(text)
    return None if value in (float("inf"), float("-inf")) else ("float", value)


def _is_date(text: str) -> bool:
    """Return whether go-yaml reads a text as a date: YYYY-M-D, or with a time after a blank, or after T with a zone."""
    if text[4:5] != "-" or not (match := _DATE.fullmatch(text)):
        return False
    year, month, day, hour, minute, second = (*(int(number) for number in match.groups() if number), 0, 0, 0)[:6]
    try:
        datetime.datetime(year or 4, month, day, hour, minute, second)  # Python has no year 0; 4 is also a leap year
    except ValueError:
        return False
    return True


def settle_scalar(value: Any) -> Any:
    """Return a scalar after the conversion to JSON. Raises YAMLError if it has no JSON form."""
    if type(value) is float:
        if not math.isfinite(value):
            text = "NaN" if value != value else "+Inf" if value > 0 else "-Inf"
            raise YAMLError(f"json: unsupported value: {text}")
        return jsontext.settle_number(value)
    if type(value) is int and not MIN_INT64 <= value <= MAX_INT64:
        return jsontext.settle_number(value)
    return value


def format_key(key: Any, value: Any) -> str:
    """Return a key in JSON: a string, or the plain form of a number or boolean. Raises YAMLError for other keys."""
    if isinstance(key, str):
        return key
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, int) and key <= MAX_INT64:
        return str(key)
    if isinstance(key, float):
        return {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}.get(str(key)) or gotext.format_float(_shorten_float(key))
    kind = "%!s(<nil>)" if key is None else "uint64"
    message = f"map key of type: {kind}, key: {format_gosyntax(key)}, value: {format_gosyntax(value)}"
    raise YAMLError(f"unsupported {message}" if has("LowerYAMLErrors") else f"Unsupported {message}")


def _shorten_float(value: float) -> float:
    """Return the shortest decimal for a 32-bit float."""
    try:
        target = struct.pack("f", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    candidates = (float(f"{value:.{digits}g}") for digits in range(1, 10))
    return next((candidate for candidate in candidates if struct.pack("f", candidate) == target), value)


def format_gosyntax(value: Any) -> str:
    """Return a value as Go's %#v formats it."""
    if value is None:
        return "<nil>"
    if isinstance(value, list):
        return "[]interface {}{" + ", ".join(map(_show_nested, value)) + "}"
    if isinstance(value, dict):
        pairs = (f"{_show_nested(key)}:{_show_nested(item)}" for key, item in sorted(value.items(), key=str))
        return "map[interface {}]interface {}{" + ", ".join(pairs) + "}"
    return hex(value) if isinstance(value, int) and value > MAX_INT64 else gotext.format_value(value)


def _show_nested(value: Any) -> str:
    """Return a value inside another one. A key without a JSON form is in a tuple."""
    if isinstance(value, tuple):
        (value,) = value
    return "interface {}(nil)" if value is None else format_gosyntax(value)
