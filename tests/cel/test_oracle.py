"""Random expressions mean the same to cel-cpp, where its Python package (cel-expr-python) is installed."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podless.cel import CelError, compile, types
from tests.conftest import tries

INSTALLED = importlib.util.find_spec("cel_expr_python") is not None
pytestmark = pytest.mark.skipif(not INSTALLED, reason="cel-expr-python is not installed")

VARIABLES = {
    "i": types.INT,
    "d": types.DOUBLE,
    "s": types.STRING,
    "b": types.BOOL,
    "l": types.list_of(types.INT),
    "m": types.map_of(types.STRING, types.INT),
    "x": types.DYN,
}


def binary(inner: st.SearchStrategy[str], operators: list[str]) -> st.SearchStrategy[str]:
    return st.builds(lambda a, sign, b: f"({a} {sign} {b})", inner, st.sampled_from(operators), inner)


INTS = st.recursive(
    st.sampled_from(
        ["i", "l[0]", "l[2]", "m['a']", "m.b", "0", "2", "-3", "9223372036854775807", "size(s)", "int(d)", "x"]
    ),
    lambda inner: binary(inner, ["+", "-", "*", "/", "%"]) | st.builds("(b ? {} : {})".format, inner, inner),
    max_leaves=4,
)
DOUBLES = st.recursive(
    st.sampled_from(["d", "0.5", "-1.5", "double(i)", "double(l[1])"]),
    lambda inner: binary(inner, ["+", "-", "*"]),  # no NaN: cel-go, whose words these are, refuses to order it
    max_leaves=3,
)
TEXTS = st.recursive(
    st.sampled_from(["s", "'a'", "''", "'ñ😀'", "string(i)", "string(b)", "string(d)", "b ? 'x' : s"]),
    lambda inner: st.builds("({} + {})".format, inner, inner),
    max_leaves=3,
)
SIGNS = ["==", "!=", "<", "<=", ">", ">="]
ATOMS = st.one_of(
    binary(INTS, SIGNS),
    binary(DOUBLES, SIGNS),
    binary(TEXTS, SIGNS),
    st.builds("(dyn({}) < {})".format, INTS, DOUBLES),
    st.builds(
        "{}.{}({})".format, TEXTS.map("({})".format), st.sampled_from(["contains", "startsWith", "endsWith"]), TEXTS
    ),
    st.builds("({} in l)".format, INTS),
    st.builds("({} in m)".format, TEXTS),
    st.builds("matches({}, '^[a-z]+$')".format, TEXTS),
    st.sampled_from(
        ["b", "has(m.a)", "has(m.z)", "has(x.y)", "l == [1, 2]", "m == {'a': 1}", "type(x) == int", "[1, 2] + l == l"]
    ),
)


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        binary(inner, ["&&", "||"]),
        st.builds("!({})".format, inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
        st.builds("l.all(e, {} || e > 0)".format, inner),
        st.builds("l.exists(e, {} && 10 / e > 1)".format, inner),
        st.builds("m.exists_one(k, {} && m[k] > 0)".format, inner),
        st.builds("(l.map(e, {}, e * 2).size() > 1)".format, inner),
        st.builds("l.filter(e, {} || e == 1) == [1]".format, inner),
    )


CONDITIONS = st.recursive(ATOMS, compound, max_leaves=5)
BINDINGS = st.fixed_dictionaries(
    {
        "i": st.integers(-3, 3) | st.just(2**63 - 1),
        "d": st.sampled_from([0.0, 1.0, 2.5, -1.5]),
        "s": st.sampled_from(["", "a", "abc", "ñ😀"]),
        "b": st.booleans(),
        "l": st.lists(st.integers(-2, 2), max_size=3),
        "m": st.dictionaries(st.sampled_from(["a", "b"]), st.integers(-1, 2)),
        "x": st.integers(-2, 2) | st.sampled_from(["a", True, 1.5]) | st.just({"y": 1}),
    }
)


@pytest.fixture(scope="module")
def other() -> Any:
    engine = importlib.import_module("cel_expr_python.cel")
    kinds = engine.Type
    return engine.NewEnv(
        variables={
            "i": kinds.INT,
            "d": kinds.DOUBLE,
            "s": kinds.STRING,
            "b": kinds.BOOL,
            "l": kinds.List(kinds.INT),
            "m": kinds.Map(kinds.STRING, kinds.INT),
            "x": kinds.DYN,
        }
    )


def theirs(other: Any, source: str, bindings: dict[str, Any]) -> Any:
    try:
        value = other.compile(source).eval(data=bindings).plain_value()
    except Exception:
        return "error"
    return value if isinstance(value, bool) else "error"


def ours(source: str, bindings: dict[str, Any]) -> Any:
    try:
        return compile(source, VARIABLES).evaluate(bindings)
    except CelError:
        return "error"


@settings(max_examples=tries(400), deadline=None)
@given(source=CONDITIONS, bindings=BINDINGS)
def test_same_meaning(other: Any, source: str, bindings: dict[str, Any]) -> None:
    assert ours(source, bindings) == theirs(other, source, bindings)
