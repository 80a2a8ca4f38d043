"""Accept headers."""

from __future__ import annotations

import pytest

from podless.codec import accept
from tests.cost import assert_linear


def order(header: str) -> list[str]:
    return [f"{clause.kind}/{clause.subtype}" for clause in accept.parse_accept(header)]


def test_a_few_clauses_are_sorted_as_they_come_in() -> None:
    assert order("a/b;q=0.1,*/*,c/d;q=0.5") == ["c/d", "*/*", "a/b"]


def test_many_clauses_are_sorted_by_quality() -> None:
    header = ",".join(["*/*"] * 20 + ["a/*"] * 20 + ["a/b"] * 20 + ["c/d;q=2"])
    assert order(header) == ["c/d"] + ["a/b"] * 20 + ["a/*"] * 20 + ["*/*"] * 20


@pytest.mark.parametrize(
    ("text", "number"),
    [("0.5", True), (".5", True), ("5.", True), ("1e3", True), ("-1e-3", True), ("+Inf", True), ("infinity", True),
     ("NaN", True), ("", False), (".", False), ("1e", False), ("1.1.1", False), ("-nan", False), ("e1", False),
     ("1" * 100 + "x", False)],
)  # fmt: skip
def test_what_is_a_number(text: str, number: bool) -> None:
    assert bool(accept._NUMBER.fullmatch(text)) == number


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "*/*," * n + "a/b," * n,
        lambda n: ",".join(f"a/b;q=0.{i % 10}" for i in range(n)),
        lambda n: "a/b" + ";c=d" * n,
    ],
)
def test_the_work_grows_with_the_header(make) -> None:  # type: ignore[no-untyped-def]
    assert_linear(lambda n: accept.parse_accept(make(n)), lambda n: n, 200, charged=False)


def test_a_long_quality_is_looked_at_once() -> None:
    # work that is done in C shows in its size: a call for each character would be here as lines
    assert_linear(lambda n: accept.parse_accept(f"a/b;q={'1' * n}x"), lambda n: n, 2000, charged=False)


def test_of_very_many_clauses_those_that_cannot_be_met_are_left_out() -> None:
    header = ",".join(
        [f"a/b{n}" for n in range(300)] + ["*/*;q=0.1", "application/yaml;q=0.5", "application/json"] * 300
    )
    assert order(header) == ["application/json", "application/yaml", "*/*"]
