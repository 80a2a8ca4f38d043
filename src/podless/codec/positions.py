"""The positions of a document's parts in its text: line and column of every path.

For checks of files only; decoding objects does not need positions.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple

from podless.codec import jsontext, serializer
from podless.codec.serializer import Path
from podless.codec.yamlscalar import format_key, read_scalar
from podless.codec.yamltext import YAMLDecoder, YAMLNode, compose_nodes

TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[][{}:,]|[^][{}:,"\s]++', re.DOTALL)
_NEWLINE = re.compile("\n")


class Position(NamedTuple):
    """A position in a text: line and column, in characters, both from 1."""

    line: int
    column: int


class Located(NamedTuple):
    """A decoded document. values: positions of values by path, () being the document. keys: positions of their keys.

    repeated: the decoders' findings about duplicate keys; the positions are those of the last one.
    """

    value: Any
    values: dict[Path, Position]
    keys: dict[Path, Position]
    repeated: list[str]


def locate_json(raw: bytes) -> Located:
    """Decode a JSON text with its positions. Raises JSONError."""
    repeated: list[str] = []
    value = serializer.decode_json(raw, repeated)
    text = jsontext.decode_utf8(raw)
    starts = [0, *(located.end() for located in _NEWLINE.finditer(text))]
    located = Located(value, {}, {}, repeated)

    def find_position(match: re.Match[str]) -> Position:
        line = bisect_right(starts, match.start())
        return Position(line, match.start() - starts[line - 1] + 1)

    # the current path: an index in a list, a key in an object, None before the next key
    steps: list[Any] = []
    for match in TOKEN.finditer(text):
        token = match[0]
        if token in "]}":
            steps.pop()
        elif token == ",":
            steps[-1] = steps[-1] + 1 if steps[-1].__class__ is int else None
        elif token != ":":
            if steps and steps[-1] is None:
                steps[-1] = serializer.decode_json(token.encode())
                located.keys[tuple(steps)] = find_position(match)
                continue
            located.values[tuple(steps)] = find_position(match)
            if token in "[{":
                steps.append(0 if token == "[" else None)
    return located


def locate_yaml(raw: bytes) -> Iterator[Located]:
    """Yield the documents of a YAML text with positions; an alias has those of its anchor. Raises YAMLError."""
    for root in compose_nodes(raw):
        repeated: list[str] = []
        located = Located(YAMLDecoder(repeated).decode_document(root), {}, {}, repeated)
        _record_node(root, (), located)
        yield located


def _record_node(node: YAMLNode, path: Path, located: Located) -> None:
    located.values[path] = _read_position(node)
    target = node.target
    if target.kind == "sequence":
        for index, item in enumerate(target.children):
            _record_node(item, (*path, index), located)
    elif target.kind == "mapping":
        _record_entries(target, path, located)


def _record_entries(node: YAMLNode, path: Path, located: Located) -> None:
    for key, item in node.list_entries():
        if key.is_merge_key:
            for source in reversed(item.children) if item.kind == "sequence" else [item]:
                _record_entries(source.target, path, located)
            continue
        named = key.target
        child_path = (*path, format_key(read_scalar(named.value, named.tag, named.plain), None))
        located.keys[child_path] = _read_position(key)
        _record_node(item, child_path, located)


def _read_position(node: YAMLNode) -> Position:
    return Position(node.mark.line + 1, node.mark.column + 1)
