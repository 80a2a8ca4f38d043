"""Pruning, defaulting, embedded resources and ratcheting, fact by fact."""

from __future__ import annotations

from typing import Any

import pytest

from podless.schema import Malformed, Schema

FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
POD = {**FREE, "x-kubernetes-embedded-resource": True}


def schema(**properties: Any) -> Schema:
    return Schema.compile({"type": "object", "properties": properties})


def test_unknown_fields_go_and_are_named_by_their_paths() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "integer"}}}
    obj = {"kind": "K", "l": [{"a": 1, "b": 2}], "m": {"k": {"c": 3}}, "z": 1}
    unknown: list[str] = []
    kinds = {"l": {"type": "array", "items": inner}, "m": {"type": "object", "additionalProperties": inner}}
    assert schema(**kinds).admit(obj, unknown=unknown) == []
    assert obj == {"kind": "K", "l": [{"a": 1}], "m": {"k": {}}}
    assert unknown == ["l[0].b", "m.k.c", "z"]


def test_unknown_fields_stay_where_the_schema_says_so_and_go_again_below_declared_ones() -> None:
    obj = {"a": {"x": 1, "b": {"y": 1, "c": 1}}}
    part = {**FREE, "properties": {"b": {"type": "object", "properties": {"c": {"type": "integer"}}}}}
    schema(a=part).prune(obj)
    assert obj == {"a": {"x": 1, "b": {"c": 1}}}


def test_additional_properties_that_are_just_true_keep_the_field_and_nothing_in_it() -> None:
    obj: dict[str, Any] = {"a": {"x": {"y": 1}, "z": [{"q": 1}, 2]}}
    schema(a={"type": "object", "additionalProperties": True}).prune(obj)
    assert obj == {"a": {"x": {}, "z": [{}, 2]}}


def test_defaults_are_filled_in_and_never_shared() -> None:
    part = {
        "type": "object",
        "default": {},
        "properties": {"l": {"type": "array", "items": {"type": "integer"}, "default": [1]}},
    }
    one: dict[str, Any] = {}
    two: dict[str, Any] = {}
    kind = schema(a=part)
    kind.admit(one)
    kind.admit(two)
    assert one == two == {"a": {"l": [1]}}
    one["a"]["l"].append(2)
    assert two == {"a": {"l": [1]}}


def test_a_default_of_false_is_a_value() -> None:
    obj: dict[str, Any] = {}
    schema(a={"type": "boolean", "default": False}).admit(obj)
    assert obj == {"a": False}


@pytest.mark.parametrize(
    ("nullable", "default", "wanted"),
    [(False, None, {}), (False, "d", {"a": "d"}), (True, None, {"a": None}), (True, "d", {"a": None})],
)
def test_null_goes_becomes_the_default_or_stays(nullable: bool, default: str | None, wanted: dict[str, Any]) -> None:
    obj: dict[str, Any] = {"a": None}
    assert schema(a={"type": "string", "nullable": nullable, "default": default}).admit(obj) == []
    assert obj == wanted


def test_a_null_item_of_a_list_becomes_the_default_or_is_an_error() -> None:
    obj: dict[str, Any] = {"a": ["x", None]}
    assert schema(a={"type": "array", "items": {"type": "string", "default": "d"}}).admit(obj) == []
    assert obj == {"a": ["x", "d"]}
    [error] = schema(a={"type": "array", "items": {"type": "string"}}).admit({"a": [None]})
    assert error.field == "a[0]"


def test_objects_of_many_fields_are_treated_alike() -> None:
    fields: dict[str, Any] = {f"f{n}": {"type": "integer", "maximum": n} for n in range(40)}
    fields |= {"s": {"type": "string", "default": "d"}, "n": {"type": "string", "nullable": True}}
    kind = schema(a={"type": "object", "properties": fields, "required": ["f1"]})
    obj: dict[str, Any] = {"a": {"f1": 1, "f2": 2, "n": None, "f3": None, "zz": 1}}
    unknown: list[str] = []
    assert kind.admit(obj, unknown=unknown) == []
    assert obj == {"a": {"f1": 1, "f2": 2, "n": None, "s": "d"}}
    assert unknown == ["a.zz"]
    assert [error.field for error in kind.admit({"a": {"f2": 3}})] == ["a.f2", "a.f1"]


