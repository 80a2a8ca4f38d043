"""What a real server makes of odd expressions: types of items, constants, quantities, times, what mutations make."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.cel import CompileError, EvaluationError, ProgramError, compile, library, types
from podless.cel.library import quantity
from podless.cel.policies import (
    JSON_PATCHES,
    OBJECT,
    Activation,
    Environment,
    ExpressionFailure,
    TypeMismatch,
    apply_message,
    collect_container_ids,
    make_patch_operations,
)
from podless.cel.schematypes import SchemaTypes
from podless.codec import gotext
from podless.codec.quantity import parse_nanos

VARIABLES = {"d": types.DYN, "i": types.INT, "s": types.STRING}


def rule(source: str) -> Any:
    return compile(source, VARIABLES, declarations=library.kubernetes_libraries())


@pytest.mark.parametrize(
    "source",
    ["'%s %d'.format([s, i])", "dyn('%s'.format([dyn([i, s])]))", "['%s'.format([[i, s]])]", "[d, d]", "[[], [1]]"],
)
def test_items_that_may_stand_together(source: str) -> None:
    rule(source)


@pytest.mark.parametrize(
    ("source", "wanted", "found"),
    [
        ("[i, s]", "int", "string"),
        ("dyn([i, s])", "int", "string"),
        ("[d, 'a']", "dyn", "string"),
        ("[1, d]", "int", "dyn"),
        ("{'a': d, 'b': 1}", "dyn", "int"),
        ("{1: i, 'b': i}", "int", "string"),
        ("[?optional.of(i), d]", "int", "dyn"),
        ("[type(i), type(s)]", "type(int)", "type(string)"),
    ],
)
def test_items_of_different_types(source: str, wanted: str, found: str) -> None:
    with pytest.raises(CompileError) as refused:
        rule(source)
    assert [issue.message for issue in refused.value.issues] == [f"expected type '{wanted}' but found '{found}'"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("'%s'.format([[optional.of(i)]])", "was given optional_type"),
        ("'%s'.format([{'a': [ip(s)]}])", "was given net.IP"),
        ("'%'.format([])", "unexpected end of string"),
        ("'%d'.format([s])", "was given string"),
        ("matches('(', s)", "invalid matches argument"),
    ],
)
def test_formats_are_checked_inside_lists_and_maps(source: str, text: str) -> None:
    with pytest.raises(CompileError, match=text):
        rule(source)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("int('aaa')", "type conversion error from 'string' to 'int'"),
        ("int(dyn('x')) > 0", "type conversion error from 'string' to 'int'"),
        ("string(dyn([1, 1]))", r"no such overload: string\(list\)"),
        ("s.matches(string(dyn('(')))", "error parsing regexp"),
        ("true || s.find('(') == ''", "error parsing regexp"),
        ("{}[[1]] == 1", r"invalid qualifier type: \*types.baseList"),
        ("{}[?{}].hasValue()", r"invalid qualifier type: \*types.baseMap"),
        ("{}[duration('1s')] == 1", "invalid qualifier type: types.Duration"),
        ("{}[null] == 1", "invalid qualifier type: types.Null"),
        ("{}[int] == 1", r"invalid qualifier type: \*types.Type"),
    ],
)
def test_constants_are_worked_out_when_a_program_is_made(source: str, text: str) -> None:
    with pytest.raises(ProgramError, match=text):
        rule(source)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("string(d)", "no such overload: string(map)"),
        ("quantity(d)", "no such overload: quantity(map)"),
        ("size(d.i)", "no such overload: size"),
        ("d.n < 1", "no such overload: _<_"),
        ("d.i < 'a'", "no such overload"),
        ("d.i.startsWith('a')", "no such overload"),
        ("dyn([d, d]).sort()", "list elements must be comparable"),
        ("d.nothing.sort()", "no such key: nothing"),
        ("d.l.slice(0, d.none).distinct()", "internal error: interface conversion: *types.Err is not traits.Lister: "),
        (
            "d.none in d.l.slice(0, d.none).distinct()",
            "internal error: interface conversion: *types.Err is not traits.",
        ),
        ("sets.contains(d.none, d.l.slice(0, d.none).sort())", "internal error: interface conversion: *types.Err is "),
        ("d.none == 1 && d.none in d.l.slice(0, d.none).sortBy(e, e)", "internal error: interface conversion: *types."),
        (
            "string(d.none).startsWith(string(d.l.slice(0, d.none).sort()[0]))",
            "internal error: interface conversion: *types.",
        ),
        ("d.none == d.l.sort()[0]", "no such key: none"),
        ("true || [1].sortBy(e, 1 / 0) == []", None),
        ("quantity('1') == quantity('1').add(0)", "no such overload"),
        ("duration(d.i)", "type conversion error from 'int' to 'google.protobuf.Duration'"),
        ("timestamp(0).getHours('a:1')", 'strconv.Atoi: parsing "a": invalid syntax'),
        ("timestamp(0).getHours('../etc')", "time: invalid location name"),
    ],
)
def test_errors_of_an_evaluation(source: str, text: str | None) -> None:
    program = compile(source, VARIABLES, declarations=library.kubernetes_libraries())
    given = {"d": {"i": 1, "n": None, "l": [1]}, "i": 1, "s": ""}
    if text is None:
        program.evaluate(given)
        return
    with pytest.raises(EvaluationError) as error:
        program.evaluate(given)
    assert str(error.value).startswith(text)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("timestamp('2024-01-01T1:00:00Z').getHours()", 1),
        ("timestamp('0001-01-01T00:00:00Z').getFullYear('-2:00')", 0),
        ("timestamp('9999-12-31T23:59:59Z').getFullYear('99:99')", 10000),
        ("timestamp('2024-01-01T00:00:00Z').getDate('24:00')", 2),
        ("timestamp('2024-01-01T00:00:00Z').getHours('Local')", 0),
        ("dyn([3, 1]).flatten() == [3, 1]", True),
        ("dyn([3, 1]).indexOf(dyn(1))", 1),
        ("'%s'.format([[type(1)]])", "[int]"),
        ("quantity('0.3').asApproximateFloat()", 0.30000000000000004),
    ],
)
def test_values(source: str, value: Any) -> None:
    assert rule(source).evaluate({}) == value


@pytest.mark.parametrize("text", ["2024-01-01t00:00:00z", "2024-01-01T00:00:00z"])
def test_letters_of_a_time_are_large(text: str) -> None:
    with pytest.raises(CompileError, match="invalid timestamp argument"):
        rule(f"timestamp('{text}')")


@pytest.mark.parametrize("text", ["1000m", "1.0", "1.0Ki", "1.5Gi", "1000000u", "1234567890123456789"])
def test_not_every_whole_quantity_is_an_integer(text: str) -> None:
    assert rule(f"quantity('{text}').isInteger()").evaluate() is False


NUMBERS = st.from_regex(r"\A[+-]?[0-9]{1,12}(\.[0-9]{1,9})?(|[numkMGTPE]|[KMGT]i|e-?[0-9])\Z")


@given(NUMBERS, NUMBERS)
def test_quantities_are_what_they_are_by_exact_numbers(one: str, two: str) -> None:
    left, right = quantity.parse_quantity(one), quantity.parse_quantity(two)
    exact = parse_nanos(one), parse_nanos(two)
    assert quantity.compare_quantities(left, right) == (exact[0] > exact[1]) - (exact[0] < exact[1])
    total = quantity.QuantityValue(sum(exact), -9, False)
    assert quantity.compare_quantities(quantity._add_quantities(left, right), total) == 0


SCHEMA = {
    "type": "object",
    "properties": {
        "for": {"type": "string", "maxLength": 5},
        "f": {"type": "string", "maxLength": 5},
        "a": {"type": "object", "properties": {"n": {"type": "integer", "nullable": True}}},
        "b": {"type": "object", "properties": {"n": {"type": "integer", "nullable": True}}},
        "m": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
}


def test_a_reserved_word_has_no_known_size() -> None:
    declared = SchemaTypes(SCHEMA, resource=False)
    assert declared.root is not None
    costs = [
        compile(f"self.{name}.contains(self.{name})", {"self": declared.root}, schemas=declared).estimate().high
        for name in ("f", "for")
    ]
    assert costs[0] < 100 < costs[1]


def test_a_variable_as_a_key_costs_nothing_by_itself() -> None:
    costs = [compile(source, {"m": types.map_of(types.STRING, types.INT), "k": types.STRING}).run({"a": 1}, "a")[1]
             for source in ("m['a']", "m[k]", "m[k + '']")]  # fmt: skip
    assert costs[0] == costs[1] < costs[2]


def mutated(source: str, kind: Any, **object_: Any) -> Any:
    made = Environment().compile_expression(source, kind, patches=True)
    assert not made.error
    given = {"object": object_}
    value = Activation(given).evaluate(made)
    return (
        make_patch_operations(value)[0]["value"]
        if kind is JSON_PATCHES
        else apply_message(value, collect_container_ids(given))["a"]
    )


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("timestamp('2024-01-01T00:00:00Z')", "2024-01-01T00:00:00Z"),
        ("duration('-5m')", "-300s"),
        ("b'abc'", "YWJj"),
        ("optional.of(1)", 1),
        ("9007199254740991", 9007199254740991),
        ("9007199254740992", "9007199254740992"),
        ("2.0", 2),
        ("[[1], []]", [[1], []]),
        ("'a b'.split(' ')", ["a", "b"]),
        ("Object.x{n: 5u}", {"n": 5}),
    ],
)
def test_values_of_patches(source: str, value: Any) -> None:
    assert mutated(f"[JSONPatch{{op: 'add', path: '/a', value: {source}}}]", JSON_PATCHES) == value


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("optional.none()", "optional.none() dereference"),
        ("quantity('1')", "type conversion error from 'Quantity' to '*structpb.Value'"),
        ("type(1)", "type conversion not supported for 'type'"),
        ("{1: 2}", "unsupported type conversion from 'int' to string"),
        ("0.0 / 0.0", "proto: google.protobuf.Value.number_value: invalid NaN value"),
    ],
)
def test_values_that_patches_cannot_have(source: str, text: str) -> None:
    with pytest.raises((TypeMismatch, ExpressionFailure)) as refused:
        mutated(f"[JSONPatch{{op: 'add', path: '/a', value: {source}}}]", JSON_PATCHES)
    assert str(refused.value).endswith(text)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("[]", None),
        ("[].map(e, e)", None),
        ("[] + []", []),
        ("[1, 2]", [1, 2]),
        ("object.l", [[1], []]),
        ("optional.none()", None),
        ("type(1)", "int"),
    ],
)
def test_values_that_are_applied(source: str, value: Any) -> None:
    assert mutated(f"Object{{a: {source}}}", OBJECT, l=[[1], []]) == value


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("[[1, 2]]", "[1 2]"),
        ("['a b'.split(' ')]", "[a b]"),
        ("[5u]", "5"),
        ("[duration('90s')]", "1m30s"),
        ("[timestamp('2024-01-01T00:04:59.999Z')]", "2024-01-01 00:04:59.999 +0000 UTC"),
        ("[b'ab']", "[97 98]"),
    ],
)
def test_values_below_one_level_stay_those_of_go(source: str, shown: str) -> None:
    assert gotext.format_plain(mutated(f"Object{{a: {source}}}", OBJECT)[0]) == shown


def test_a_constant_that_is_wrong_is_an_internal_error() -> None:
    made = Environment().compile_expression("int('aaa')", ())
    assert made.internal
    assert not Environment().compile_expression("1 +", ()).internal


@pytest.mark.parametrize(
    ("text", "number"), [("18446744073709551615.0.0", -1), ("9223372036854775808.0.0", -(1 << 63)), ("7.0.0", 7)]
)
def test_numbers_of_versions_are_ints_however_large_they_are(text: str, number: int) -> None:
    assert rule(f"semver('{text}').major()").evaluate({}) == number


def test_no_number_of_a_version_has_more_than_64_bits() -> None:
    assert rule("isSemver('1.2.3-18446744073709551615')").evaluate({})
    assert not rule("isSemver('1.2.3-18446744073709551616')").evaluate({})
