"""Values as YAML blocks, as the protobuf documents hold them."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from podless.publish.openapi import gnostic

SHOWN = [
    ([{"fieldPath": "spec.color"}], "- fieldPath: spec.color\n"),
    ({"version": "v1", "group": "", "kind": "Thing"}, 'group: ""\nkind: Thing\nversion: v1\n'),
    (["name", "port"], "- name\n- port\n"),
    ("merge", "merge\n"),
    ("1", '"1"\n'),
    ("true", '"true"\n'),
    (["yes", "off", "1:30"], "- yes\n- off\n- 1:30\n"),
    ("2020-01-01", '"2020-01-01"\n'),
    (True, "true\n"),
    (3, "3\n"),
    ([], "[]\n"),
    ({}, "{}\n"),
    ({"b": ["x"], "a": {"c": 1}}, "a:\n    c: 1\nb:\n    - x\n"),
    ([["a"], [{"b": [1]}]], "- - a\n- - b:\n        - 1\n"),
    ([{"rule": "self.a\n|| self.b"}], "- rule: |-\n    self.a\n    || self.b\n"),
    ("word " * 30 + "end", "word " * 30 + "end\n"),
    ("a: " + "word " * 30 + "end", "'a: " + "word " * 30 + "end'\n"),
]


@pytest.mark.parametrize(("value", "shown"), SHOWN)
def test_blocks(value: Any, shown: str) -> None:
    assert gnostic.format_block(json.dumps(value)) == shown


TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=120).filter(
    lambda text: text != "=" and not gnostic._OLD.fullmatch(text)  # other readers give these another meaning
) | st.text("ab \n:#-'\"", max_size=12)
VALUES = st.recursive(
    TEXTS | st.integers(-(2**40), 2**40) | st.booleans() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.from_regex(r"[a-z][a-zA-Z-]{0,8}", fullmatch=True), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_what_is_written_is_read_again(value: Any) -> None:
    assert yaml.load(gnostic.format_block(json.dumps(value)), yaml.CSafeLoader) == value


def test_what_is_nested_very_deep_stays_json() -> None:
    deep = "[" * 200 + "]" * 200
    assert gnostic.format_block(deep) in (deep + "\n", "- " * 199 + "[]\n")


def test_anything_is_a_text_in_field_2() -> None:
    assert gnostic.write_any(36, ["a"]) == b"\xa2\x02\x06\x12\x04- a\n"