def test_the_metadata_of_an_embedded_resource_is_coerced() -> None:
    meta: dict[str, Any] = {"name": "n", "creationTimestamp": None, "labels": {}, "zz": 1}
    obj = {"a": {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"x": 1}}}
    unknown: list[str] = []
    assert schema(a=POD).admit(obj, unknown=unknown) == []
    assert obj == {"a": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "n"}, "spec": {"x": 1}}}
    assert unknown == ["a.metadata.zz"]


def test_an_embedded_resource_needs_a_type_and_good_metadata() -> None:
    errors = schema(a=POD).admit({"a": {"kind": "Bad Kind", "metadata": {"name": "a/b"}}})
    assert [error.field for error in errors] == ["a.apiVersion", "a.kind", "a.metadata.name"]


def test_embedded_metadata_of_the_wrong_type_ends_a_request_and_is_dropped_from_what_is_stored() -> None:
    obj: dict[str, Any] = {"a": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 1, "labels": {"a": "b"}}}}
    with pytest.raises(Malformed) as raised:
        schema(a=POD).admit(obj)
    assert str(raised.value).startswith(
        'a.metadata: Invalid value: {"name":1,"labels":{"a":"b"}}: json: cannot'
    ) or str(raised.value).startswith(
        'a.metadata: Invalid value: {"labels":{"a":"b"},"name":1}: json: cannot unmarshal number'
    )
    schema(a=POD).normalize(obj)
    assert obj["a"]["metadata"] == {"labels": {"a": "b"}}


def test_nulls_of_an_embedded_resource_go_before_it_is_coerced_where_the_schema_declares_them() -> None:
    properties = {"apiVersion": {"type": "string"}, "metadata": {"type": "object"}}
    for steps in ("admit", "apart"):
        obj: dict[str, Any] = {"a": {"apiVersion": None, "kind": "Pod", "metadata": None}}
        kind = schema(a={**POD, "properties": properties})
        if steps == "apart":
            kind.prune(obj)
            kind.default(obj)
        errors = kind.admit(obj)
        assert obj == {"a": {"kind": "Pod"}}
        assert [str(error) for error in errors] == ["a.apiVersion: Required value"]


def test_what_was_wrong_and_did_not_change_may_stay() -> None:
    kind = schema(a={"type": "string", "maxLength": 1}, b={"type": "integer", "maximum": 1})
    old = {"a": "long", "b": 5}
    assert kind.validate({"a": "long", "b": 5}, old) == []
    assert [error.field for error in kind.validate({"a": "long", "b": 6}, old)] == ["b"]
    assert [error.field for error in kind.validate({"a": "longer", "b": 5}, old)] == ["a"]


def test_items_of_map_lists_are_compared_by_key_and_other_lists_whole() -> None:
    item = {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer", "maximum": 1}}}
    listed = {"type": "array", "items": item}
    keyed = {**listed, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    old = {"l": [{"k": "a", "v": 5}, {"k": "b", "v": 1}]}
    new = {"l": [{"k": "c", "v": 1}, {"k": "a", "v": 5}]}
    assert schema(l=keyed).validate(new, old) == []
    assert [error.field for error in schema(l=listed).validate(new, old)] == ["l[1].v"]


def test_duplicates_are_tolerated_once_the_old_object_had_some() -> None:
    kind = schema(l={"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}})
    assert kind.validate({"l": ["a", "a"]}, {"l": ["b", "b"]}) == []
    assert kind.validate({"l": ["a", "a"]}, {"l": ["b"]}) != []


def test_lists_nested_without_end_are_walked_where_nothing_is_declared() -> None:
    deep: list[Any] = [{"x": 1}]
    for _ in range(900):
        deep = [deep]
    obj = {"a": {"b": deep}}
    unknown: list[str] = []
    schema(a={"type": "object", "additionalProperties": True}).prune(obj, unknown=unknown)
    assert unknown == ["a.b" + "[0]" * 901 + ".x"]


def test_a_schema_comes_from_a_definition_by_version() -> None:
    crd = {"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": {"type": "object"}}}]}}
    assert Schema.from_crd(crd, "v1").openapi == {"type": "object"}
    with pytest.raises(KeyError):
        Schema.from_crd(crd, "v2")


