"""Formats values and parses integers as Go does: kube-apiserver's messages quote values by Go's rules."""

from __future__ import annotations

import json as json_
from typing import TYPE_CHECKING, Any

import orjson

from podless.runtime import lazy
from podless.runtime.meter import charge, each
from podless.runtime.sorting import sort_texts

if TYPE_CHECKING:
    import decimal
else:  # most servers never need it
    decimal = lazy.LateModule("decimal")

SPACE = " \t\n\v\f\r\x85\xa0"  # Latin-1 characters that Go's strings.TrimSpace removes
MIN_INT64, MAX_INT64, MAX_UINT64 = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1
_MAX_DIGITS = 20  # digits of the largest 64-bit number; Python's int rejects more than 4,300 with a message of its own
_HTML = "<>&\u2028\u2029"  # characters that Go's encoding/json escapes although JSON does not require it
_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}


# the types into which Go decodes JSON, as %T prints them
TYPE_NAMES: dict[type, str] = {
    type(None): "<nil>",
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "[]interface {}",
    dict: "map[string]interface {}",
}


class Literal(str):
    """A text that errors show without quotes or escapes."""

    __slots__ = ()


class Copy(Literal):
    """A text with addresses that differ in each error, because kube-apiserver copies the value each time."""

    __slots__ = ()


class Named(str):
    """A string of a named Go type, or one behind a pointer: field errors show it as JSON."""

    __slots__ = ()


class Stringer(Named):
    """A string of a Go type with a String method: Go's syntax shows it without quotes."""

    __slots__ = ()


def name_type(value: Any) -> str:
    """Return the type into which Go decodes a JSON value."""
    return TYPE_NAMES.get(type(value), "")


def quote(text: str) -> str:
    """Return a double-quoted Go string literal, as %q formats it (strconv.Quote)."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    escapes = {code: _escape_char(code) for code in map(ord, set(text))}  # a long text has few distinct characters
    return f'"{text.translate(escapes)}"'


def _escape_char(code: int) -> str:
    if code in _ESCAPES:
        return _ESCAPES[code]
    if chr(code).isprintable():
        return chr(code)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shortest_decimal(value: float) -> decimal.Decimal:
    """Return the decimal number with the fewest digits that reads as a float64."""
    return decimal.Decimal(repr(value))


def format_number(value: float) -> str:
    """Return a float64 as Go's encoding/json formats it: shortest digits, no exponent between 1e-6 and 1e21."""
    if value == 0:
        return "-0" if str(value)[0] == "-" else "0"
    if 1e-6 <= abs(value) < 1e21:
        text = format(shortest_decimal(value), "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    digits, _, exponent = repr(value).partition("e")
    digits = digits.removesuffix(".0")
    sign = "-" if exponent.startswith("-") else "+"
    return f"{digits}e{sign}{exponent.lstrip('+-0')}"


def format_float(value: float) -> str:
    """Return a float in Go's shortest 'g' format, with an exponent below 1e-4 and from 1e6 on."""
    sign, digits, exponent = shortest_decimal(value).normalize().as_tuple()
    if not isinstance(exponent, int):
        return "NaN" if value != value else "+Inf" if value > 0 else "-Inf"
    shift = len(digits) - 1 + exponent
    if -4 <= shift < 6 or not value:
        return format(shortest_decimal(value).normalize(), "f")
    first, decimals = str(digits[0]), "".join(map(str, digits[1:]))
    mantissa = f"{'-' * sign}{first}.{decimals}" if decimals else f"{'-' * sign}{first}"
    return f"{mantissa}e{'-' if shift < 0 else '+'}{abs(shift):02d}"


def format_value(item: Any) -> str:
    """Return a value as field errors show it.

    Plain strings are quoted, None is null, floats are as in %v, objects and lists are compact JSON.
    """
    if isinstance(item, str) and not isinstance(item, Named):
        return quote(item)
    if item is None:
        return "null"
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int) and MIN_INT64 <= item <= MAX_INT64:
        return str(item)
    if isinstance(item, float | int):  # Go decodes larger integers to floats
        return format_float(float(item))
    return format_json(item)


