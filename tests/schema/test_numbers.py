"""Numbers as Go holds, compares and prints them."""

from __future__ import annotations

import pytest

from podless.schema import numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (999999.0, "999999"),
        (1000000.0, "1e+06"),
        (0.5, "0.5"),
        (-2.25, "-2.25"),
        (1e20, "1e+20"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (0.0001, "0.0001"),
        (1e-05, "1e-05"),
        (0.0, "0"),
        (-0.0, "-0"),
        (123456.75, "123456.75"),
        (float("inf"), "+Inf"),
        (float("-inf"), "-Inf"),
        (float("nan"), "NaN"),
    ],
)
def test_numbers_are_printed_as_gos_percent_v_prints_them(value: float, text: str) -> None:
    assert numbers.format_number(value) == text


@pytest.mark.parametrize(
    ("value", "whole"),
    [
        (3.0, True),
        (3.5, False),
        (2.5, False),
        (1 + 1e-10, True),
        (1e-12, False),
        (2.0**53, False),
        (-(2.0**53) + 1, True),
        (float("nan"), False),
        (float("inf"), False),
    ],
)
def test_a_float_passes_for_an_integer_within_53_bits_and_a_tiny_error(value: float, whole: bool) -> None:
    assert numbers.is_integral(value) is whole


def test_ranges_are_those_of_type_and_format() -> None:
    assert numbers.in_range(2**31 - 1, "integer", "int32")
    assert not numbers.in_range(2**31, "integer", "int32")
    assert numbers.in_range(2**63 - 1, "integer", "")
    assert not numbers.in_range(2.0**63, "integer", "int64")
    assert not numbers.in_range(-(2.0**63), "integer", "int64")  # it reads -9223372036854776000
    assert numbers.in_range(-(2**63), "integer", "int64")
    assert not numbers.in_range(1.5, "integer", "")
    assert not numbers.in_range(1e39, "number", "float")
    assert numbers.in_range(1e39, "number", "double")
