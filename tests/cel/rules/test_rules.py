"""Rules of definitions: what is refused, what an object breaks, and how it is said."""

from __future__ import annotations

from typing import Any

import pytest

from podless.cel.rules import DefinitionRules, NodeRules
from podless.runtime.jsonobject import Object
from podless.schema import structural

INT: Object = {"type": "integer"}


def rule(text: str, **more: Any) -> Object:
    return {"rule": text, **more}


def ruled(schema: Object, *rules: Object | str) -> Object:
    given = [rule(each) if isinstance(each, str) else each for each in rules]
    return schema | {"x-kubernetes-validations": given}


def obj(**properties: Object) -> Object:
    return {"type": "object", "properties": properties}


def broken(schema: Object, value: Any, old: Any = None, **more: Any) -> list[str]:
    return [str(error) for error in NodeRules.compile(schema).validate(value, old, **more)]


def refused(schema: Object) -> list[str]:
    return [str(error) for error in structural(schema, "schema", rules=DefinitionRules())]


def test_nothing_is_done_without_rules() -> None:
    rules = NodeRules.compile(obj(a=INT))
    assert not rules.has_any
    assert rules.validate({"a": 1}) == []


def test_fields_are_named_as_they_nest() -> None:
    item = ruled(obj(a=ruled(INT, rule("self > 0", message="positive"))), "has(self.a)")
    schema = obj(
        l={"type": "array", "items": item}, m={"type": "object", "additionalProperties": item}, r=ruled(obj(), "false")
    )
    value = {"l": [{"a": 0}, {}], "m": {"k.x": {"a": -1}}, "r": {}}
    assert broken(schema, value) == [
        "l[0].a: Invalid value: 0: positive",
        "l[1]: Invalid value: failed rule: has(self.a)",
        "m[k.x].a: Invalid value: -1: positive",
        "r: Invalid value: failed rule: false",
    ]
    assert broken(ruled(schema, "false"), {}) == ["<nil>: Invalid value: failed rule: false"]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"message": " told "}, "p: Invalid value: told"),
        ({"messageExpression": "'a is ' + string(self.a)"}, "p: Invalid value: a is 5"),
        ({"messageExpression": "string(1 / (self.a - 5))", "message": "told"}, "p: Invalid value: told"),
        ({"messageExpression": "' '"}, "p: Invalid value: failed rule: self.a > 9"),
        ({"messageExpression": "'a\\nb'"}, "p: Invalid value: failed rule: self.a > 9"),
        ({"reason": "FieldValueForbidden"}, "p: Forbidden: failed rule: self.a > 9"),
        ({"reason": "FieldValueRequired"}, "p: Required value: failed rule: self.a > 9"),
        ({"reason": "FieldValueDuplicate"}, "p: Duplicate value"),
        ({"fieldPath": ".a"}, "p.a: Invalid value: failed rule: self.a > 9"),
        ({"fieldPath": "['a']"}, "p.a: Invalid value: failed rule: self.a > 9"),
    ],
)
def test_what_is_said(given: Object, text: str) -> None:
    assert broken(obj(p=ruled(obj(a=INT), rule("self.a > 9", **given))), {"p": {"a": 5}}) == [text]


def test_transition_rules_need_an_old_value() -> None:
    schema = obj(p=ruled(INT, rule("self >= oldSelf", message="grows")))
    assert broken(schema, {"p": 1}) == []
    assert broken(schema, {"p": 1}, {}) == []
    assert broken(schema, {"p": 1}, {"p": 2}) == ["p: Invalid value: 1: grows"]


def test_optional_old_self_is_an_optional() -> None:
    schema = obj(p=ruled(INT, rule("oldSelf.orValue(5) <= self", optionalOldSelf=True, message="grows")))
    assert broken(schema, {"p": 4}) == ["p: Invalid value: 4: grows"]
    assert broken(schema, {"p": 4}, {"p": 3}) == []


LIST: Object = {"type": "array", "items": {"type": "string"}}
ANY: Object = {"x-kubernetes-int-or-string": True}


@pytest.mark.parametrize(
    ("schema", "value", "wanted"),
    [
        (INT, "x", "int, got string"),
        (INT, {"k": 1}, "int, got map[string]interface {}"),
        ({"type": "string"}, 1, "string, got int64"),
        (LIST, "x", "an array for the provided schema with type=array"),
        (obj(k=INT), "x", "a map for the provided schema with type=object"),
        (ANY, True, "XIntOrString value to be either a string or integer"),
    ],
)
def test_what_is_of_another_type_since_the_schema_changed_may_stay_unless_a_rule_looks_at_it(
    schema: Object, value: Any, wanted: str
) -> None:
    kind = schema.get("type", "")
    told = f'p: Invalid value: "{kind}": invalid data, expected {wanted} evaluating rule: '
    same = {"p": value}
    assert broken(obj(p=ruled(schema, "true")), same, same) == []
    assert broken(obj(p=ruled(schema, "oldSelf == self")), same, same) == [f"{told}oldSelf == self"]
    text = "self == oldSelf.orValue(self)"
    given = rule(text, optionalOldSelf=True)
    assert broken(obj(p=ruled(schema, given)), same, same) == [told + text]
    new = {"integer": 1, "string": "x", "array": [], "object": {}, "": 1}[kind]
    (error,) = broken(obj(p=ruled(schema, given)), {"p": new}, same)
    assert f'": unsupported conversion to ref.Val: (*errors.errorString)invalid data, expected {wanted} ' in error


