"""Numbers as they were sent, for who looks at what a client wrote."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from podless.codec import sentfloats, serializer
from tests.codec.test_serializer import VALUES, same

NUMBERS = st.one_of(
    st.integers(-(1 << 66), 1 << 66).map(str),
    st.integers(-(1 << 66), 1 << 66).map("{}.0".format),
    st.tuples(st.integers(-99, 99), st.integers(0, 30)).map(lambda parts: f"{parts[0]}e{parts[1]}"),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
)


@given(VALUES)
def test_floats_are_floats_again_as_long_as_they_are_looked_at(value: Any) -> None:
    raw, floats = json.dumps(value).encode(), []  # type: ignore[var-annotated]
    body = serializer.decode_json(raw, floats=floats)
    settled = json.dumps(body)
    with sentfloats.as_sent(body, floats):
        assert same(body, value) or not isinstance(value, dict | list)
    assert json.dumps(body) == settled


@given(st.lists(NUMBERS, max_size=4), st.booleans())
def test_numbers_are_again_what_they_were_sent_as(literals: list[str], deep: bool) -> None:
    text = f"[{','.join(literals)}]"
    floats: serializer.Floats = []
    value = serializer.decode_json((f'{{"a":[{text}]}}' if deep else text).encode(), None, floats)
    found = sentfloats.copy_as_sent(value, floats)
    for literal, number in zip(literals, found["a"][0] if deep else found, strict=True):
        whole = literal.lstrip("-").isdigit() and -(1 << 63) <= int(literal) < 1 << 63
        assert (type(number), number) == ((int, int(literal)) if whole else (float, float(literal)))
