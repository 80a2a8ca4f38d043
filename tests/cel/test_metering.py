"""Evaluations charge the meter for what they do, and patterns that come with objects are taken from an allowance."""

from __future__ import annotations

import itertools
from contextvars import copy_context
from typing import Any

import pytest

from podless.cel import CostExceeded, compile, patterns, types
from podless.codec import goregexp
from podless.runtime.meter import ALLOWANCE, METER, TimeAllowance
from tests import cost

INTS, DYNS = list(range(20_000)), [{"a": [place], "b": str(place)} for place in range(1500)]
DEEP = [[[[{"a": 1}] * 12] * 12] * 12] * 12
VARIABLES = {
    "n": types.DYN,
    "l": types.list_of(types.INT),
    "d": types.DYN,
    "e": types.DYN,
    "p": types.list_of(types.STRING),
}
LINES = 500  # between two charges at the most, on the average
WORK = [
    "l.all(x, x >= 0)",
    "l.exists(x, x < 0)",
    "l.map(x, x + 1).size() > 0",
    "l.filter(x, l[0] == x).size() == 1",
    "d.all(x, x.a == x.a)",
    "d == e",
    "n == n",
    "l.sum() > 0",
    "l.max() > 0",
    "l.isSorted()",
    "l.indexOf(-1) == -1",
    "l.lastIndexOf(-1) == -1",
    "d.exists(x, x in e)",
    "[l, l].flatten().size() == 40000",
    "l.slice(0, 500).distinct().size() == 500",
    "sets.contains(l, l.slice(0, 40))",
    "'%s'.format([d]) != ''",
    "l.map(x, '').join('') == ''",
]


@pytest.mark.parametrize("source", WORK)
def test_work_is_charged_as_it_is_done(source: str) -> None:
    program = compile(source, VARIABLES)
    values = {"n": DEEP, "l": INTS, "d": DYNS, "e": [dict(dyn) for dyn in DYNS], "p": []}
    program.evaluate(values)
    since = most = 0
    lines = cost.Lines()

    class Looks(cost.Allowance):
        """Tells the lines between two charges."""

        __slots__ = ()

        def __setattr__(self, name: str, value: Any) -> None:
            nonlocal since, most
            most = max(most, lines.number - since)
            since = lines.number
            super().__setattr__(name, value)

    meter = Looks()

    def run() -> None:
        METER.set(meter)
        with lines:
            program.evaluate(values)

    copy_context().run(run)
    most = max(most, lines.number - since)
    assert most <= 60_000, f"{most} lines between two charges"
    assert lines.number <= LINES * max(meter.charged, 20)


def matching(texts: list[str]) -> bool:
    """Whether a text has a match of all patterns, as a request would find out."""
    program = compile("p.all(x, 'abcx'.matches(x))", VARIABLES)

    def run() -> bool:
        ALLOWANCE.set(TimeAllowance())
        found: bool = program.evaluate({"p": texts})
        return found

    return copy_context().run(run)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The patterns that are compiled meanwhile; none is known from before."""
    patterns._weights.drop_all()
    made: list[str] = []
    real = goregexp.parse_pattern

    def parse(pattern: str, options: Any) -> Any:
        made.append(pattern)
        return real(pattern, options)

    monkeypatch.setattr(goregexp, "parse_pattern", parse)
    return made


def test_many_plain_patterns_of_a_client_are_compiled(compiled: list[str]) -> None:
    texts = [f"^[a-z]([-a-z0-9]*[a-z0-9])?|{place}" for place in range(500)]
    assert matching(texts)
    assert compiled == texts
    assert matching(texts)
    assert len(compiled) == 500


def test_dear_patterns_of_a_client_end_the_evaluation(compiled: list[str]) -> None:
    with pytest.raises(CostExceeded):
        matching([rf"\pL{{1,{60 + place}}}x" for place in range(20)])
    assert not compiled
    with pytest.raises(CostExceeded):
        matching([rf"\pL{{1,{20 + place}}}x?" for place in range(40)])
    assert 5 <= len(compiled) <= 15


def test_a_request_has_one_allowance(compiled: list[str]) -> None:
    program = compile("p.all(x, 'abcx'.matches(x))", VARIABLES)

    def run() -> int:
        ALLOWANCE.set(TimeAllowance())
        refused = 0
        for place in range(40):
            try:
                program.evaluate({"p": [rf"\pL{{1,{20 + place}}}x?"]})
            except CostExceeded:
                refused += 1
        return refused

    assert copy_context().run(run) >= 25


def test_patterns_that_stand_in_an_expression_may_be_dear(compiled: list[str]) -> None:
    assert compile(r"'abcx'.matches('\\pL{1,70}x')").evaluate() is True
    assert len(compiled) == 1


def test_a_search_that_would_take_long_ends_the_evaluation() -> None:
    program = compile("d.matches(e)", VARIABLES)
    dear = "(?:[ab]*a[ab]{1,20}){20}c"
    assert program.evaluate({"d": "ab" * 1000, "e": dear}) is False
    with pytest.raises(CostExceeded):
        program.evaluate({"d": "ab" * 10_000, "e": dear})
    assert program.evaluate({"d": "ab" * 10_000, "e": "b{3}"}) is False


def test_patterns_are_kept_up_to_so_many_bytes_and_go_one_by_one(compiled: list[str]) -> None:
    kept = patterns._weights
    texts = [rf"[a-z]{{0,{200 + place % 90}}}{place}" for place in range(3000)]
    program = compile("p.all(x, 'abcx'.matches(x) || true)", VARIABLES)
    sizes = []
    for text in texts:
        program.evaluate({"p": [text]})
        sizes.append(len(patterns._patterns))
        assert kept.weight <= patterns.MAX_CACHE_BYTES
    assert len(compiled) == 3000
    assert sizes[-1] < 3000
    assert all(after >= before - 1 for before, after in itertools.pairwise(sizes))
    assert kept.weight == sum(pattern.weight for pattern in patterns._patterns.values())
    program.evaluate({"p": [texts[-1]]})
    assert len(compiled) == 3000


def test_what_searches_add_to_a_pattern_counts(compiled: list[str]) -> None:
    program = compile("d.matches(e)", VARIABLES)
    program.evaluate({"d": "x", "e": "[ab]*a[ab]{9}c"})
    before = patterns._weights.weight
    for _ in range(20):
        program.evaluate({"d": "ab" * 500, "e": "[ab]*a[ab]{9}c"})
    assert patterns._weights.weight > before + (1 << 20)
