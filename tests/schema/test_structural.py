"""What a definition's schema must obey, error by error."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podless.meta import field
from podless.schema import KeywordOptions, Schema, internal, structural, tolerated, warnings
from podless.schema.definition import has_unpruned_defaults, is_structural
from tests.conftest import tries
from tests.schema import strategies

S = {"type": "string"}
CASES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["a.type: Required value: must not be empty for specified object fields"]),
    ({"type": "array"}, ["a.items: Required value: must be specified"]),
    ({"type": "array", "items": {}}, ["a.items.type: Required value: must not be empty for specified array items"]),
    ({"x-kubernetes-preserve-unknown-fields": True}, []),
    ({"x-kubernetes-int-or-string": True}, []),
    ({"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}, []),
    (
        {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "string"}, {"type": "integer"}]},
        [
            "a.anyOf[0].type: Forbidden: must be empty to be structural",
            "a.anyOf[1].type: Forbidden: must be empty to be structural",
        ],
    ),
    (
        {
            "x-kubernetes-int-or-string": True,
            "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"pattern": "x"}],
        },
        [],
    ),
    ({**S, "allOf": [{"default": "x"}]}, ["a.allOf[0].default: Forbidden: must be undefined to be structural"]),
    ({**S, "not": {"nullable": True}}, ["a.not.nullable: Forbidden: must be false to be structural"]),
    (
        {"type": "object", "properties": {"x": S}, "additionalProperties": S},
        ["a.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"],
    ),
    (
        {**S, "uniqueItems": True},
        ["a.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic"],
    ),
    (
        {**S, "x-kubernetes-embedded-resource": True},
        [
            "a.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true"
            " without x-kubernetes-preserve-unknown-fields",
            'a.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
        ],
    ),
    (
        {**S, "pattern": "(a"},
        [
            'a.pattern: Invalid value: "(a": must be a valid regular expression, but isn\'t:'
            " error parsing regexp: missing closing ): `(a`"
        ],
    ),
    ({**S, "default": 1}, ['a.default: Invalid value: "integer":  in body must be of type string: "integer"']),
    (
        {"type": "object", "default": {"x": 1}},
        ['a.default: Invalid value: {"x":1}: must not have unknown fields'],
    ),
    (
        {"type": "array", "items": S, "x-kubernetes-list-type": "map"},
        [
            "a.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
            'a.items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map',
        ],
    ),
    (
        {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"},
        [
            "a.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with"
            " x-kubernetes-list-type=set"
        ],
    ),
    (
        {
            **S,
            "x-kubernetes-validations": [
                {"rule": " "},
                {"rule": "a\nb"},
                {"rule": "x", "reason": "No", "fieldPath": ".q"},
            ],
        },
        [
            "a.x-kubernetes-validations[0].rule: Required value: rule is not specified",
            "a.x-kubernetes-validations[1].message: Required value: message must be specified if rule contains"
            " line breaks",
            'a.x-kubernetes-validations[2].reason: Unsupported value: "No": supported values: "FieldValueDuplicate",'
            ' "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
            'a.x-kubernetes-validations[2].fieldPath: Invalid value: ".q": must be a valid path',
        ],
    ),
]


@pytest.mark.parametrize(("part", "wanted"), CASES)
def test_every_rule_has_its_error(part: dict[str, Any], wanted: list[str]) -> None:
    errors = structural({"type": "object", "properties": {"a": part}}, "x")
    assert [str(error).removeprefix("x.properties[a]").replace("x.properties[a].", "a.") for error in errors] == [
        text.removeprefix("a") for text in wanted
    ]


def test_what_logic_speaks_of_must_be_declared() -> None:
    schema = {"type": "object", "anyOf": [{"properties": {"b": {"minLength": 1}}}]}
    assert [str(error) for error in structural(schema, "x")] == [
        "x.properties[b]: Required value: because it is defined in x.anyOf[0].properties[b]"
    ]


def test_metadata_may_only_be_narrowed_by_name() -> None:
    def root(metadata: dict[str, Any]) -> list[str]:
        return [str(error) for error in structural({"type": "object", "properties": {"metadata": metadata}}, "x")]

    assert root({"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}}) == []
    assert root({"type": "object", "properties": {"labels": {"type": "object"}}}) == [
        "x.properties[metadata]: Forbidden: must not specify anything other than name and generateName,"
        " but metadata is implicitly specified"
    ]


def test_with_the_status_subresource_the_root_may_say_less() -> None:
    schema = {"type": "object", "maxProperties": 3}
    assert structural(schema, "x") == []
    [error] = structural(schema, "x", status=True)
    assert error.field == "x"
    assert error.detail.startswith("only [Description Type Format")


def test_an_update_is_not_refused_for_what_was_there_before() -> None:
    items = {"type": "object", "properties": {"k": S}}
    listed = {"type": "array", "items": items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    schema = {"type": "object", "properties": {"a": listed}}
    assert structural(schema, "x")
    assert structural(schema, "x", options=KeywordOptions(map_keys=False)) == []
    odd = {"type": "object", "properties": {"a": {"type": "object", "default": {"x": 1}}}}
    assert has_unpruned_defaults(odd)
    assert structural(odd, "x", options=KeywordOptions(pruned_defaults=False)) == []
    assert not is_structural({"type": "object", "properties": {"a": {}}})
    assert structural({"type": "object", "properties": {"a": {}}}, "x", options=KeywordOptions(structural=False)) == []


def test_what_an_old_definition_did_is_tolerated_in_the_new_one() -> None:
    items = {"type": "object", "properties": {"k": S}}
    keyed = {"type": "array", "items": items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    loose = {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"}
    odd = {"type": "object", "default": {"x": 1}}

    def of(part: dict[str, Any]) -> KeywordOptions:
        return tolerated([{"type": "object"}, {"type": "object", "properties": {"a": part}}])

    assert tolerated([]) == of(S) == KeywordOptions()
    assert of(keyed) == KeywordOptions(map_keys=False)
    assert of(loose) == KeywordOptions(atomic_sets=False)
    assert of(odd) == KeywordOptions(pruned_defaults=False)
    assert of({"type": "any"}) == KeywordOptions(types=False)
    assert of({}) == KeywordOptions(structural=False)


def test_expressions_are_compiled_only_in_schemas_that_are_sound() -> None:
    class Recorder:
        def __init__(self) -> None:
            self.seen: list[tuple[str, int]] = []

        def declared(self, schema: dict[str, Any], path: str, ancestors: tuple[Any, ...]) -> list[Any]:
            self.seen.append((path, len(ancestors)))
            return []

        def default(self, schema: dict[str, Any], path: str, value: Any) -> list[Any]:
            self.seen.append((path, value))
            return []

        def total(self, schema: dict[str, Any], path: str) -> list[Any]:
            return []

    part = {"type": "integer", "default": 7, "x-kubernetes-validations": [{"rule": "self > 1"}]}
    for extra, wanted in (({}, [("x.properties[a].default", 7), ("x.properties[a]", 1)]), ({"type": "array"}, [])):
        recorder = Recorder()
        structural({"type": "object", "properties": {"a": part}} | extra, "x", rules=recorder)
        assert recorder.seen == wanted


def test_formats_that_nobody_checks_are_warned_of() -> None:
    properties = {"a": {"type": "string", "format": "sha256"}, "b": {"type": "string", "format": "date-time"}}
    assert warnings({"type": "object", "properties": properties}, "x") == ['unrecognized format "sha256"']


@settings(max_examples=tries(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(strategies.nodes(), st.data())
def test_a_schema_of_any_form_gets_errors_and_never_an_exception(node: dict[str, Any], data: st.DataObject) -> None:
    schema = {"type": "object", "properties": {"a": copy.deepcopy(node)}}
    places: list[dict[str, Any]] = []
    todo: list[Any] = [schema]
    while todo:
        part = todo.pop()
        todo.extend(part.values() if isinstance(part, dict) else part if isinstance(part, list) else ())
        if isinstance(part, dict) and part:
            places.append(part)
    place = data.draw(st.sampled_from(places))
    place[data.draw(st.sampled_from(sorted(place)))] = data.draw(strategies.JSON)
    errors = structural(schema, "x")
    warnings(schema, "x")
    if not errors:
        Schema.compile(schema).admit({"a": data.draw(strategies.JSON)})


def test_a_schema_nested_without_end_is_refused() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(100_000):
        schema = {"type": "object", "properties": {"a": schema}}
    [error] = structural(schema, "x")
    assert "must not nest deeper" in error.detail
    assert warnings(schema) == []
    while schema:  # taken apart step by step, for Python frees nested objects by recursion
        schema = schema.get("properties", {}).pop("a", {})


def test_errors_show_long_schemas_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    real = internal.dump_schema

    def dump_schema(schema: Any) -> dict[str, Any]:
        shown.append(schema)
        return real(schema)

    monkeypatch.setattr(internal, "dump_schema", dump_schema)
    listed = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]}
    schema: dict[str, Any] = {"type": "object", "properties": {f"p{number}": {} for number in range(3000)}}
    for _ in range(50):
        schema = listed | {"items": [schema]}
    errors = structural({"type": "object", "properties": {"a": schema}}, "spec")
    assert len(errors) > 50
    assert not shown
    reported, message, _ = field.summarize_errors(errors)
    assert len(shown) < 10 * 3000  # not 50 times as many: a client gets only so many characters
    assert len(reported) < len(errors)
    assert '{"Schema":null,"JSONSchemas":[{"ID":""' in message
