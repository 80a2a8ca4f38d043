"""JSON texts that orjson rejects, or that repeat keys, against a parser that works token by token."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podless.codec import gotext, jsontext, serializer
from podless.codec.jsontext import JSONError
from tests.codec import tokens
from tests.conftest import tries

pytestmark = pytest.mark.slow

SIGNS = [
    *'[]{}:,"0-1.eE tfn\n\\',
    "null",
    "true",
    "1.5",
    "1e999",
    '"a"',
    '"b":',
    '"a":1,',
    "[]",
    "{}",
    '{"a":',
    "\\u12",
]
SIGNS += ['"\\ud800"', '"\\ud83d\\ude00"', '"\\\\"', '"\\ud800\\n"', "[" * 260, "]" * 260, "é", "\x00"]
KEYS = st.sampled_from(["a", "b", "", "\\u0061", "\\ud800", "é"])
SCALARS = st.sampled_from(
    ["1", "-0", "1.0", '"x"', '"\\ud800"', '"]},"', '"\\"{"', "null", "true", "18446744073709551616"]
)


def obj(entries: list[tuple[str, str]]) -> str:
    return "{" + " , ".join(f'"{key}":{item}' for key, item in entries) + "}"


JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(st.tuples(KEYS, inner), max_size=4).map(obj)
        | st.lists(inner, max_size=4).map(lambda items: f"[{', '.join(items)}]")
    ),
    max_leaves=12,
)
TEXTS = st.builds(
    lambda text, at, part, cut: text[: at % (len(text) + 1)] + part + text[at % (len(text) + 1) + cut :],
    JSON,
    st.integers(0, 200),
    st.sampled_from(["", *SIGNS]),
    st.integers(0, 3),
)
ANY = st.lists(st.sampled_from(SIGNS), max_size=14).map("".join)
BAD = st.sampled_from([b"", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f"])


def outcome(raw: bytes, decode: Any) -> Any:
    found: list[str] = []
    try:
        return json.dumps(decode(raw, found)), found
    except JSONError as error:
        return error.message


def exact(raw: bytes, found: list[str]) -> Any:
    repeated: list[str] = []
    value = tokens.parse_json(raw, repeated)
    found += (f"duplicate field {gotext.quote(path)}" for path in repeated)
    return value


@settings(max_examples=tries(400))
@given(TEXTS | ANY, st.integers(0, 100), BAD)
def test_as_token_by_token(text: str, at: int, bad: bytes) -> None:
    raw = text.encode()
    raw = raw[:at] + bad + raw[at:]
    assert outcome(raw, serializer.decode_json) == outcome(raw, exact)


@given(JSON)
def test_repeated_keys(text: str) -> None:
    repeated: list[str] = []
    tokens.parse_json(text.encode(), repeated)
    assert jsontext.find_repeats(jsontext.repair_text(text.encode())) == repeated


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"a":[' + b"0," * 9 + b"}", "invalid character '}' looking for beginning of value"),
        (b'{"a":"' + b"x" * 9, "unexpected end of JSON input"),
        (b'{"a":["]",{"b":"}"}' + b"," * 2, "invalid character ',' looking for beginning of value"),
        (b'["a" "b"]', "invalid character '\"' after array element"),
        (b'[1,{"a":2}]]', "invalid character ']' after top-level value"),
        (b"[" * 300, "invalid character '[' exceeded max depth"),
        (b"[" * 300 + b"]" * 300, "invalid character '[' exceeded max depth"),
    ],
)
def test_words(raw: bytes, message: str) -> None:
    with pytest.raises(JSONError) as caught:
        serializer.decode_json(raw, [])
    assert caught.value.message == message


def test_brackets_in_a_text_that_does_not_end_are_no_depth() -> None:
    with pytest.raises(JSONError, match="unexpected end of JSON input"):
        serializer.decode_json(b'[{"a":"' + b"[" * 300)


@pytest.mark.parametrize(
    "part", [b'\\"', b'"', b"\\", b'\\"[', b"[{", b'{"a":', b'"a":1,', b"1,", b"\xff", b"\\ud800", b"0.", b"-"]
)
@pytest.mark.parametrize("start", [b"", b'"', b'["', b'{"a":"'])
def test_hostile_texts_are_read_in_one_pass(start: bytes, part: bytes) -> None:
    """A megabyte of them would take hours otherwise."""
    raw = start + part * ((1 << 20) // len(part))
    with pytest.raises(JSONError) as error:
        serializer.decode_json(raw, [])
    if len(start) == 1 and part == b'\\"':
        assert error.value.message == "unexpected end of JSON input"


def test_a_key_that_is_repeated_in_many_places_is_told_where_there_is_room() -> None:
    name = "k" * 100_000
    items = '{"a":1,"a":2},' * 1000
    raw = f'{{"{name}":[{items}0]}}'.encode()
    found: list[str] = []
    serializer.decode_json(raw, found)
    assert found[0] == f'duplicate field "{name}[0].a"'
    assert len(found) < 50
