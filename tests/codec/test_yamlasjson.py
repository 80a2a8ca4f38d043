"""What is read as JSON in the place of YAML is the same in both."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.cel import correlation
from podless.codec import serializer, yamlasjson

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 70), 1 << 70) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.booleans())
def test_json_is_what_yaml_makes_of_it(value: dict[str, object], escaped: bool) -> None:
    raw = json.dumps(value, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    found = yamlasjson.decode_object(raw)
    if found is not None:
        assert correlation.equal_json(found, serializer.decode_yaml(raw))


@pytest.mark.parametrize(
    "raw", [b'{"a":\t1}', b'{"a":"\\u00e9"}', b'{"<<":{}}', '{"a":"é"}'.encode(), b"a: b", b"{a: b}"]
)
def test_what_may_differ_is_left_to_yaml(raw: bytes) -> None:
    assert yamlasjson.decode_object(raw) is None
    assert yamlasjson.read_yaml_as_json(raw) is None


def test_a_key_that_is_repeated_is_left_to_yaml() -> None:
    assert yamlasjson.decode_object(b'{"a":1,"a":2}') is None


def test_the_next_to_decode_it_has_what_was_read() -> None:
    read = yamlasjson.read_yaml_as_json(b'{"a":[1,2.0]}')
    assert read is not None
    assert serializer.decode_yaml(read) == {"a": [1, 2]}
