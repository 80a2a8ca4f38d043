"""Writes values as YAML in gnostic-models' style, which protobuf documents use for extensions, enums and examples.

Block style, keys sorted, indented by four columns for each level and by two after a dash, lines of any length. Source:
the documents of a real server.
"""

from __future__ import annotations

import re
from typing import Any

from podless.codec import serializer
from podless.runtime.bounded import bounded_cache
from podless.runtime.meter import charge

_LEVEL = 4
_DASH = 2
_LONG = 64
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")  # needs no quotes, except _WORDS; matches nearly all texts
_WORDS = frozenset(("true", "false", "null"))
# texts with another meaning in YAML 1.1, which are written without quotes nevertheless
_OLD = re.compile(r"[yY]|[nN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|[-+]?[0-9_]+(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")


@bounded_cache(1024)
def block_text(encoded: str) -> str:
    """Return a value, given as JSON, as YAML with a final line break; cached.

    A very deeply nested value stays JSON, which is valid YAML.
    """
    out: list[str] = []
    try:
        _write(out, serializer.decode_own(encoded.encode()), 0)
    except RecursionError:
        return f"{encoded}\n"
    return "".join(out)


def _write(out: list[str], value: Any, indent: int) -> None:
    """Write a value whose first line starts at its column already; further lines are indented."""
    lead = ""
    charge(1)
    if isinstance(value, dict) and value:
        for key in sorted(value):
            out.append(f"{lead}{_key(key)}:")
            _write_below(out, value[key], indent)
            lead = " " * indent
    elif isinstance(value, list) and value:
        for item in value:
            out.append(f"{lead}- ")
            _write(out, item, indent + _DASH)
            lead = " " * indent
    else:
        out.append(_scalar(value, indent))


def _write_below(out: list[str], value: Any, indent: int) -> None:
    """Write the value of a key: on the same line, or on its own lines."""
    if isinstance(value, (dict, list)) and value:
        inner = _further(indent)
        out.append("\n" + " " * inner)
        _write(out, value, inner)
    else:
        out.append(f" {_scalar(value, indent)}")


def _key(key: str) -> str:
    shown = _scalar(key, 0)[:-1]
    return serializer.encode_json(key).decode() if "\n" in shown else shown


def _further(indent: int) -> int:
    return (indent // _LEVEL + 1) * _LEVEL


@bounded_cache(1024)
def _plain(text: str) -> bool:
    """Return whether a text certainly needs no quotes."""
    if _PLAIN.fullmatch(text):
        return text.lower() not in _WORDS
    return len(text) < _LONG and _OLD.fullmatch(text) is not None


def _scalar(value: Any, indent: int) -> str:
    """Return a scalar, or an empty list or object, with its line break; multi-line text is indented below."""
    if not isinstance(value, str):
        return serializer.encode_yaml(value).decode()
    if _plain(value):
        return f"{value}\n"
    shown = serializer.encode_yaml(value).decode()
    if shown.count("\n") == 1:
        return shown
    head, *lines = shown[:-1].split("\n")
    if not head.startswith("|"):  # the YAML writer has folded a long line
        return " ".join([head, *(line.strip(" ") for line in lines)]) + "\n"
    if "2" in head:  # the first line is indented or empty
        return f"{serializer.encode_json(value).decode()}\n"
    inner = " " * _further(indent)
    return "\n".join([head, *(inner + line[_DASH:] if line else "" for line in lines), ""])
