"""The text at a position is the value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.codec import serializer
from podless.codec.positions import Located, Position, locate_json, locate_yaml
from tests.cost import assert_linear

KEYS = st.text("ab1 :#\"'é\n", max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 63) - 1) | st.text("abyn1.: #-\n\"'é", max_size=90),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=15,
)


def paths(value: Any, path: serializer.Path = ()) -> list[serializer.Path]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(one for key, item in inside for one in paths(item, (*path, key)))]


def at(value: Any, path: serializer.Path) -> Any:
    for step in path:
        value = value[step]
    return value


def rest(text: str, position: Position) -> str:
    """The text from a position on."""
    lines = text.split("\n")
    return "\n".join([lines[position.line - 1][position.column - 1 :], *lines[position.line :]])


def check(found: Located, value: Any) -> None:
    assert found.value == value
    assert sorted(map(repr, found.values)) == sorted(map(repr, paths(value)))
    assert set(found.keys) == {path for path in found.values if path and isinstance(path[-1], str)}


@given(VALUES, st.sampled_from([None, 1]))
def test_json(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    found = locate_json(text.encode())
    check(found, value)
    read = json.JSONDecoder().raw_decode
    for path, position in found.values.items():
        assert read(rest(text, position))[0] == at(value, path)
    for path, position in found.keys.items():
        assert read(rest(text, position))[0] == path[-1]


@given(st.lists(VALUES, max_size=3))
def test_yaml(values: list[Any]) -> None:
    text = "".join(f"---\n{serializer.encode_yaml(value).decode()}" for value in values)
    documents = list(locate_yaml(text.encode()))
    assert len(documents) == len(values)
    for value, found in zip(values, documents, strict=True):
        check(found, value)
        for path, position in [*found.values.items(), *found.keys.items()]:
            wanted = at(value, path)
            if position == found.keys.get(path) and path:
                wanted = path[-1]
            line = rest(text, position)
            if isinstance(wanted, str) and wanted.isalpha() and serializer.encode_yaml(wanted)[:1] not in b"'\"":
                assert line.startswith(wanted)


def test_what_stands_where() -> None:
    text = "# first\na: 1\nb:\n- x\n-   w: &z {k: 2}\n    é: *z\n---\n- {q: [1, 2]}\n"
    first, second = locate_yaml(text.encode())
    assert first.value == {"a": 1, "b": ["x", {"w": {"k": 2}, "é": {"k": 2}}]}
    assert first.values[()] == (2, 1)
    assert first.values[("a",)] == (2, 4)
    assert first.keys[("b",)] == (3, 1)
    assert first.values[("b", 0)] == (4, 3)
    assert first.keys[("b", 1, "w")] == (5, 5)
    assert first.values[("b", 1, "é")] == (6, 8)
    assert first.values[("b", 1, "é", "k")] == first.values[("b", 1, "w", "k")] == (5, 15)
    assert second.values[(0, "q", 1)] == (8, 11)


def test_merged_keys_are_where_they_were_written() -> None:
    (found,) = locate_yaml(b"a: &a {x: 1}\nb: {<<: *a, w: 2}\n")
    assert found.values[("b", "x")] == (1, 11)
    assert found.keys[("b", "w")] == (2, 13)


def test_of_repeated_keys_the_last_one_counts() -> None:
    found = locate_json(b'{"a":1,\n "a":2}')
    assert (found.value, found.values[("a",)], found.repeated) == ({"a": 2}, (2, 6), ['duplicate field "a"'])
    (yaml,) = locate_yaml(b"a: 1\na: 2\n")
    assert (yaml.values[("a",)], yaml.repeated) == ((2, 4), ['line 2: key "a" already set in map'])


def test_what_cannot_be_read_is_refused_when_it_comes() -> None:
    with pytest.raises(serializer.JSONError):
        locate_json(b"{")
    documents = locate_yaml(b"a: 1\n---\nb: [\n")
    assert next(documents).value == {"a": 1}
    with pytest.raises(serializer.YAMLError):
        next(documents)


def test_positions_cost_the_length_of_the_text() -> None:
    assert_linear(locate_json, lambda size: b"[" + b'{"a":"b"},\n' * size + b"1]", charged=False)
    assert_linear(lambda raw: list(locate_yaml(raw)), lambda size: b"- a: b\n" * size, charged=False)
