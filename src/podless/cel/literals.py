"""Literals: the values of number, string and bytes tokens."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from podless.cel.types import BYTES, DOUBLE, INT, STRING, UINT, Type
from podless.cel.values import Uint
from podless.runtime.lazy import compile_late

_MAX_DIGITS = 1000
# letter after a backslash: the character
ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPE = compile_late(r"\\(?:([xX])(..)|u(....)|U(........)|([0-3][0-7][0-7])|(.))", re.DOTALL)


def _parse_digits(digits: str) -> int:
    """Return the value of decimal or hexadecimal digits; a too large one as some large number."""
    if digits.startswith("0x"):
        return int(digits, 16)
    return int(digits) if len(digits) < _MAX_DIGITS else 1 << 64


def _parse_int(text: str) -> tuple[Any, Type]:
    digits = text.lstrip("-")
    value = _parse_digits(digits)
    value = -value if text.startswith("-") else value
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError("invalid int literal")
    return value, INT


def _parse_uint(text: str) -> tuple[Any, Type]:
    value = _parse_digits(text[:-1])
    if value >= 1 << 64:
        raise ValueError("invalid uint literal")
    return Uint(value), UINT


def _parse_double(text: str) -> tuple[Any, Type]:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError("invalid double literal")
    return value, DOUBLE


def _parse_string(text: str) -> tuple[Any, Type]:
    body, raw = _split_quotes(text)
    return (body if raw else _ESCAPE.sub(_decode_character, body)), STRING


def _parse_bytes(text: str) -> tuple[Any, Type]:
    body, raw = _split_quotes(text[1:])
    if raw or "\\" not in body:
        return body.encode("utf-8", "surrogatepass"), BYTES
    parsed = bytearray()
    end = 0
    for match in _ESCAPE.finditer(body):
        parsed += body[end : match.start()].encode("utf-8", "surrogatepass")
        parsed += _decode_octet(match)
        end = match.end()
    parsed += body[end:].encode("utf-8", "surrogatepass")
    return bytes(parsed), BYTES


def _split_quotes(text: str) -> tuple[str, bool]:
    """Return the content of a quoted literal, and whether it is raw."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    quotes = 3 if len(text) >= 6 and text[:3] in ('"""', "'''") else 1
    return text[quotes:-quotes], raw


def _read_code_point(match: re.Match[str]) -> int | None:
    """Return the code point of an escape, None if it is invalid."""
    if match[1]:
        return int(match[2], 16)
    digits = match[3] or match[4]
    if digits:
        return int(digits, 16)
    return int(match[5], 8) if match[5] else None


def _decode_character(match: re.Match[str]) -> str:
    code = _read_code_point(match)
    if code is None:
        return ESCAPES.get(match[6], match[6])
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise ValueError("invalid unicode code point")
    return chr(code)


def _decode_octet(match: re.Match[str]) -> bytes:
    if match[3] or match[4]:
        raise ValueError("unable to unescape string")
    code = _read_code_point(match)
    return ESCAPES.get(match[6], match[6]).encode() if code is None else bytes((code,))


READERS: dict[str, Callable[[str], tuple[Any, Type]]] = {
    "NUM_INT": _parse_int,
    "NUM_UINT": _parse_uint,
    "NUM_FLOAT": _parse_double,
    "STRING": _parse_string,
    "BYTES": _parse_bytes,
}
