"""The values in a JSON patch as they were written. A real server keeps their bytes when it shows the document."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from podless.codec import jsontext
from podless.runtime.lazy import compile_late
from podless.runtime.meter import charge, each

_TOKEN = compile_late(r'("(?:[^"\\]++|\\.)*+")|[ \t\r\n]++', re.DOTALL)
_DECODER = json.JSONDecoder()
_MAX = 9  # digits of a mark


class WrittenValue(NamedTuple):
    """A value as it is written."""

    raw: bytes


def read_written_values(raw: bytes, operations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the operations of a valid patch, with each value as its text; unchanged if their texts are not found."""
    try:
        texts = _read_texts(jsontext.decode_utf8(raw))
    except (ValueError, RecursionError):
        return operations
    if len(texts) != len(operations):
        return operations
    each(texts)
    return [
        operation if text is None else {**operation, "value": WrittenValue(text.encode())}
        for operation, text in zip(operations, texts, strict=True)
    ]


def _read_texts(text: str) -> list[str | None]:
    """Return the text of each operation's value, without white space. Raises ValueError if it is not a patch."""
    results: list[str | None] = []
    offset = _skip_sign(text, 0, "[")
    while text[offset : offset + 1] == "{":
        value, offset = None, _skip_sign(text, offset, "{")
        charge(1)
        while text[offset : offset + 1] != "}":
            charge(1)
            key, offset = _DECODER.raw_decode(text, offset)
            start = _skip_sign(text, offset, ":")
            _, offset = _DECODER.raw_decode(text, start)
            if key == "value":
                value = _TOKEN.sub(r"\1", text[start:offset])
            offset = _skip_sign(text, offset, ",")
        results.append(value)
        offset = _skip_sign(text, _skip_sign(text, offset, "}"), ",")
    return results


def _skip_sign(text: str, index: int, sign: str) -> int:
    """Return the position after white space, an optional character, and more white space."""
    index = jsontext.BLANKS.match(text, index).end()  # type: ignore[union-attr]  # matches nothing, too
    if text.startswith(sign, index):
        index = jsontext.BLANKS.match(text, index + 1).end()  # type: ignore[union-attr]
    return index


# a string, with the colon if it is a key; or a number
_LEAF = compile_late(r'("(?:[^"\\]++|\\.)*+")([ \t\r\n]*+:)?+|-?[0-9][0-9.eE+-]*+', re.DOTALL)
_MARK = compile_late(rb'"\\u0000([0-9]++)"')


def mark_values(raw: bytes) -> tuple[bytes, list[bytes]]:
    """Return a valid JSON text with marks in place of text and number values, and the replaced values."""
    values: list[bytes] = []

    def mark_value(match: re.Match[str]) -> str:
        charge(1)
        if match[2]:
            return match[0]
        values.append(match[0].encode())
        return f'"\\u0000{len(values) - 1}"'

    return _LEAF.sub(mark_value, jsontext.decode_utf8(raw)).encode(), values


def unmark_values(encoded: bytes, values: list[bytes]) -> bytes:
    """Return an encoded text with the original values in place of their marks."""

    def restore_value(match: re.Match[bytes]) -> bytes:
        charge(1)
        index = int(match[1]) if len(match[1]) < _MAX else len(values)
        return values[index] if index < len(values) else match[0]

    return _MARK.sub(restore_value, encoded)