def test_items_of_map_lists_keep_their_old_values() -> None:
    items = obj(k={"type": "string"}, v=ruled(INT, rule("self == oldSelf", message="fixed")))
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    schema = obj(l={"type": "array", "items": items, **keyed})
    old = {"l": [{"k": "a", "v": 1}, {"k": "b", "v": 2}]}
    assert broken(schema, {"l": [{"k": "b", "v": 2}, {"k": "a", "v": 3}, {"k": "c", "v": 9}]}, old) == [
        "l[1].v: Invalid value: 3: fixed"
    ]


def test_what_did_not_change_is_only_warned_of() -> None:
    schema = obj(s=obj(p=ruled(INT, rule("self < 5", message="low")), q=ruled(INT, "1 / self > 5")))
    warnings: list[str] = []
    new, old = {"s": {"p": 9, "q": 0}}, {"s": {"p": 9, "q": 0, "z": 1}}
    assert broken(schema, new, old, warnings=warnings) == [
        's.q: Invalid value: "integer": division by zero evaluating rule: 1 / self > 5'
    ]
    assert warnings == ["s.p: Invalid value: 9: low"]
    assert broken(schema, {"s": {"p": 8}}, old) == ["s.p: Invalid value: 8: low"]


def test_budgets_end_the_run() -> None:
    many = {"type": "array", "items": INT}
    schema = obj(l=ruled(many, rule("self.all(x, self.all(y, x == y || x != y))", message="first"), "false"))
    said = broken(schema, {"l": [0] * 1000})
    stopped = "no further validation rules will be run due to call cost exceeds limit for rule: first"
    assert said == [f"l: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': {stopped}"]
    assert broken(schema, {"l": [0] * 10}, budget=10) == [
        'l: Invalid value: "array": validation failed due to running out of cost budget,'
        " no further validation rules will be run"
    ]


@pytest.mark.parametrize(
    ("schema", "texts"),
    [
        (ruled(INT, "self > 0"), []),
        (ruled(INT, "self"), ["cel expression must evaluate to a bool"]),
        (ruled(INT, rule("true", messageExpression="1")), ["messageExpression must evaluate to a string"]),
        (ruled(INT, rule("true", optionalOldSelf=True)), ["may not be set if oldSelf is not used in rule"]),
        ({"type": "array", "items": ruled(INT, "self == oldSelf")}, ["within schema.properties[p]"]),
        ({"type": "array", "items": INT}, []),
        (ruled({"type": "string"}, "self.matches('(')"), ["invalid matches argument"]),
        (ruled({"type": "string"}, "self.find('(') == ''"), ["program instantiation failed: error parsing regexp"]),
        (ruled({"x-kubernetes-preserve-unknown-fields": True}, "true"), ["unable to convert structural schema"]),
        (
            ruled({"type": "array", "items": {"type": "string"}}, "self.all(x, x.contains('a string'))"),
            ["estimated rule cost exceeds budget by factor of more than 100x", "contributed to", "cost total"],
        ),
        (
            ruled(
                {"type": "array", "maxItems": 25, "items": {"type": "string", "maxLength": 10}}, "self.all(x, x != '')"
            ),
            [],
        ),
    ],
)
def test_definition(schema: Object, texts: list[str]) -> None:
    found = refused(obj(p=schema))
    assert len(found) == len(texts)
    assert all(text in error for text, error in zip(texts, found, strict=True))


def test_names_are_escaped() -> None:
    schema = ruled(
        obj(**{"a-b": INT, "in": INT, "c__d": INT, "namespace": INT}),
        "self.a__dash__b + self.__in__ + self.c__underscores__d + self.namespace == 10",
    )
    assert refused(schema) == []
    assert broken(schema, {"a-b": 1, "in": 2, "c__d": 3, "namespace": 4}) == []


def test_resources_have_a_name() -> None:
    schema = ruled(obj(), "self.metadata.name == 'a' && self.kind == 'Widget'")
    assert refused(schema) == []
    assert broken(schema, {"kind": "Widget", "metadata": {"name": "a"}}) == []


def test_a_float_in_the_place_of_an_integer_cannot_be_read() -> None:
    schema = ruled(
        obj(n=INT, f={"type": "number"}, x={"x-kubernetes-int-or-string": True}), "self.n != 7", "self.f > 0"
    )
    schema = ruled(schema, *schema["x-kubernetes-validations"], "self.x != 'a'")
    errors = NodeRules.compile(schema, with_floats=True).validate({"n": 1.0, "f": 1, "x": 1.0})
    assert [error.detail for error in errors] == [
        "invalid data, expected int, got float64 evaluating rule: self.n != 7",
        "invalid data, expected XIntOrString value to be either a string or integer evaluating rule: self.x != 'a'",
    ]
    assert NodeRules.compile(schema, with_floats=True).validate({"n": 1, "f": 1.0, "x": 1}) == []
