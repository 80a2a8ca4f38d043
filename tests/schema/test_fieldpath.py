"""Paths to fields as definitions name them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.meta.field import Key
from podless.schema import fieldpath
from podless.schema.node import Node

NODE = Node(
    {
        "type": "object",
        "properties": {
            "m": {"type": "object", "additionalProperties": {"type": "string"}},
            "a-b": {"type": "string"},
            "l": {"type": "array", "items": {"type": "string"}},
        },
    }
)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (".m", ("m",)),
        (".m['a']", ("m", Key("a"))),
        (".m.a", ("m", Key("a"))),
        (r".m['a\'b']", ("m", Key("a'b"))),
        (r".m['a\\b\n\t']", ("m", Key("a\\b\n\t"))),
        ("['a-b']", ("a-b",)),
        (".m['x.y[0]']", ("m", Key("x.y[0]"))),
        (".m['']", ("m", Key(""))),
    ],
)
def test_a_path_leads_to_a_field(text: str, path: tuple[object, ...]) -> None:
    assert fieldpath.parse_fieldpath(text, NODE)[0] == path


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (r".m['\q']", r"invalid string literal: invalid escape char \q"),
        (r".m['a\\']", r"expected single quoted string but got 'a\\']"),
        (".m[a]", "expected single quoted string but got a"),
        (".m['a'", "unexpected end of JSON path"),
        (".m['a''", "expected ] but got '"),
        (".q", "does not refer to a valid field"),
        (".l['0']", "does not refer to a valid field"),
        ("m", "expected [ or . but got: m"),
        (".", "unexpected end of JSON path"),
    ],
)
def test_what_is_no_path_to_a_field_is_said(text: str, why: str) -> None:
    with pytest.raises(ValueError) as refused:
        fieldpath.parse_fieldpath(text, NODE)
    assert str(refused.value) == why


@given(st.text(max_size=8).filter(lambda name: not name.endswith("\\")))
def test_any_name_can_be_quoted(name: str) -> None:
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    assert fieldpath.parse_fieldpath(f".m['{quoted}']", NODE)[0] == ("m", Key(name))
