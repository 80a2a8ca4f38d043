"""Meaning: values, errors and what absorbs them, in both forms of a program."""

from __future__ import annotations

import math
from typing import Any

import pytest

from podless.cel import CompileError, EvaluationError, compile, types
from podless.cel.values import Duration, Timestamp, Uint

VARIABLES = {
    "i": types.INT,
    "d": types.DOUBLE,
    "s": types.STRING,
    "l": types.list_of(types.INT),
    "m": types.map_of(types.STRING, types.INT),
    "x": types.DYN,
}
BINDINGS: dict[str, Any] = {"i": 5, "d": 0.5, "s": "text", "l": [1, 2, 0], "m": {"a": 1}, "x": {"k": "v"}}


def both(source: str) -> list[Any]:
    """The value of each form, or the text of its error."""
    program = compile(source, VARIABLES)
    found = []
    for exact in (False, True):
        try:
            given = [BINDINGS[name] for name in VARIABLES]
            found.append(program.run_exact(*given, limit=10**6)[0] if exact else program.run(*given)[0])
        except EvaluationError as error:
            found.append(f"error: {error}")
    return found


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("i + 1 == 6 && d * 2.0 == 1.0", True),
        ("i / 2", 2),
        ("{'a': 1, s.substring(4) + 'a': i}", {"a": 5}),
        ("{'a': 1, ?s.substring(4) + 'a': optional.none()}", {}),
        ("-i / 2", -2),
        ("-i % 3", -2),
        ("i < d", False),
        ("dyn(1) == 1u && dyn(1) == 1.0", True),
        ("dyn(true) == 1", False),
        ("dyn([true]) == [1]", False),
        ("'a' in m && !('b' in m)", True),
        ("m['a'] + l[1]", 3),
        ("x.k == 'v' && has(x.k) && !has(x.z)", True),
        ("false && 1 / 0 > 0", False),
        ("1 / 0 > 0 && false", False),
        ("1 / 0 > 0 || true", True),
        ("l.exists(e, 10 / e == 10)", True),
        ("l.all(e, 10 / e > 100)", False),
        ("l.map(e, e > 0, e * 2)", [2, 4]),
        ("l.filter(e, e > 0).size()", 2),
        ("l.exists_one(e, e == 2)", True),
        ("m.all(k, m[k] == 1)", True),
        ("l.all(p, e, e < 3 && p < 3)", True),
        ("l.transformList(p, e, p + e)", [1, 3, 2]),
        ("l.transformMap(p, e, e > 0, e)", {0: 1, 1: 2}),
        ("m.transformMapEntry(k, v, {v: k})", {1: "a"}),
        ("cel.bind(t, i * 2, t + t)", 20),
        ("m[?'z'].orValue(7) + m[?'a'].orValue(7)", 8),
        ("x.?z.hasValue()", False),
        ("optional.of(i).optMap(v, v + 1).value()", 6),
        ("[1, ?optional.none(), ?optional.of(2)]", [1, 2]),
        ("{'a': 1, ?'b': optional.none()}", {"a": 1}),
        ("duration('1h') + duration('30m')", Duration(5400 * 10**9)),
        ("timestamp(0) + duration('1s')", Timestamp(10**9)),
        ("timestamp('2024-03-10T12:00:00Z').getHours('America/New_York')", 8),
        ("string(timestamp('2024-03-10T12:00:00.5+02:00'))", "2024-03-10T12:00:00.5+02:00"),
        ("uint(3) + 4u", Uint(7)),
        ("[3, 1, 2].sortBy(e, -e)", [3, 2, 1]),
        ("google.protobuf.Int64Value{value: 3} == 3", True),
        ("type(i) == int && type(type(i)) == type", True),
        ("string(1e21)", "1e+21"),
        ("string(0.00001)", "1e-05"),
        ("string(1234567.0)", "1.234567e+06"),
        ("string(123456.5)", "123456.5"),
        ("string(-0.0001)", "-0.0001"),
        ("string(duration('1.5s'))", "1.5s"),
        ("'%s %d %.1f'.format(['a', 2, 3.14])", "a 2 3.1"),
    ],
)
def test_value(source: str, value: Any) -> None:
    assert both(source) == [value, value]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("i / 0", "division by zero"),
        ("i % 0", "modulus by zero"),
        ("9223372036854775807 + i", "integer overflow"),
        ("-(-9223372036854775807 - 1)", "integer overflow"),
        ("0u - 1u", "unsigned integer overflow"),
        ("l[5]", "index out of bounds: 5"),
        ("l[0 - 1]", "index out of bounds: -1"),
        ("m['z']", "no such key: z"),
        ("{0.5: i}[1e7]", "no such key: 1e+07"),
        ("{0.5: i}[-0.0]", "no such key: -0"),
        ("{[1]: 2}.size()", "unsupported key type: list"),
        ("x.z", "no such key: z"),
        ("x + 1", "no such overload: _+_"),
        ("s.startsWith(x)", "no such overload"),
        ("l.map(e, 10 / e)", "division by zero"),
        ("l.all(e, 10 / e > 0)", "division by zero"),
        ("1 / 0 > 0 || false", "division by zero"),
        ("int(s)", "type conversion error from 'string' to 'int'"),
        ("optional.none().value()", "optional.none() dereference"),
        ("s.charAt(9)", "index out of range: 9"),
        ("s.matches(s + '(')", "error parsing regexp: missing closing ): `text(`"),
        ("timestamp(0).getHours('Nowhere')", "unknown time zone Nowhere"),
    ],
)
def test_error(source: str, text: str) -> None:
    assert both(source) == [f"error: {text}"] * 2


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("y", "undeclared reference to 'y' (in container '')"),
        ("s + 1", "found no matching overload for '_+_' applied to '(string, int)'"),
        ("s.size(1)", "found no matching overload for 'size' applied to 'string.(int)'"),
        ("i && true", "expected type 'bool' but found 'int'"),
        ("i.f", "type 'int' does not support field selection"),
        (
            "i.all(e, true)",
            "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
        ),
        ("s.matches('(')", "invalid matches argument"),
        ("duration('1')", "invalid duration argument"),
        (
            "'%d'.format(['a'])",
            "error during formatting: decimal clause can only be used on numbers, was given string",
        ),
    ],
)
def test_refused(source: str, text: str) -> None:
    with pytest.raises(CompileError) as caught:
        compile(source, VARIABLES)
    assert text in [issue.message for issue in caught.value.issues]


def test_doubles_are_those_of_ieee() -> None:
    assert compile("1.0 / 0.0").evaluate() == math.inf
    assert math.isnan(compile("0.0 / 0.0").evaluate())
    assert compile("0.0 / 0.0 == 0.0 / 0.0").evaluate() is False


def test_all_errors_are_reported_in_the_order_of_the_text() -> None:
    with pytest.raises(CompileError) as caught:
        compile("zzz && yyy")
    assert [issue.offset for issue in caught.value.issues] == [0, 7]
