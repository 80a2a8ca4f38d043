"""Every position in a file is where another parser says that it is."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from podless.check.findings import PositionFinder
from podless.codec.documents import Document, split_documents
from tests.conformance import recorded

Path = tuple[str | int, ...]


def definitions() -> list[Any]:
    bodies = [step.get("body") for one in recorded.scenarios("crd", "schema") for step in one["steps"]]
    return [body for body in bodies if isinstance(body, dict) and body.get("kind") == "CustomResourceDefinition"][:40]


def marks(node: yaml.Node, path: Path = ()) -> Iterator[tuple[Path, yaml.Mark, yaml.Mark]]:
    """Keys and values in PyYAML's own composer: path, place of the key, place of the value."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = (*path, str(key.value))
            yield inner, key.start_mark, value.start_mark
            yield from marks(value, inner)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield (*path, index), item.start_mark, item.start_mark
            yield from marks(item, (*path, index))


@pytest.mark.parametrize("before", ["", "# a comment\n---\na: b\n"])
def test_positions_in_yaml_are_those_of_another_parser(before: str) -> None:
    checked = 0
    for definition in definitions():
        text = yaml.safe_dump(definition, sort_keys=False)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        assert root is not None
        *_, document = split_documents("a.yaml", f"{before}---\n{text}".encode())
        places, moved = PositionFinder(document), before.count("\n") + 2
        for path, key, value in marks(root):
            assert places.find_key(path) == (key.line + moved, key.column + 1)
            shown = value if value.line == key.line else key
            assert places.find_value(path) == (shown.line + moved, shown.column + 1)
            checked += 1
    assert checked > 300


def test_positions_in_json_are_where_the_value_stands() -> None:
    checked = 0
    for definition in definitions():
        text = json.dumps(definition, indent=2)
        places, lines = PositionFinder(Document("a.json", 0, text.encode(), yaml=False)), text.split("\n")
        for path, value in leaves(definition):
            line, column = places.find_value(path)
            assert lines[line - 1][column - 1 :].rstrip(",") == json.dumps(value)
            checked += 1
    assert checked > 300


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    inner: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from leaves(item, (*path, key))
    if not isinstance(value, dict | list):
        yield path, value


def test_what_is_not_there_is_at_the_key_around_it() -> None:
    text = textwrap.dedent("""\
        spec:
          ports:
          - name: a
        """)
    places = PositionFinder(Document("a.yaml", 10, text.encode()))
    assert places.find_value("spec.ports[0].port") == (13, 5)
    assert places.find_value("spec.size") == (11, 1)
    assert places.find_value("status") == (11, 1)
