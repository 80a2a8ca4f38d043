"""Encodes JSON with the numbers and escapes of Go's encoding/json."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from podless.codec import gotext
from podless.codec.gotext import MAX_INT64, MIN_INT64
from podless.runtime.meter import charge

# also matches in strings, but not in a uid such as ...9e-6a...
_EXPONENT = re.compile(rb"[0-9]e(?:\+[0-9]++|-6)(?![\w\"'./:-])")
_E, _PLUS = b"e+"
_MAX_PLUSES = 32  # plus signs that are examined one by one
_SEPARATORS = b"\xe2\x80"  # the first bytes of U+2028 and U+2029; finding one byte is faster than finding two


def encode_value(value: Any, option: int) -> bytes:
    """Encode JSON with the numbers and escapes of Go's encoding/json, some of which JSON does not require."""
    encoded = dump_value(value, option)
    if encoded.find(b"<") >= 0:
        encoded = encoded.replace(b"<", b"\\u003c")
    if encoded.find(b">") >= 0:
        encoded = encoded.replace(b">", b"\\u003e")
    if encoded.find(b"&") >= 0:
        encoded = encoded.replace(b"&", b"\\u0026")
    if encoded.find(b"\xe2") >= 0 and encoded.find(_SEPARATORS) >= 0:
        encoded = encoded.replace(_SEPARATORS + b"\xa8", b"\\u2028").replace(_SEPARATORS + b"\xa9", b"\\u2029")
    return encoded


def dump_value(value: Any, option: int) -> bytes:
    """Encode JSON with the numbers of Go's encoding/json."""
    try:
        result = orjson.dumps(value, option=option)
        # orjson uses exponents from 1e16 on and at 1e-6, Go does not; rfind takes half to three quarters of find's time
        if (result.rfind(b"e-6") >= 0 or (_PLUS in result and _has_exponent(result))) and _EXPONENT.search(result):
            result = orjson.dumps(_replace_values(value), option=option)
        return result
    except TypeError:
        pass
    try:
        return orjson.dumps(_replace_values(value), option=option)
    except TypeError:  # too deep for the encoder
        return json.dumps(value, separators=(",", ":"), sort_keys=bool(option & orjson.OPT_SORT_KEYS)).encode()


def _has_exponent(encoded: bytes) -> bool:
    """Return whether there is an exponent with a plus sign. Finding one byte is fifty times as fast as finding two."""
    offset = encoded.find(b"+")
    for _ in range(_MAX_PLUSES):
        if offset < 0:
            return False
        if encoded[offset - 1] == _E:
            break
        offset = encoded.find(b"+", offset + 1)
    return b"e+" in encoded


def _replace_values(value: Any) -> Any:
    """Return a copy without values that orjson encodes differently from Go.

    These are numbers with an exponent, integers beyond 64 bits, and unpaired surrogates.
    """
    if isinstance(value, dict | list):
        charge(len(value))
    if isinstance(value, dict):
        return {_replace_values(key): _replace_values(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace_values(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, float):
        return orjson.Fragment(gotext.format_number(value))
    if isinstance(value, int) and not MIN_INT64 <= value <= MAX_INT64:
        return orjson.Fragment(str(value))
    return value
