"""The quick and the exact form of a program agree, and no expression or value gets anything but a CelError."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podless.cel import CelError, EvaluationError, compile
from podless.cel.schematypes import SchemaTypes
from podless.cel.values import are_equal
from tests.conftest import tries

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "i": {"type": "integer"},
        "d": {"type": "number"},
        "s": {"type": "string"},
        "b": {"type": "boolean"},
        "n": {"type": "string", "nullable": True},
        "t": {"type": "string", "format": "duration"},
        "e": {"x-kubernetes-int-or-string": True},
        "l": {"type": "array", "items": {"type": "integer"}},
        "f": {"type": "array", "items": {"type": "number"}},
        "u": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "m": {"type": "object", "additionalProperties": {"type": "integer"}},
        "o": {
            "type": "array",
            "items": {"type": "object", "properties": {"k": {"type": "string"}, "v-w": {"type": "number"}}},
        },
    },
}
DECLARED = SchemaTypes(SCHEMA, resource=False)

INTS = st.sampled_from(
    ["self.i", "self.l[0]", "self.m['a']", "self.e", "0", "2", "9223372036854775807", "size(self.s)"]
)
DOUBLES = st.sampled_from(["self.d", "self.f[1]", "self.o[0].v__dash__w", "0.5", "double(self.i)"])
TEXTS = st.sampled_from(["self.s", "self.n", "self.o[0].k", "'a'", "''", "string(self.i)", "self.u[0]", "dyn(self.e)"])


def binary(inner: st.SearchStrategy[str], operators: list[str]) -> st.SearchStrategy[str]:
    return st.builds(lambda a, sign, b: f"({a} {sign} {b})", inner, st.sampled_from(operators), inner)


NUMBERS = st.recursive(INTS, lambda inner: binary(inner, ["+", "-", "*", "/", "%"]), max_leaves=4)
FLOATS = st.recursive(DOUBLES, lambda inner: binary(inner, ["+", "-", "*", "/"]), max_leaves=3)
WORDS = st.recursive(
    TEXTS,
    lambda inner: st.one_of(
        binary(inner, ["+"]),
        st.builds("{}.substring({})".format, inner, NUMBERS),
        st.builds("{}.replace({}, {})".format, inner, inner, inner),
        st.builds("[{}].join({})".format, inner, inner),
    ),
    max_leaves=3,
)
SIGNS = ["==", "!=", "<", "<=", ">", ">="]
ATOMS = st.one_of(
    binary(NUMBERS, SIGNS),
    binary(FLOATS, SIGNS),
    binary(WORDS, SIGNS),
    st.builds("{}.startsWith({})".format, WORDS, WORDS),
    st.builds("({} in self.l)".format, NUMBERS),
    st.builds("({} in self.u)".format, WORDS),
    st.builds("({} in self.m)".format, WORDS),
    st.sampled_from(
        [
            "self.b", "has(self.s)", "has(self.n)", "self.u == ['b', 'a']", "self.f == [1.0, 2.5]", "self == self",
            "self.t > duration('1s')", "self.o == self.o", "self.m == {'a': 1}", "self.e == 5", "self.?n.hasValue()",
            "self.o[0] in self.o", "type(self.e) == int", "self.u + ['z'] == ['z']", "self.n == 'x'",
        ]
    ),
)  # fmt: skip


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        binary(inner, ["&&", "||"]),
        st.builds("!({})".format, inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
        st.builds("self.l.all(x, {} || x > 0)".format, inner),
        st.builds("self.l.exists(x, {} && 10 / x > 1)".format, inner),
        st.builds("self.o.exists_one(x, {} && x.v__dash__w > 0.5)".format, inner),
        st.builds("(self.f.map(x, {}, x * 2.0).size() > 1)".format, inner),
        st.builds("self.m.all(k, v, {} || v > 0)".format, inner),
        st.builds("self.u.filter(x, {} || x == 'a') == ['a']".format, inner),
    )


CONDITIONS = st.recursive(ATOMS, compound, max_leaves=5)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "i": st.integers(-3, 3) | st.just(2**63 - 1),
    "d": st.sampled_from([0, 1, 2.5, -1.5]),
    "s": st.sampled_from(["", "a", "abc", "ñ😀"]),
    "b": st.booleans(),
    "n": st.none() | st.just("x"),
    "t": st.sampled_from(["1m", "1h30m"]),
    "e": st.integers(0, 9) | st.sampled_from(["a", "5"]),
    "l": st.lists(st.integers(-2, 2), min_size=1, max_size=3),
    "f": st.lists(st.sampled_from([1, 2.5, 0]), min_size=2, max_size=3),
    "u": st.lists(st.sampled_from(["a", "b", "z"]), min_size=1, max_size=3, unique=True),
    "m": st.fixed_dictionaries({"a": st.integers(-1, 2)}, optional={"b": st.just(3)}),
    "o": st.lists(st.fixed_dictionaries({"k": st.just("a")}, optional={"v-w": st.just(1)}), min_size=1, max_size=2),
}
OBJECTS = st.fixed_dictionaries(FIELDS) | st.fixed_dictionaries({}, optional=FIELDS)


def result(run: Any, *values: Any) -> Any:
    try:
        return run(*values)
    except EvaluationError as error:
        return f"error: {error}"


@settings(max_examples=tries(300), deadline=None)
@given(CONDITIONS, OBJECTS)
def test_both_forms_agree(source: str, obj: dict[str, Any]) -> None:
    assert DECLARED.root is not None
    try:
        program = compile(source, {"self": DECLARED.root}, schemas=DECLARED)
    except CelError:
        return
    quick, exact = result(program.run, obj), result(program.run_exact, obj)
    if isinstance(quick, str) or isinstance(exact, str):
        assert quick == exact
    else:
        assert are_equal(quick[0], exact[0])
        assert quick[1] == exact[1]


@settings(max_examples=tries(300), deadline=None)
@given(CONDITIONS, OBJECTS)
def test_cost_is_near_the_estimate(source: str, obj: dict[str, Any]) -> None:
    """Numbers and objects are estimated at nothing and counted as one, as in the original."""
    assert DECLARED.root is not None
    try:
        program = compile(source, {"self": DECLARED.root}, schemas=DECLARED)
        _, cost = program.run(obj)
    except CelError:
        return
    assert cost <= 2 * program.estimate().high + 20


@settings(max_examples=tries(300), deadline=None)
@given(st.text(alphabet="self.ilmo[]{}()'\"\\+-*/%<>=!&|?:,0123456789 ax\nruE", max_size=40))
def test_any_text_is_an_expression_or_refused(source: str) -> None:
    assert DECLARED.root is not None
    try:
        program = compile(source, {"self": DECLARED.root}, schemas=DECLARED)
    except CelError:
        return
    result(program.run, {"i": 1, "l": [1], "m": {}, "o": []})


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(list("idsblmo")), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=tries(200), deadline=None)
@given(CONDITIONS, ANYTHING)
def test_values_of_any_form_are_taken(source: str, value: Any) -> None:
    assert DECLARED.root is not None
    try:
        program = compile(source, {"self": DECLARED.root}, schemas=DECLARED)
    except CelError:
        return
    result(program.run, value)


@pytest.mark.parametrize("value", [None, 1, "a", [], {"i": "text"}, {"l": 5}, {"o": [None]}, {"m": [1]}])
def test_malformed_values_are_errors(value: Any) -> None:
    assert DECLARED.root is not None
    program = compile("self.i > 0 && self.l.size() > 0", {"self": DECLARED.root}, schemas=DECLARED)
    with pytest.raises(EvaluationError):
        program.run(value)
