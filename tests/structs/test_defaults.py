"""Defaults of tables, filled into objects."""

from __future__ import annotations

from typing import Any

import pytest

from podless.structs import defaults
from podless.structs.gotypes import INT32, STRING, ListOf, MapOf
from podless.structs.structs import Field, Struct, decode_struct

LEAF = Struct(
    "Leaf",
    (
        Field("a", STRING, fill="x"),
        Field("b", INT32, pointer=True, fill=3),
        Field("c", STRING, default="d"),
        Field("e", STRING, default=""),
    ),
)
PLAIN = Struct("Plain", (Field("a", STRING),))
TREE: Struct = Struct(
    "Tree",
    lambda: (
        Field("one", LEAF, pointer=True),
        Field("many", ListOf(LEAF)),
        Field("named", MapOf(LEAF)),
        Field("always", LEAF),
        Field("plain", PLAIN),
        Field("more", ListOf(TREE)),
    ),
)
FULL = {"a": "x", "b": 3, "c": "d"}


@pytest.mark.parametrize(
    ("given", "filled"),
    [
        ({}, {"always": FULL, "plain": {}}),
        ({"one": {}}, {"one": FULL, "always": FULL, "plain": {}}),
        ({"always": {"a": "", "b": 0, "c": "z"}}, {"always": {"a": "x", "b": 0, "c": "z"}, "plain": {}}),
        ({"many": [{}, {"a": "y"}]}, {"many": [FULL, {**FULL, "a": "y"}], "always": FULL, "plain": {}}),
        ({"named": {"k": {}}}, {"named": {"k": FULL}, "always": FULL, "plain": {}}),
        ({"more": [{}]}, {"always": FULL, "plain": {}, "more": [{"always": FULL, "plain": {}}]}),
    ],
)
def test_what_is_left_out_is_filled_in_in_order(given: Any, filled: Any) -> None:
    obj = decode_struct(TREE, given)
    defaults.fill_defaults(TREE, obj)
    assert obj == filled
    assert list(obj) == list(filled)
    assert list(obj["always"]) == ["a", "b", "c"]


def test_a_default_is_nobodys_but_its_objects() -> None:
    struct = Struct("S", (Field("a", PLAIN, pointer=True, fill={}),))
    one: dict[str, Any] = {}
    other: dict[str, Any] = {}
    defaults.fill_defaults(struct, one)
    defaults.fill_defaults(struct, other)
    one["a"]["a"] = "x"
    assert other == {"a": {}}


def test_what_has_no_defaults_is_left_alone() -> None:
    obj = {"a": "b"}
    defaults.fill_defaults(PLAIN, obj)
    assert obj == {"a": "b"}
