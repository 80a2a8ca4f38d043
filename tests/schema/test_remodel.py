"""Schemas that are made structural take what they took before, and say what they no longer check."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.schema import Schema, restructure, structural

NAMES = st.sampled_from("abc")
LEAVES = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(("string", "integer", "boolean", "object", "array", "number")),
        "description": st.just("words"),
        "minimum": st.integers(0, 3),
        "maxLength": st.integers(0, 2),
        "pattern": st.sampled_from(("^x", "y$")),
        "enum": st.lists(st.sampled_from(("x", 1, True)), min_size=1, max_size=2, unique_by=repr),
        "nullable": st.booleans(),
        "required": st.lists(NAMES, max_size=1),
    },
)


def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda base, more: base | more,
        LEAVES,
        st.fixed_dictionaries(
            {},
            optional={
                "properties": st.dictionaries(NAMES, inner, max_size=2),
                "items": inner,
                "additionalProperties": st.one_of(st.booleans(), inner),
                "allOf": st.lists(inner, min_size=1, max_size=2),
                "anyOf": st.lists(inner, min_size=1, max_size=2),
                "oneOf": st.lists(inner, min_size=1, max_size=2),
                "not": inner,
                "uniqueItems": st.booleans(),
            },
        ),
    )


SCHEMAS = st.recursive(LEAVES, deeper, max_leaves=8)
VALUES = st.recursive(
    st.one_of(st.sampled_from(("", "x", "xy", "zzz")), st.integers(-1, 4), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=3)


@given(SCHEMAS)
def test_what_is_made_is_structural(schema: Any) -> None:
    before = copy.deepcopy(schema)
    for preserve in (False, True):
        made, _ = restructure(schema, "s", preserve=preserve)
        assert structural(made, "s") == []
    assert schema == before
    # what is structural stays as it is
    again, notes = restructure(made, "s", preserve=True)
    assert (again, notes) == (made, [])


@given(SCHEMAS, OBJECTS)
def test_objects_that_were_valid_are_valid_and_whole(schema: Any, obj: Any) -> None:
    old = Schema.compile(schema, preserve=True)
    made, notes = restructure(schema, "s", preserve=True)
    new = Schema.compile(made)
    if not new.validate(obj):
        kept = copy.deepcopy(obj)
        new.prune(kept)
        assert kept == obj
    if any("was inferred" in note.text for note in notes):
        return  # a type that nobody gave is stricter, and is told
    was, now = not old.validate(obj), not new.validate(obj)
    assert not was or now
    if not any(note.lost for note in notes):
        assert was == now


# the third example of the document on structural schemas: it violates six rules
VIOLATIONS: dict[str, Any] = {
    "properties": {
        "foo": {"pattern": "abc"},
        "metadata": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "pattern": "^a"},
                "finalizers": {"type": "array", "items": {"type": "string", "pattern": "my-finalizer"}},
            },
        },
    },
    "anyOf": [
        {
            "properties": {"bar": {"type": "integer", "minimum": 42}},
            "required": ["bar"],
            "description": "foo bar object",
        }
    ],
}


def test_the_documents_third_example() -> None:
    made, notes = restructure(VIOLATIONS, "s")
    assert made == {
        "type": "object",
        "properties": {
            "foo": {"type": "string", "pattern": "abc"},
            "metadata": {"type": "object", "properties": {"name": {"type": "string", "pattern": "^a"}}},
            "bar": {"type": "integer"},
        },
        "anyOf": [{"properties": {"bar": {"minimum": 42}}, "required": ["bar"]}],
    }
    assert [(note.path, note.lost) for note in notes] == [
        ("s.properties[foo].type", False),
        ("s.properties[bar].type", False),
        ("s.properties[metadata]", True),
    ]


@pytest.mark.parametrize(
    ("schema", "made", "lost"),
    [
        (
            {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            [],
        ),
        (
            {"oneOf": [{"type": "boolean"}, {"type": "string"}]},
            {"x-kubernetes-preserve-unknown-fields": True},
            ["oneOf"],
        ),
        ({"type": "array"}, {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": True}}, []),
        (
            {"type": "array", "uniqueItems": True, "items": {"type": "string"}},
            {"type": "array", "items": {"type": "string"}},
            ["uniqueItems"],
        ),
        ({"type": "object", "additionalProperties": False}, {"type": "object"}, ["additionalProperties"]),
        ({"$ref": "#/definitions/a"}, {"x-kubernetes-preserve-unknown-fields": True}, ["$ref"]),
        ({"enum": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}, []),
        ({"format": "int64"}, {"type": "integer", "format": "int64"}, []),
        ({"type": "any"}, {"x-kubernetes-preserve-unknown-fields": True}, ["type"]),
        (
            {"type": "string", "allOf": [{"type": "string", "pattern": "a"}]},
            {"type": "string", "allOf": [{"pattern": "a"}]},
            [],
        ),
        (
            {"type": "string", "not": {"type": "string", "pattern": "a"}},
            {"type": "string", "not": {"pattern": "a"}},
            [],
        ),
        ({"type": "string", "not": {"nullable": True}}, {"type": "string"}, ["not"]),
    ],
)
def test_single_fields(schema: Any, made: Any, lost: list[str]) -> None:
    found, notes = restructure({"type": "object", "properties": {"a": schema}}, "s")
    assert found["properties"]["a"] == made
    assert [note.path.rpartition(".")[2] for note in notes if note.lost] == lost
