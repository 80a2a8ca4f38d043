"""Every value costs in proportion to its length, however wrong it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from podless.schema import Schema, check, formats
from podless.schema.errorvalues import MAX_ERRORS
from podless.schema.node import Node
from tests.cost import assert_linear, lines

pytestmark = pytest.mark.slow

LISTED = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    "items": {"type": "object", "properties": {"k": {"type": "integer"}, "v": {"type": "integer"}}},
}


def of(part: dict[str, Any]) -> Schema:
    return Schema.compile({"type": "object", "properties": {"l": part}})


@pytest.mark.parametrize("name", sorted(formats.CHECKS))
@pytest.mark.parametrize("text", ["0", "a", "1s", "a.", "é", "1 ", "[", "(", "%2", "::", "0-", '"a" '])
def test_no_format_reads_a_text_again_and_again(name: str, text: str) -> None:
    assert_linear(formats.CHECKS[name], lambda size: text * size)


@pytest.mark.parametrize("tail", ["", "s", "x", "d"])
def test_a_duration_of_very_many_digits_is_too_long_for_one(tail: str) -> None:
    assert not formats.CHECKS["duration"]("9" * 100_000 + tail)
    assert formats.CHECKS["duration"]("0" * 100_000 + "1d")


@pytest.mark.parametrize(
    ("part", "make"),
    [
        ({"type": "array", "items": {"type": "integer"}}, lambda size: ["x"] * size),
        ({"type": "array", "items": {"type": "integer"}, "x-kubernetes-list-type": "set"}, lambda size: [1, 2] * size),
        ({"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, lambda size: [*range(size), 0]),
        (LISTED, lambda size: [{"k": place, "v": "x"} for place in range(size)]),
        (LISTED, lambda size: [{"k": 1}] * size),
        ({"type": "object", "additionalProperties": False}, lambda size: {f"f{place}": 1 for place in range(size)}),
    ],
)
def test_wrong_values_are_looked_at_once(part: dict[str, Any], make: Callable[[int], Any]) -> None:
    schema = of(part)
    assert_linear(lambda value: schema.validate({"l": value}), make)
    assert_linear(lambda value: schema.validate({"l": value}, {"l": value}), make)


def test_after_thousands_of_errors_no_more_are_looked_for() -> None:
    node = Node({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}})
    some, more = ([["x"] * 100] * count for count in (60, 600))
    assert len(check.validate_value(some, node)) <= MAX_ERRORS + 100
    assert lines(lambda value: check.validate_value(value, node), more) < 1.1 * lines(
        lambda value: check.validate_value(value, node), some
    )


def test_a_text_is_not_held_against_a_pattern_that_is_too_slow_for_it() -> None:
    schema = of({"type": "string", "pattern": "a.{0,900}c"})
    assert schema.validate({"l": "a" * 1024 + "c"}) == []
    [error] = schema.validate({"l": "a" * 1_000_000})
    assert str(error).startswith("l: Too long: may not be more than ")
    assert of({"type": "string", "pattern": "^[a-z]+$"}).validate({"l": "a" * 3_000_000}) == []
