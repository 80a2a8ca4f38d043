"""Parses paths to a field in a schema, such as .spec.labels['app'], as rules and selectable fields contain them."""

from __future__ import annotations

import re

from podless.meta.field import Key, Path
from podless.schema.node import Node

# a quoted text ends at the next quote without a backslash before it, or at the end; possessive, so it never backtracks
_TOKEN = re.compile(r"'(?:[^']++|(?<=\\)')*+(?:'|\Z)|[.\[\]]|[^.\[\]]++", re.DOTALL)
_ESCAPE = re.compile(r"\\.")
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}


def parse_fieldpath(text: str, node: Node | None, arrays: bool = True) -> tuple[Path, Node | None]:
    """Return the path, and the node there.

    arrays: whether ['name'] is allowed. Raises ValueError with the text of a real server.
    """
    tokens = iter(_TOKEN.findall(text))
    path: Path = ()
    for token in tokens:
        if token == "[":
            if not arrays:
                raise ValueError("array notation is not allowed")
            path, node = _append_step(path, node, _unquote_key(next(tokens, "")))
            closing = next(tokens, "")
            if not closing:
                raise ValueError("unexpected end of JSON path")
            if closing != "]":
                raise ValueError(f"expected ] but got {closing}")
        elif token == ".":
            name = next(tokens, "")
            if not name:
                raise ValueError("unexpected end of JSON path")
            path, node = _append_step(path, node, name)
        else:
            raise ValueError(f"expected [ or . but got: {token}")
    return path, node


def _unquote_key(token: str) -> str:
    if not token:
        raise ValueError("unexpected end of JSON path")
    if len(token) < 2 or token[0] != "'" or token[-1] != "'":
        raise ValueError(f"expected single quoted string but got {token}")
    return _ESCAPE.sub(_unescape, token[1:-1])


def _unescape(match: re.Match[str]) -> str:
    if match[0][1] not in _ESCAPED:
        raise ValueError(f"invalid string literal: invalid escape char {match[0]}")
    return _ESCAPED[match[0][1]]


def _append_step(path: Path, node: Node | None, name: str) -> tuple[Path, Node | None]:
    if node is not None and node.properties:
        child = node.find_child(name)
        if child is not None:
            return (*path, name), child
    elif node is not None and node.has_additional:
        return (*path, Key(name)), node.additional
    raise ValueError("does not refer to a valid field")