def test_duplicate_items_of_any_depth_are_found() -> None:
    deep: list[Any] = []
    for _ in range(600):
        deep = [deep]
    kind = schema(
        l={"type": "array", "x-kubernetes-list-type": "set", "items": {"x-kubernetes-preserve-unknown-fields": True}}
    )
    errors = kind.validate({"l": [deep, deep, [1]]})
    assert [error.field for error in errors] == ["l[1]"]
    assert str(errors[0])


def test_what_is_no_schema_is_refused_with_a_reason() -> None:
    with pytest.raises(ValueError, match="properties: Invalid value"):
        Schema.compile({"properties": 5}).validate({})


def test_items_are_compared_after_they_got_their_defaults() -> None:
    port = {"type": "object", "properties": {"n": {"type": "integer"}, "p": {"type": "string", "default": "TCP"}}}
    listed = {"type": "array", "items": port, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n", "p"]}
    [error] = schema(l=listed).admit({"l": [{"n": 1}, {"n": 1, "p": "TCP"}]})
    assert str(error) == 'l[1]: Duplicate value: {"n":1,"p":"TCP"}'


@pytest.mark.parametrize(
    ("part", "value", "good"),
    [
        ({"type": "integer", "not": {"multipleOf": 2}}, 2, False),
        ({"type": "integer", "not": {"multipleOf": 2}}, 3, True),
        ({"type": "integer", "oneOf": [{"minimum": 0}, {"multipleOf": 2}]}, 72, False),
        ({"type": "number", "not": {"minimum": 0.5}}, 0.75, False),
        ({"type": "number", "multipleOf": 2}, 2147483647.0, True),
        ({"type": "number", "multipleOf": 2}, 2147483647, False),
        ({"type": "number", "multipleOf": 0.1}, 123456789.05, True),
        ({"type": "number", "multipleOf": 2}, 3.0, False),
    ],
)
def test_numbers_are_judged_in_alternatives_and_rounded_as_go_rounds_them(
    part: dict[str, Any], value: float, good: bool
) -> None:
    assert (schema(a=part).admit({"a": value}) == []) == good


@pytest.mark.parametrize(
    ("items", "good"),
    [
        ([{"n": 1}, {"n": 1.0}], False),
        ([{"n": 0.0}, {"n": -0.0}], True),
        ([1, 1.0], True),
        ([{"n": 1.5}, {"n": 1.5}], False),
        ([[1.0], [1]], False),
    ],
)
def test_objects_and_lists_in_sets_are_told_apart_by_their_json(items: list[Any], good: bool) -> None:
    anything = {"x-kubernetes-preserve-unknown-fields": True}
    listed = schema(a={"type": "array", "x-kubernetes-list-type": "set", "items": anything})
    assert (listed.admit({"a": items}) == []) == good


def test_what_no_schema_declares_and_what_holds_it_is_never_unchanged() -> None:
    part = {**FREE, "maxProperties": 1, "properties": {"a": {"type": "integer", "maximum": 1}}}
    old = {"s": {"a": 5, "b": 1}}
    errors = schema(s=part).validate({"s": {"a": 5, "b": 1}}, old)
    assert [str(error) for error in errors] == ["s: Too many: 2: must have at most 1 item"]
    assert schema(s={**part, "properties": {"a": {}, "b": {}}}).validate(old, old) == []
    nested = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "anyOf": [{"properties": {"a": {"maximum": 1}}}],
    }
    assert schema(s=nested).validate({"s": {"a": 5}}, {"s": {"a": 5}}) == []
    assert len(schema(s={**nested, "maxProperties": 9}).validate({"s": {"a": 5}}, {"s": {"a": 6}})) == 2
