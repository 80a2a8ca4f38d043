"""Nothing runs for long: costs, limits, and values that would grow without end."""

from __future__ import annotations

import contextlib

import pytest

from podless.cel import CelError, CostExceeded, compile, types
from podless.cel.program import LIMIT

VARIABLES = {"m": types.DYN, "n": types.DYN, "l": types.list_of(types.INT), "s": types.STRING}
DEEP = {str(key): list(range(50)) for key in range(2000)}
BINDINGS = {
    "m": DEEP,
    "n": {key: list(items) for key, items in DEEP.items()},
    "l": list(range(20000)),
    "s": "x" * 10**6,
}
HOSTILE = [
    "l.all(x, l.all(y, x + y >= 0))",
    "l.all(x, m == n)",
    "size(s.replace('', s)) > 0",
    "l.map(x, s).join('') == ''",
    "l.map(x, l).flatten().size() > 1",
    "l.map(x, m) == l.map(x, n)",
    "lists.range(1000000000).size() > 0",
    "l.sort() == l",
    "l.distinct() == l",
    "sets.equivalent(l, l)",
    "'%s'.format([l.map(x, l)]) == ''",
    "(s + s + s + s + s + s + s + s + s + s + s + s).size() > 0",
]
HUGE = [
    "!" * 30000 + "true",
    "true" + "||true" * 3000,
    "a." * 13000,
    "'" * 90000,
    "{" * 5000,
    "9" * 90000,
    "-" * 9000 + "1",
]


@pytest.mark.parametrize("source", HOSTILE)
def test_hostile_work_is_stopped(source: str) -> None:
    with pytest.raises(CostExceeded):
        compile(source, VARIABLES).evaluate(BINDINGS, limit=LIMIT // 200)  # as fast as the whole of it would


@pytest.mark.parametrize("source", HUGE, ids=[text[:5] for text in HUGE])
def test_huge_texts_are_read_or_refused(source: str) -> None:
    with contextlib.suppress(CelError):
        compile(source, VARIABLES)


@pytest.mark.parametrize("text", ["9" * 9000, "-" + "9" * 9000, "0." + "1" * 9000, "1e" + "9" * 5000])
@pytest.mark.parametrize(
    "function", ["int", "uint", "double", "duration", "timestamp", "quantity", "semver", "ip", "cidr"]
)
def test_long_numbers_are_refused(function: str, text: str) -> None:
    with contextlib.suppress(CelError):
        compile(f"{function}(s)", VARIABLES).evaluate({"s": text})


def test_limit_is_the_callers() -> None:
    program = compile("l.all(x, x >= 0)", VARIABLES)
    assert program.evaluate({"l": list(range(100))}) is True
    with pytest.raises(CostExceeded, match="actual cost limit exceeded"):
        program.evaluate({"l": list(range(100))}, limit=100)


@pytest.mark.parametrize(
    ("source", "low", "high"),
    [
        ("true", 0, 0),
        ("1 + 2 == 3", 2, 2),
        ("'abc' == 'abc'", 1, 1),
        ("[1, 2, 3].all(x, x > 0)", 20, 26),
        ("'abc'.matches('a+c')", 1, 1),
        ("true ? [1, 2].size() : 1", 0, 11),
        ("{'a': 1}.a == 1", 32, 32),
        ("[1, 2].slice(-1, -7)", 21, 21),  # negative constants count as 0
        ("[[1]].flatten(-1)", 31, 31),
    ],
)
def test_estimate(source: str, low: int, high: int) -> None:
    assert compile(source).estimate() == (low, high)


@pytest.mark.parametrize("count", [0, 1, 10, 50])
def test_cost_stays_within_the_estimate(count: int) -> None:
    program = compile("[0, 1, 2].all(x, x >= 0 && [1].exists(y, y > x || true))")
    estimate = program.estimate()
    assert estimate.low <= program.run()[1] <= estimate.high
