"""Quantities and their one form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.codec.quantity import (
    QuantityError,
    add_quantities,
    canonicalize_quantity,
    is_whole,
    parse_nanos,
    round_quantities,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", "0"), ("00", "0"), ("1000", "1k"), ("1000m", "1"), ("1.5", "1500m"), ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"), ("0.5Ki", "512"), ("100Ki", "100Ki"), ("1e3", "1e3"), ("12000e3", "12e6"),
        ("1000E", "1e21"), ("0.0000000001", "1n"), ("-1.5", "-1500m"), (".5", "500m"), ("1100m", "1100m"),
        ("16Ei", "9223372036854775807"), ("1.", "1."), ("+1", "+1"), ("1E3", "1E3"), ("1e-3", "1e-3"),
        ("1.5e3", "1500"), ("Gi", "0"), ("m", "0"), ("+", "0"), (".", "0"), (".Gi", "0"), ("E", "0"), ("0Ei", "0"),
    ],
)  # fmt: skip
def test_the_one_form(text: str, expected: str) -> None:
    assert canonicalize_quantity(text) == expected
    assert canonicalize_quantity(expected) == expected


@given(st.from_regex(r"[+-]?[0-9]{1,12}(\.[0-9]{1,6})?([mkMGTPE]|[KMGTP]i|e[+-]?[0-9]|)", fullmatch=True))
def test_the_one_form_is_the_same_amount(text: str) -> None:
    assert parse_nanos(canonicalize_quantity(text)) == parse_nanos(text)
    assert canonicalize_quantity(canonicalize_quantity(text)) == canonicalize_quantity(text)


@pytest.mark.parametrize(
    "text", ["", "a", "1a", "1Kib", "1ee3", "true", "1.2.3", "1e99999", "9" * 2000, "Ei", ".Ei", "e", "--1"]
)
def test_what_is_none(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_nanos(text)


@pytest.mark.parametrize(
    ("text", "expected"), [("1n", "1m"), ("1e-3", "1e-3"), ("1e-4", "1e-3"), ("-1u", "-1m"), ("1", "1")]
)
def test_lists_have_no_more_than_thousandths(text: str, expected: str) -> None:
    amounts = {"cpu": text}
    round_quantities(amounts)
    assert amounts == {"cpu": expected}


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("1", True),
        ("1500m", False),
        ("0.0001", False),
        ("2k", True),
        ("10P", True),
        ("1e1000", True),
        ("8Pi", True),
        ("9Pi", False),
        ("-10Pi", False),
        ("10Ei", True),
        ("9223372036854775807", True),
        ("9223372036854775808", True),
        ("9223372036854775809000001", True),
        ("1000000000000000000", False),
    ],
)
def test_thousandths_have_64_bits(text: str, *, whole: bool) -> None:
    assert is_whole(text) == whole


@pytest.mark.parametrize("text", ["1e1000", "10000e999", "1" + "0" * 990 + "E", "-500e998"])
def test_a_huge_amount_can_be_read_again(text: str) -> None:
    form = canonicalize_quantity(text)
    assert parse_nanos(form) == parse_nanos(text)
    assert canonicalize_quantity(form) == form
    assert parse_nanos(add_quantities([form] * 10)) == 10 * parse_nanos(text)
