"""YAML as go-yaml reads and prints it: bounds, and the writer against libyaml's."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st
from yaml import events

from podless.cel import correlation
from podless.codec import serializer, yamlwrite
from podless.codec.yamlscalar import resolve_scalar
from tests.cost import assert_linear

SIGNS = list("a01:#-' \"\n\té\\~?[{%@=\r\x85\xa0\ufeff\x7f")
SIGNS += ["word", "10", "2001-01-01", "yes", "---", "...", "1:30"]
PARTS = st.sampled_from([*SIGNS, " ", "  ", "\U0001f600", "\ud7ff", "x" * 30, "lorem ipsum "])
TEXTS = st.lists(PARTS, max_size=40).map("".join)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), 1 << 65)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def libyaml(value: Any) -> str:
    """The same from the emitter that go-yaml's was made of."""

    def walk(value: Any) -> Iterator[events.Event]:
        if isinstance(value, dict):
            yield events.MappingStartEvent(None, None, True, flow_style=False)
            for key in yamlwrite._sort_names(value):
                yield text(key)
                yield from walk(value[key])
            yield events.MappingEndEvent()
        elif isinstance(value, list):
            yield events.SequenceStartEvent(None, None, True, flow_style=False)
            for item in value:
                yield from walk(item)
            yield events.SequenceEndEvent()
        elif isinstance(value, str):
            yield text(value)
        else:
            yield events.ScalarEvent(None, None, (True, True), yamlwrite._write_scalar(value, 0, 0), style="")

    def text(value: str) -> events.Event:
        sexagesimal = ":" in value and yamlwrite._SEXAGESIMAL.fullmatch(value)
        style = "|" if "\n" in value else "" if resolve_scalar(value)[0] == "str" and not sexagesimal else '"'
        return events.ScalarEvent(None, None, (True, True), value, style=style)

    def stream() -> Iterator[events.Event]:
        yield events.StreamStartEvent()
        yield events.DocumentStartEvent(explicit=False)
        yield from walk(value)
        yield events.DocumentEndEvent(explicit=False)
        yield events.StreamEndEvent()

    return str(yaml.emit(stream(), Dumper=yaml.CSafeDumper, width=80, allow_unicode=True))


_MIXED = re.compile(r"[0-9][^\W\d_]")


@given(VALUES)
def test_the_writer_writes_what_libyaml_writes(value: Any) -> None:
    written, wanted = serializer.encode_yaml(value).decode(), libyaml(value)
    assert wanted in (written, f"{written}...\n")  # the mark of an open end is not printed by a Go server


@given(st.dictionaries(st.text("abAB01_-.\u0660", max_size=6), st.none(), max_size=8))
def test_keys_have_one_order(value: dict[str, None]) -> None:
    assert yamlwrite._sort_names(value) == yamlwrite._sort_names(reversed(value))


def test_numbers_in_keys_sort_by_their_value_however_long_they_are() -> None:
    long = "9" * 5000
    names = ["a", "a9", "a10", f"a{long}", f"a{long}9"]
    assert yamlwrite._sort_names(names[::-1]) == names


def test_a_list_is_written_in_pieces() -> None:
    value = {"items": [{"name": f"x{number}", "text": "y " * 500} for number in range(500)]}
    pieces = list(serializer.encode_yaml_pieces(value))
    assert len(pieces) > 5
    assert max(map(len, pieces)) < 1 << 17
    assert b"".join(pieces) == serializer.encode_yaml(value)


LAUGHS = "\n".join(["a0: &a0 [x,x,x]", *(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))])


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS,
        "a: &a [" + "{b: c}," * 12_000 + "]\nb: [" + "*a," * 99 + "]",
        "a: &a {" + ",".join(f"k{n}: 1" for n in range(12_000)) + "}\nb:\n" + "- {<<: *a}\n" * 99,
        "a: &a {" + ",".join(f"k{n}: 1" for n in range(12_000)) + "}\nb: {<<: [" + "*a," * 99 + "]}",
    ],
)
def test_what_is_nearly_all_aliases_is_refused(text: str) -> None:
    with pytest.raises(serializer.YAMLError) as error:
        serializer.decode_yaml(text.encode())
    assert error.value.message == "yaml: document contains excessive aliasing"


def test_what_aliases_stand_for_is_nobody_else_s() -> None:
    value = serializer.decode_yaml(b"a: &a {k: [1]}\nb: *a\nc: [*a, *a, {<<: *a}, {<<: *a}]\n")
    held = [value["a"], value["b"], *value["c"]]
    assert held == [{"k": [1]}] * 6
    assert len({id(one) for one in held} | {id(one["k"]) for one in held}) == 12


def test_repeated_keys_within_aliases_are_told_for_each() -> None:
    found: list[str] = []
    serializer.decode_yaml(b"a: &a {k: 1, k: 2}\nb: *a\nc: *a\nd: *a\n", found)
    assert found == ['line 1: key "k" already set in map'] * 4
    found.clear()
    name = "k" * 100_000
    serializer.decode_yaml(f"a: &a {{? {name} : 1, ? {name} : 2}}\nb: [{'*a,' * 1000}]".encode(), found)
    assert len(found) < 50


def test_what_aliases_cost_once() -> None:
    assert_linear(serializer.decode_yaml, lambda size: b"a: &a [" + b"{b: c}," * size + b"]\nb: [" + b"*a," * 50 + b"]")
    assert_linear(serializer.decode_yaml, lambda size: b"a: &a {b: {c: d}}\nb:\n" + b"- *a\n- {<<: *a}\n" * size)


