"""Repeated keys in typed bodies."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.structs import repeats
from podless.structs.gotypes import BOOL, INT32, JSON, STRING, ListOf, MapOf
from podless.structs.structs import Field, Struct, decode_struct

INNER = Struct("Inner", (Field("a", INT32), Field("b", STRING), Field("p", INT32, pointer=True)))
THING = Struct(
    "Thing",
    (
        Field("inner", INNER),
        Field("held", INNER, pointer=True),
        Field("list", ListOf(INNER)),
        Field("map", MapOf(STRING)),
        Field("any", JSON),
        Field("flag", BOOL),
    ),
)


@pytest.mark.parametrize(
    ("text", "expected", "findings"),
    [
        (
            '{"inner": {"a": 1, "b": "x"}, "inner": {"a": 2}}',
            {"inner": {"a": 2, "b": "x"}},
            ['duplicate field "inner"'],
        ),
        ('{"inner": {"a": 1, "a": null}}', {"inner": {"a": 1}}, ['duplicate field "inner.a"']),
        ('{"inner": {"p": 1, "p": null}}', {"inner": {}}, ['duplicate field "inner.p"']),
        ('{"inner": {"a": 1}, "inner": null}', {"inner": {"a": 1}}, ['duplicate field "inner"']),
        ('{"held": {"a": 1}, "held": null}', {}, ['duplicate field "held"']),
        ('{"map": {"k": "v"}, "map": {"l": "w"}}', {"map": {"k": "v", "l": "w"}}, ['duplicate field "map"']),
        ('{"map": {"k": "v"}, "map": null}', {}, ['duplicate field "map"']),
        ('{"map": {"k": "v", "k": null}}', {"map": {"k": None}}, ['duplicate field "map.k"']),
        (
            '{"list": [{"a": 1}, {"a": 2}], "list": [{"b": "x"}]}',
            {"list": [{"a": 1, "b": "x"}]},
            ['duplicate field "list"'],
        ),
        ('{"any": {"a": 1}, "any": {"b": 2, "b": 3}}', {"any": {"b": 3}}, ['duplicate field "any"']),
        # in the order of the text; what is unknown is told once, and not looked into
        (
            '{"inner": {"x": {"y": 1, "y": 2}, "x": 1}, "inner": {"z": 1}, "q": 1}',
            {"inner": {}},
            ['unknown field "inner.x"', 'duplicate field "inner"', 'unknown field "inner.z"', 'unknown field "q"'],
        ),
    ],
)
def test_the_second_value_is_decoded_into_the_first(text: str, expected: Any, findings: list[str]) -> None:
    found: list[str] = []
    assert repeats.decode_repeats(THING, text.encode(), found) == expected
    assert found == findings


SCALARS = st.integers(0, 3)
INNERS = st.fixed_dictionaries({}, optional={"a": SCALARS, "b": st.text("xy", max_size=2), "p": SCALARS})
THINGS = st.fixed_dictionaries(
    {},
    optional={
        "inner": INNERS,
        "held": INNERS,
        "list": st.lists(INNERS, max_size=2),
        "map": st.dictionaries(st.text("kl", max_size=1), st.text("xy", max_size=2), max_size=2),
        "flag": st.booleans(),
    },
)


@given(THINGS)
def test_without_repeats_it_is_what_was_sent(thing: dict[str, Any]) -> None:
    found: list[str] = []
    text = json.dumps(thing).encode()
    assert decode_struct(THING, repeats.decode_repeats(THING, text, found)) == decode_struct(THING, thing)
    assert not found


@given(THINGS, THINGS)
def test_the_same_again_changes_nothing(one: dict[str, Any], other: dict[str, Any]) -> None:
    """A document whose fields come twice is the second one merged into the first; twice the same is the same."""

    def twice(first: dict[str, Any], second: dict[str, Any]) -> Any:
        parts = [f"{json.dumps(key)}:{json.dumps(item)}" for part in (first, second) for key, item in part.items()]
        return decode_struct(THING, repeats.decode_repeats(THING, ("{" + ",".join(parts) + "}").encode(), []))

    assert twice(one, one) == decode_struct(THING, one)
    merged = twice(one, other)
    for key, item in decode_struct(THING, other).items():
        if key in ("flag",):
            assert merged[key] == item


def test_the_last_text_at_the_top() -> None:
    assert repeats.find_last(b'{"kind": "A", "kind": "B", "kind": null, "x": {"kind": "C"}}', "kind") == "B"
    assert repeats.find_last(b"[]", "kind") is None
