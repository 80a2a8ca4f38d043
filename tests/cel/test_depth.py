"""What nests deep: as deep as a real server takes it, and never deeper than Python's compiler does."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podless.cel import CelError, CompileError, EvaluationError, bounds, compile, types
from tests.conftest import tries
from tests.cost import lines

VARIABLES = {"x": types.INT, "l": types.list_of(types.INT)}
BINDINGS = {"x": 0, "l": [1]}


def around(left: str, right: str, inside: str) -> Callable[[int], str]:
    return lambda count: left * count + inside + right * count


LOGIC = ("true && (", "false || (")
# form -> how often it is accepted; recorded from a real server, for rules, which give a bool
DEPTHS: dict[str, tuple[int, Callable[[int], str]]] = {
    "brackets": (249, around("(", ")", "true")),
    "lists": (250, around("[", "]", "")),
    "not": (249, around("!(", ")", "true")),
    "sums": (124, around("(1 + ", ")", "1")),
    "dyn": (249, around("dyn(", ")", "1")),
    "optionals": (249, around("optional.of(", ")", "1")),
    "logic": (249, lambda count: "".join(LOGIC[number % 2] for number in range(count)) + "true" + ")" * count),
    "calls": (249, lambda count: "''" + ".trim()" * count + " == ''"),
    "indexes": (249, lambda count: "dyn([1])" + "[0]" * count + " == 1"),
    "differences": (248, lambda count: "1" + " - 1 * 2" * count + " < 0"),
}


@pytest.mark.parametrize("form", DEPTHS)
def test_as_deep_as_recorded(form: str) -> None:
    most, source = DEPTHS[form]
    compile(source(most))
    with pytest.raises(CompileError, match="recursion"):
        compile(source(most + 1))
    assert sys.getrecursionlimit() < bounds._RECURSION_LIMIT


@pytest.mark.parametrize("inner", ["{{'a': {}}}", "(x == 1 ? {} : 2)", "l.map(y, {})", "cel.bind(v, {}, v)", "[{}]"])
def test_the_deepest_expressions_take_much_fewer_frames_than_there_are(
    monkeypatch: pytest.MonkeyPatch, inner: str
) -> None:
    source = "1"
    with contextlib.suppress(CompileError):
        while True:
            program = compile(source, VARIABLES)
            source = inner.format(source)
            for _ in range(20):
                source = inner.format(source)
    monkeypatch.setattr(bounds, "_RECURSION_LIMIT", bounds._RECURSION_LIMIT * 3 // 4)
    again = compile(program.source, VARIABLES)
    again.complete()
    again.estimate()


@pytest.mark.parametrize("count", [5, 10, 19, 20, 21, 60, 100])
def test_an_error_deep_inside_is_an_error(count: int) -> None:
    terms = "1 / x > 0"
    for number in range(count):
        terms = f"x == {number % 2} {'&&' if number % 2 == 0 else '||'} ({terms})"
    loops = "1 / x > 0"
    for number in range(count):
        loops = f"l.all(y{number}, {loops})"
    for source in (terms, loops):
        with pytest.raises(EvaluationError, match="division by zero"):
            compile(source, VARIABLES).evaluate(BINDINGS)


def nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    forms = ["({0} && {1})", "({0} || {1})", "!({0})", "({0} ? {1} : {0})", "l.all(y, {0})", "[1, 0].exists(z, {0})"]
    forms += ["[{0}].map(b, b)[0]", "cel.bind(v, {0}, v || {1})", "optional.of({0}).orValue({1})", "dyn({0})"]
    return st.builds(lambda form, one, two: form.format(one, two), st.sampled_from(forms), inner, inner)


DEEP = st.recursive(
    st.sampled_from(["true", "false", "1 / x == 1", "x == 0", "l[0] > 0", "l[5] > 0"]), nested, max_leaves=25
)


def outcome(run: Callable[..., Any], *given: Any) -> Any:
    try:
        return run(*given)[0]
    except EvaluationError as error:
        return str(error)


@settings(max_examples=tries(400), deadline=None)
@given(DEEP, st.integers(0, 60))
def test_both_forms_agree_however_deep(source: str, wraps: int) -> None:
    for number in range(wraps):
        source = f"({source}) && true" if number % 2 else f"({source}) || false"
    try:
        program = compile(source, VARIABLES)
    except CelError:
        return
    exact = outcome(program.run_exact, 0, [1])
    assert outcome(program.run, 0, [1]) == exact
    assert isinstance(exact, bool | str)


def cost(source: str) -> int:
    """How many lines of Python run while an expression is compiled and estimated."""
    return lines(lambda text: compile(text, VARIABLES).estimate(), source, (CelError,))


GROWING: dict[str, Callable[[int], str]] = {
    "terms": lambda count: " && ".join(["x == 0"] * count),
    "items": lambda count: f"size([{', '.join(['x + 1'] * count)}]) > 0",
    "entries": lambda count: "{" + ", ".join(f"'{number}': x" for number in range(count)) + "}.size() > 0",
    "text": lambda count: f"'{'a' * count * 10}' == ''",
    "nested lists": lambda count: "[" * 10 + ", ".join(["1"] * count) + "]" * 10,
    "loops": lambda count: " || ".join(["l.all(y, y > 0)"] * count),
    "arguments": lambda count: "'" + "%d" * count + "'.format([" + ", ".join(["x"] * count) + "]) == ''",
    "conversions": lambda count: " + ".join(["int('5')"] * min(count, 240)) + " > 0",
    "faults": lambda count: "x ? " * count,
    "quotes": lambda count: "'" * (2 * count + 1),
}


@pytest.mark.parametrize("form", GROWING)
def test_work_grows_with_the_length(form: str) -> None:
    cost(GROWING[form](20))  # what is made once
    once, four = (cost(GROWING[form](count)) for count in (50, 200))
    assert four <= 4.8 * once + 2000