def test_yaml_costs_its_length() -> None:
    assert_linear(serializer.decode_yaml, lambda size: b"- a: b\n  c: [d, 'e', 1.5]\n" * size)
    assert_linear(serializer.encode_yaml, lambda size: [{"a": "b", f"c{n}": ["d ", 1.5]} for n in range(size)])
    assert_linear(serializer.encode_yaml, lambda size: {f"{n}a": "a: b " * 30 for n in range(size)})
    assert_linear(serializer.encode_yaml, lambda size: "it's " * size)


PIECES = ["a: ", "b: ", "- ", "\n", "  ", "&x ", "*x", "<<: ", "[", "]", "{", "}", ",", "1", "'q'", "null", "? "]
PIECES += ["!!binary ", "---\n", "|\n", "\t", "%YAML 1.1\n", "!!int ", "\x00", "é"]


@given(st.sets(st.text("abAB01_-.\u0660\u00e9\u2160", max_size=8).filter(lambda text: not _MIXED.search(text))))
def test_a_large_mapping_has_the_order_of_a_small_one(names: set[str]) -> None:
    assert sorted(names, key=yamlwrite._rank_key) == yamlwrite._sort_names(names)


def test_signs_that_look_like_letters_are_none() -> None:
    names = ["ab\u2160", "aa", "abc", "ab", "a\u2160b"]
    assert sorted(names, key=yamlwrite._rank_key) == yamlwrite._sort_names(names)


@given(VALUES)
def test_large_mappings_are_written_as_small_ones(value: Any) -> None:
    assume(not any(map(_MIXED.search, whole_order(value))))
    whole = yamlwrite.emit_yaml(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yamlwrite, "_KEYS_PER_SORT", 1)
        patch.setattr(yamlwrite, "_KEYS_PER_RUN", 2)
        patch.setattr(yamlwrite, "_rank_key", lambda text: str(whole_order(value).index(text)).zfill(9))
        assert yamlwrite.emit_yaml(value) == whole


def whole_order(value: Any) -> list[str]:
    """All keys in a value, as small mappings have them."""
    found: set[str] = set()
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            found |= one.keys()
        todo += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return yamlwrite._sort_names(found)


def test_others_go_on_while_a_large_mapping_is_sorted() -> None:
    pieces = list(yamlwrite.emit_pieces({f"k{number}": None for number in range(20_000)}))
    assert pieces.count(b"") == -(-20_000 // yamlwrite._KEYS_PER_RUN)


@given(st.lists(st.sampled_from(PIECES), max_size=15))
def test_any_text_is_read_or_refused(parts: list[str]) -> None:
    with contextlib.suppress(serializer.YAMLError):
        serializer.decode_yaml("".join(parts).encode(), [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%YAML 1.2\n---\na: 1\n", "yaml: found incompatible YAML document"),
        ("# x\n%YAML 1.2\n---\na: 1\n", "yaml: line 1: found incompatible YAML document"),
        ("a: {~: {b: ~}}\n? [x]\n: 1\n", 'yaml: invalid map key: []interface {}{"x"}'),
        (
            "~: {b: ~}\n",
            "unsupported map key of type: %!s(<nil>), key: <nil>, "
            'value: map[interface {}]interface {}{"b":interface {}(nil)}',
        ),
        ("a: .nan\n~: 1\n", "unsupported map key of type: %!s(<nil>), key: <nil>, value: 1"),
    ],
)
def test_what_is_refused_and_in_which_order(text: str, message: str) -> None:
    with pytest.raises(serializer.YAMLError) as caught:
        serializer.decode_yaml(text.encode())
    assert caught.value.message == message


def test_what_another_key_takes_away_is_not_judged() -> None:
    assert serializer.decode_yaml(b"a: {~: 1, b: .inf}\na: 2\n") == {"a": 2}
    assert serializer.decode_yaml(b"%YAML 1.1\n---\na: 1\n") == {"a": 1}


ANY_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 70), 1 << 70) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(st.dictionaries(st.text(), ANY_VALUES, max_size=4), st.booleans())
def test_json_is_what_yaml_makes_of_it(value: dict[str, object], escaped: bool) -> None:
    raw = json.dumps(value, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    found = serializer.decode_yaml_as_json(raw)
    if found is not None:
        assert correlation.equal_json(found, serializer.decode_yaml(raw))


@pytest.mark.parametrize(
    "raw", [b'{"a":\t1}', b'{"a":"\\u00e9"}', b'{"<<":{}}', '{"a":"é"}'.encode(), b"a: b", b"{a: b}"]
)
def test_what_may_differ_is_left_to_yaml(raw: bytes) -> None:
    assert serializer.decode_yaml_as_json(raw) is None
    assert serializer.ParsedYAML.parse_as_json(raw) is None


def test_a_key_that_is_repeated_is_left_to_yaml() -> None:
    assert serializer.decode_yaml_as_json(b'{"a":1,"a":2}') is None


def test_the_next_to_decode_it_has_what_was_read() -> None:
    read = serializer.ParsedYAML.parse_as_json(b'{"a":[1,2.0]}')
    assert read is not None
    assert serializer.decode_yaml(read) == {"a": [1, 2]}
