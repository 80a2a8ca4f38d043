"""Decoding by struct tables; the texts are those recorded from kube-apiserver 1.36."""

from __future__ import annotations

from typing import Any

import pytest

from podless.codec import gotime
from podless.structs import structs
from podless.structs.gotypes import FLOAT64, JSON, MICRO_TIME
from podless.structs.structfiles import load_struct
from podless.structs.structs import DecodeError, Field, Struct

CONFIG_MAP = load_struct("core/v1", "ConfigMap")
CUSTOM_RESOURCE_DEFINITION = load_struct("apiextensions/v1", "CustomResourceDefinition")
DELETE_OPTIONS = load_struct("meta/v1", "DeleteOptions")
JSON_SCHEMA_PROPS = load_struct("apiextensions/v1", "JSONSchemaProps")
OBJECT_META = load_struct("meta/v1", "ObjectMeta")
SCALE = load_struct("autoscaling/v1", "Scale")

SCHEMA_PATH = "spec.versions.schema.openAPIV3Schema"


def definition(schema: Any) -> dict[str, Any]:
    return {"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}}


def refusal(struct: Struct, value: Any) -> str:
    with pytest.raises(DecodeError) as caught:
        structs.decode_struct(struct, value)
    return str(caught.value)


def test_fields_come_in_the_order_of_the_struct_and_maps_by_key() -> None:
    given: dict[str, Any] = {"finalizers": ["f"], "labels": {"b": "2", "a": "1"}, "name": "n"}
    assert list(structs.decode_struct(OBJECT_META, given)) == ["name", "labels", "finalizers"]
    assert list(structs.decode_struct(OBJECT_META, given)["labels"]) == ["a", "b"]
    assert list(given) == ["finalizers", "labels", "name"]


def test_nulls_and_empty_optional_fields_are_dropped() -> None:
    given: dict[str, Any] = {
        "name": "n",
        "generateName": "",
        "labels": {},
        "annotations": None,
        "generation": 0,
        "finalizers": [],
    }
    assert structs.decode_struct(OBJECT_META, given) == {"name": "n"}


def test_pointers_keep_zero_values() -> None:
    assert structs.decode_struct(OBJECT_META, {"deletionGracePeriodSeconds": 0}) == {"deletionGracePeriodSeconds": 0}
    assert structs.decode_struct(CONFIG_MAP, {"immutable": False}) == {"metadata": {}, "immutable": False}


def test_required_fields_are_always_there() -> None:
    assert structs.decode_struct(SCALE, {}) == {"metadata": {}, "spec": {}, "status": {"replicas": 0}}
    status = structs.decode_struct(CUSTOM_RESOURCE_DEFINITION, {})["status"]
    assert status == {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": None}


def test_null_items_are_zero_values() -> None:
    owner = {"apiVersion": "", "kind": "", "name": "", "uid": ""}
    given = {"finalizers": [None], "labels": {"a": None}, "ownerReferences": [None]}
    assert structs.decode_struct(OBJECT_META, given) == {
        "labels": {"a": ""},
        "ownerReferences": [owner],
        "finalizers": [""],
    }


def test_unknown_fields_are_named_by_their_path_and_case_matters() -> None:
    unknown: list[str] = []
    given = {"Name": "x", "managedFields": [{}, {"x": 1}], "labels": {"a": "b"}, "foo": {"bar": 1}}
    assert structs.decode_struct(OBJECT_META, given, unknown) == {"labels": {"a": "b"}, "managedFields": [{}, {}]}
    assert unknown == ["Name", "managedFields[1].x", "foo"]
    unknown.clear()
    structs.decode_struct(CUSTOM_RESOURCE_DEFINITION, definition({"properties": {"a": {"const": 1}}}), unknown)
    assert unknown == ["spec.versions[0].schema.openAPIV3Schema.properties.a.const"]


def test_unions_drop_unknown_fields_in_silence() -> None:
    unknown: list[str] = []
    given = {"items": {"const": 1, "type": "string"}, "additionalProperties": {"x": 1}}
    decoded = structs.decode_struct(JSON_SCHEMA_PROPS, given, unknown)
    assert decoded == {"items": {"type": "string"}, "additionalProperties": {}}
    assert unknown == []


def test_no_more_than_a_hundred_unknown_fields_are_named() -> None:
    unknown: list[str] = []
    structs.decode_struct(OBJECT_META, {f"x{number}": 1 for number in range(200)}, unknown)
    assert len(unknown) == 100


@pytest.mark.parametrize(
    ("struct", "value", "text"),
    [
        (OBJECT_META, "x", "string into Go value of type v1.ObjectMeta"),
        (OBJECT_META, {"name": 5}, "number into Go struct field ObjectMeta.name of type string"),
        (OBJECT_META, {"uid": 5}, "number into Go struct field ObjectMeta.uid of type types.UID"),
        (OBJECT_META, {"labels": "x"}, "string into Go struct field ObjectMeta.labels of type map[string]string"),
        (OBJECT_META, {"labels": {"a": True}}, "bool into Go struct field ObjectMeta.labels of type string"),
        (OBJECT_META, {"finalizers": [1]}, "number into Go struct field ObjectMeta.finalizers of type string"),
        (
            OBJECT_META,
            {"ownerReferences": [{"controller": "x"}]},
            "string into Go struct field OwnerReference.ownerReferences.controller of type bool",
        ),
        (
            OBJECT_META,
            {"ownerReferences": [[]]},
            "array into Go struct field ObjectMeta.ownerReferences of type v1.OwnerReference",
        ),
        (
            OBJECT_META,
            {"creationTimestamp": 5},
            "number into Go struct field ObjectMeta.creationTimestamp of type string",
        ),
        (
            DELETE_OPTIONS,
            {"gracePeriodSeconds": "1"},
            "string into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
        ),
        (
            CUSTOM_RESOURCE_DEFINITION,
            {"metadata": {"labels": {"a": 1}}},
            "number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            CUSTOM_RESOURCE_DEFINITION,
            definition({"properties": {"a": {"maxLength": 1.5}}}),
            f"number 1.5 into Go struct field JSONSchemaProps.{SCHEMA_PATH}.properties.maxLength of type int64",
        ),
        (
            CUSTOM_RESOURCE_DEFINITION,
            {"spec": {"versions": [{"additionalPrinterColumns": [{"priority": 1 << 31}]}]}},
            "number 2147483648 into Go struct field CustomResourceColumnDefinition"
            ".spec.versions.additionalPrinterColumns.priority of type int32",
        ),
        (
            CUSTOM_RESOURCE_DEFINITION,
            definition({"items": {"maxLength": "5"}}),
            f"string into Go struct field JSONSchemaProps.{SCHEMA_PATH}.items.maxLength of type int64",
        ),
        (
            CUSTOM_RESOURCE_DEFINITION,
            definition({"enum": "x"}),
            f"string into Go struct field JSONSchemaProps.{SCHEMA_PATH}.enum of type []v1.JSON",
        ),
    ],
)
def test_wrong_types_are_told_as_go_tells_them(struct: Struct, value: Any, text: str) -> None:
    assert refusal(struct, value) == f"json: cannot unmarshal {text}"


def test_the_first_mistake_is_told_but_one_of_a_type_that_decodes_itself_wins() -> None:
    assert "ObjectMeta.name" in refusal(OBJECT_META, {"name": 1, "namespace": 2})
    assert refusal(OBJECT_META, {"name": 1, "creationTimestamp": "x"}).startswith("parsing time")
    assert refusal(JSON_SCHEMA_PROPS, {"type": 1, "additionalProperties": "x"}) == "boolean or JSON schema expected"


@pytest.mark.parametrize(
    ("text", "offset"),
    [("bad", 0), ("YQ=", 3), ("YQ=x", 2), ("YQ==x", 4), ("=", 0), ("YW!=", 2), ("YQ\n!=", 3)],
)
def test_bytes_are_base64(text: str, offset: int) -> None:
    assert structs.decode_struct(CONFIG_MAP, {"binaryData": {"k": "YWJj\n"}})["binaryData"] == {"k": "YWJj"}
    assert refusal(CONFIG_MAP, {"binaryData": {"k": text}}) == f"illegal base64 data at input byte {offset}"


def test_numbers_are_written_as_go_writes_them() -> None:
    struct = Struct("S", (Field("f", FLOAT64, pointer=True), Field("j", JSON, pointer=True)))
    decoded = structs.decode_struct(struct, {"f": 2.0, "j": {"b": 1.0, "a": [0.5, 1e300]}})
    assert decoded == {"f": 2, "j": {"a": [0.5, 1e300], "b": 1}}
    assert isinstance(decoded["f"], int)
    assert list(decoded["j"]) == ["a", "b"]


def test_what_is_nested_too_deep_is_refused() -> None:
    deep: Any = {}
    for _ in range(20_000):
        deep = {"not": deep}
    assert refusal(JSON_SCHEMA_PROPS, deep) == "exceeded max depth"
    while deep:  # so deep a value must not be freed in one go
        deep = deep.pop("not")


@pytest.mark.parametrize(
    ("given", "digits", "normal"),
    [
        ("2024-01-01T00:00:00Z", 0, "2024-01-01T00:00:00Z"),
        ("2024-02-29T23:59:59.999+01:30", 0, "2024-02-29T22:29:59Z"),
        ("2024-01-01T1:00:00,5-00:00", 0, "2024-01-01T01:00:00Z"),
        ("2024-01-01T00:00:00.123456+02:00", 6, "2023-12-31T22:00:00.123456Z"),
        ("0000-12-31T23:00:00-02:00", 0, "0001-01-01T01:00:00Z"),
        ("9999-12-31T23:00:00-02:00", 0, "10000-01-01T01:00:00Z"),
        ("0001-01-01T00:00:00Z", 0, None),
    ],
)
def test_times_are_written_in_utc(given: str, digits: int, normal: str | None) -> None:
    assert gotime.normalise_time(given, digits) == normal


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("bad", ' as "2006-01-02T15:04:05Z07:00": cannot parse "bad" as "2006"'),
        ("2024-01-01", ' as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'),
        ("2024-1-01T00:00:00Z", ' as "2006-01-02T15:04:05Z07:00": cannot parse "1-01T00:00:00Z" as "01"'),
        ("2024-01-01T00:00:00", ' as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"'),
        ("2024-13-01T00:00:00Z", ": month out of range"),
        ("2023-02-29T00:00:00Z", ": day out of range"),
        ("2023-02-20T24:00:00Z", ": hour out of range"),
        ("2024-01-01T00:00:00Zé", ': extra text: "\\xc3\\xa9"'),
    ],
)
def test_bad_times_are_told_as_go_tells_them(given: str, text: str) -> None:
    quoted = given.replace("é", "\\xc3\\xa9")
    assert refusal(OBJECT_META, {"creationTimestamp": given}) == f'parsing time "{quoted}"{text}'


def test_micro_times_need_six_digits() -> None:
    struct = Struct("LeaseSpec", (Field("renewTime", MICRO_TIME, pointer=True),))
    layout = "2006-01-02T15:04:05.000000Z07:00"
    text = f'parsing time "2024-01-01T00:00:00Z" as "{layout}": cannot parse "Z" as ".000000"'
    assert refusal(struct, {"renewTime": "2024-01-01T00:00:00Z"}) == text
