"""Quantities and their one form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.meta.quantity import QuantityError, canonical, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", "0"), ("00", "0"), ("1000", "1k"), ("1000m", "1"), ("1.5", "1500m"), ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"), ("0.5Ki", "512"), ("100Ki", "100Ki"), ("1e3", "1e3"), ("12000e3", "12e6"),
        ("1000E", "1e21"), ("0.0000000001", "1n"), ("-1.5", "-1500m"), (".5", "500m"), ("1100m", "1100m"),
        ("16Ei", "9223372036854775807"),
    ],
)  # fmt: skip
def test_the_one_form(text: str, expected: str) -> None:
    assert canonical(text) == expected
    assert canonical(expected) == expected


@given(st.from_regex(r"[+-]?[0-9]{1,12}(\.[0-9]{1,6})?([mkMGTPE]|[KMGTP]i|e[+-]?[0-9]|)", fullmatch=True))
def test_the_one_form_is_the_same_amount(text: str) -> None:
    assert parse(canonical(text)) == parse(text)
    assert canonical(canonical(text)) == canonical(text)


@pytest.mark.parametrize("text", ["", "a", "1a", "1Kib", "1ee3", "true", "1.2.3", "1e99999", "9" * 2000])
def test_what_is_none(text: str) -> None:
    with pytest.raises(QuantityError):
        parse(text)