def format_syntax(item: Any) -> str:
    """Return a value as field errors of older releases show it: all but plain scalars in Go's syntax (%#v).

    Only lists and maps of strings have a type that follows from the value; all others are shown as JSON.
    """
    if item is None:
        return '"null"'
    if isinstance(item, str):
        return str(item) if isinstance(item, Stringer) else quote(item)
    if isinstance(item, list) and all(isinstance(text, str) for text in each(item)):
        return format_strings(item)
    if isinstance(item, dict) and all(isinstance(text, str) for text in each(item).values()):
        return "map[string]string{" + ", ".join(f"{quote(key)}:{quote(item[key])}" for key in sort_texts(item)) + "}"
    return format_value(item)


def format_interface(item: Any) -> str:
    """Return a decoded value in Go's syntax (%#v): map[string]interface {}{"a":[]interface {}{1}}."""
    if isinstance(item, dict):
        entries = (f"{quote(key)}:{format_interface(item[key])}" for key in sort_texts(each(item)))
        return f"map[string]interface {{}}{{{', '.join(entries)}}}"
    if isinstance(item, list):
        return f"[]interface {{}}{{{', '.join(map(format_interface, each(item)))}}}"
    if isinstance(item, GoValue):
        return item.code
    return "interface {}(nil)" if item is None else format_value(item)


def format_json(item: Any) -> str:
    """Return a value as Go's encoding/json formats it, with the keys in their given order."""
    if isinstance(item, float):
        return format_number(item)
    try:
        text = orjson.dumps(item).decode()
    except TypeError:  # integers beyond 64 bits
        text = json_.dumps(item, ensure_ascii=False, separators=(",", ":"))
    return escape_json(text)


def escape_json(text: str) -> str:
    """Return JSON with the additional escapes of Go's encoding/json."""
    for letter in _HTML:
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def format_strings(items: list[str]) -> str:
    """Return a []string as %#v formats it: []string{"a", "b"}."""
    return "[]string{" + ", ".join(quote(item) for item in each(items)) + "}"


class GoValue:
    """A Go value without a JSON form. plain: formatted with %v. code: with %#v. kind: with %T."""

    __slots__ = ("code", "kind", "plain", "value")

    def __init__(self, value: Any, plain: str, code: str, kind: str) -> None:
        self.value = value
        self.plain = plain
        self.code = code
        self.kind = kind


def format_plain(item: Any) -> str:
    """Return a value as Go's %v formats it: map[a:1 b:[x y]]."""
    if isinstance(item, GoValue):
        return item.plain
    if isinstance(item, dict | list):
        charge(len(item))
    if isinstance(item, dict):
        return f"map[{' '.join(f'{name}:{format_plain(item[name])}' for name in sort_texts(item))}]"
    if isinstance(item, list):
        return f"[{' '.join(map(format_plain, item))}]"
    if item is None:
        return "<nil>"
    return item if isinstance(item, str) else format_value(item)


def parse_natural(digits: str) -> int:
    """Return the value of decimal digits, 0 for "". A number beyond 64 bits becomes some number beyond 64 bits."""
    if len(digits) > _MAX_DIGITS:
        digits = digits.lstrip("0")
        if len(digits) > _MAX_DIGITS:
            return 1 << 64 + _MAX_DIGITS
    return int(digits or 0)


def parse_int(text: str, bits: int = 64, name: str = "ParseInt") -> int:
    """Return a decimal number with an optional sign. name: Go's function, for the text of the ValueError."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"strconv.{name}: parsing {quote(text)}: invalid syntax")
    number = parse_natural(digits)
    limit = (1 << bits - 1) - (text[0] != "-")
    if number > limit:
        raise ValueError(f"strconv.{name}: parsing {quote(text)}: value out of range")
    return -number if text[0] == "-" else number


def parse_uint(text: str) -> int:
    """Return an unsigned 64-bit decimal number. Raises ValueError with the text of Go's strconv.ParseUint."""
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"strconv.ParseUint: parsing {quote(text)}: invalid syntax")
    number = parse_natural(text)
    if number > MAX_UINT64:
        raise ValueError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return number
