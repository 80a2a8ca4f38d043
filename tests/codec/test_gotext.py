"""Facts about whole numbers as strconv reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.codec.gotext import parse_int, parse_natural

LONG = "1" * 5000  # more digits than Python's int reads


@given(st.integers(-(1 << 65), 1 << 65))
def test_a_number_is_read_where_its_bits_hold_it(number: int) -> None:
    if -(1 << 63) <= number < 1 << 63:
        assert parse_int(str(number)) == number
    else:
        with pytest.raises(ValueError, match="value out of range"):
            parse_int(str(number))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", 'strconv.ParseInt: parsing "": invalid syntax'),
        ("-", 'strconv.ParseInt: parsing "-": invalid syntax'),
        ("+-1", 'strconv.ParseInt: parsing "+-1": invalid syntax'),
        ("\u0663", 'strconv.ParseInt: parsing "\u0663": invalid syntax'),
        (LONG, f'strconv.ParseInt: parsing "{LONG}": value out of range'),
    ],
)
def test_what_is_no_number_is_told_in_go_s_words(text: str, fault: str) -> None:
    with pytest.raises(ValueError) as error:
        parse_int(text)
    assert str(error.value) == fault


def test_other_functions_and_sizes() -> None:
    with pytest.raises(ValueError, match=r'strconv\.Atoi: parsing "x": invalid syntax'):
        parse_int("x", name="Atoi")
    with pytest.raises(ValueError, match="value out of range"):
        parse_int("2147483648", 32)
    assert parse_int("-2147483648", 32) == -(1 << 31)


def test_leading_zeros_do_not_count() -> None:
    assert parse_natural("0" * 5000 + "7") == 7
    assert parse_natural("") == 0
    assert parse_natural(LONG) >= 1 << 64
