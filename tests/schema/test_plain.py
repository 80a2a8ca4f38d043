"""What is taken for plain has no fault that any rule finds, wherever it stands."""

from __future__ import annotations

import copy
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podless.schema import plain, structural, warnings
from tests.conftest import tries
from tests.cost import stretch
from tests.schema import strategies

KEYWORDS: dict[str, Any] = {
    "type": st.sampled_from(["string", "object", "array", "integer", "", "null", "file", 1]),
    "format": st.sampled_from(["date", "int32", "none such"]),
    "pattern": st.sampled_from(["^a", "("]),
    "enum": st.sampled_from([["a"], [], [1], "a"]),
    "required": st.sampled_from([["a"], [1], None]),
    "default": st.sampled_from(["a", 1, {}]),
    "nullable": st.sampled_from([True, "yes"]),
    "maxLength": st.sampled_from([3, -1, "3"]),
    "items": st.sampled_from([{"type": "string"}, {}, []]),
    "additionalProperties": st.sampled_from([True, False, {"type": "string"}, {"type": "number", "default": 1}]),
    "x-kubernetes-list-type": st.sampled_from(["map", "set"]),
    "x-kubernetes-embedded-resource": st.just(True),
    "x-kubernetes-preserve-unknown-fields": st.booleans(),
    "uniqueItems": st.just(True),
    "$ref": st.just("#/a"),
    "unheard": st.just(1),
}


def found(schema: dict[str, Any]) -> tuple[list[str], list[str]]:
    whole = {"type": "object", "properties": {"spec": schema}}
    return [str(error) for error in structural(whole, "schema")], warnings(whole)


@settings(max_examples=tries(300))
@given(strategies.nodes(), st.data())
def test_the_errors_are_those_that_are_found_when_every_node_is_looked_at(
    schema: dict[str, Any], data: st.DataObject
) -> None:
    schema = copy.deepcopy(schema)
    node = schema
    while isinstance(node.get("properties"), dict) and node["properties"] and data.draw(st.booleans()):
        node = node["properties"][data.draw(st.sampled_from(sorted(node["properties"])))]
    name = data.draw(st.sampled_from(sorted(KEYWORDS)))
    node[name] = data.draw(KEYWORDS[name])
    quick = found(schema)
    with mock.patch.object(plain, "find_plain_parts", return_value=plain.PlainParts()):
        assert quick == found(schema)


@pytest.mark.parametrize("name", ["description", "maxLength", "enum", "format"])
def test_an_ordinary_part_needs_no_look_and_an_odd_one_does(name: str) -> None:
    good = {"description": "text", "maxLength": 3, "enum": ["a"], "format": "date"}
    part: dict[str, Any] = {"type": "string", name: good[name]}
    whole = {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": part}}}}
    assert id(part) in plain.find_plain_parts(whole).ids
    part[name] = {"odd": 1}
    assert not plain.find_plain_parts(whole).ids


@given(st.lists(st.from_regex(r"\A[a-z]{0,3}\Z"), max_size=4))
def test_patterns_of_plain_parts_and_of_their_parents_are_found(texts: list[str]) -> None:
    schema: dict[str, Any] = {"description": '"pattern":"no"', "properties": {"pattern": {"title": "no"}}}
    for text in texts:
        schema = {"pattern": text, "items": schema, "unheard": 1}
    assert plain.find_plain_parts(schema).patterns == set(texts)


@pytest.mark.parametrize("part", [{}, {"type": "string"}, {"type": "array", "items": {}}])
def test_the_walk_charges_for_all_nodes_while_it_visits_them(part: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {f"f{place}": dict(part) for place in range(2000)}}
    assert stretch(lambda: plain.find_plain_parts(schema)) < 2000
