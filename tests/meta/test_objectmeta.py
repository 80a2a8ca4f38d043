from __future__ import annotations

from typing import Any

import pytest

from podless.meta import names, objectmeta
from podless.structs.structs import DecodeError

OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}
OLD = {"name": "a", "namespace": "d", "uid": "1", "resourceVersion": "5", "creationTimestamp": "2024-01-01T00:00:00Z"}
IMMUTABLE = "field is immutable"


def told(meta: dict[str, Any], namespaced: bool = True) -> list[str]:
    meta = {"name": "a", "namespace": "d"} | meta
    return [str(error) for error in objectmeta.validate_metadata(meta, namespaced=namespaced, naming=names.SUBDOMAINS)]


def told_update(new: dict[str, Any], old: dict[str, Any] = OLD) -> list[str]:
    return [str(error) for error in objectmeta.validate_update({**old, **new}, old)]


def test_good_metadata_draws_nothing() -> None:
    meta = {"generateName": "a-", "labels": {"x.io/a": ""}, "annotations": {"UPPER.com/X": "é !"}, "generation": 1}
    assert told(meta | {"finalizers": ["x.io/f"], "ownerReferences": [OWNER]}) == []
    assert told_update({}) == []


def test_a_name_is_required() -> None:
    assert told({"name": ""}) == ["metadata.name: Required value: name or generateName is required"]


def test_names_and_prefixes_are_checked() -> None:
    first, second = told({"name": "A", "generateName": "B"})
    assert first.startswith('metadata.generateName: Invalid value: "B": a lowercase RFC 1123 subdomain')
    assert second.startswith('metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain')


def test_the_scope_decides_on_the_namespace() -> None:
    assert told({"namespace": ""}) == ["metadata.namespace: Required value"]
    assert told({}, namespaced=False) == ["metadata.namespace: Forbidden: not allowed on this type"]
    assert told({"namespace": "a.b"}) == ['metadata.namespace: Invalid value: "a.b": must not contain dots']


def test_labels_and_annotations_are_told_under_their_map() -> None:
    assert [text[:40] for text in told({"labels": {"a b": "-"}})] == [
        'metadata.labels: Invalid value: "a b": n',
        'metadata.labels: Invalid value: "-": a v',
    ]
    assert told({"annotations": {"/x": "y"}}) == [
        'metadata.annotations: Invalid value: "/x": prefix part must be non-empty'
    ]


def test_annotations_have_a_total_size() -> None:
    assert told({"annotations": {"a": "x" * (256 * 1024 - 1)}}) == []
    assert told({"annotations": {"a": "x" * (256 * 1024)}}) == [
        "metadata.annotations: Too long: may not be more than 262144 bytes"
    ]


def test_owners_are_complete_and_have_no_index() -> None:
    empty = dict.fromkeys(OWNER, "")
    assert told({"ownerReferences": [empty]}) == [
        'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    ]
    (text,) = told({"ownerReferences": [OWNER | {"apiVersion": "a/b/c"}]})
    assert text == 'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty'


def test_events_own_nothing() -> None:
    (text,) = told({"ownerReferences": [{"uid": "u", "name": "o", "kind": "Event", "apiVersion": "v1"}]})
    shown = '{"apiVersion":"v1","kind":"Event","name":"o","uid":"u"}'
    assert (
        text == f"metadata.ownerReferences: Invalid value: {shown}: /v1, Kind=Event is disallowed from being an owner"
    )


def test_one_owner_controls() -> None:
    first, second = OWNER | {"controller": True}, OWNER | {"uid": "v", "controller": True}
    (text,) = told({"ownerReferences": [first, second]})
    assert text.endswith(
        'Only one reference can have Controller set to true. Found "true" in references for ConfigMap/o and ConfigMap/o'
    )


def test_two_ways_of_deletion_exclude_each_other() -> None:
    assert told({"finalizers": ["orphan", "foregroundDeletion"]}) == [
        'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]:'
        " finalizer orphan and foregroundDeletion cannot be both set"
    ]


def test_managed_fields_have_a_form() -> None:
    assert told({"managedFields": [{"operation": "Add", "fieldsType": "V2", "manager": "a\n"}]}) == [
        'metadata.managedFields[0].operation: Invalid value: "Add": must be `Apply` or `Update`',
        'metadata.managedFields[0].fieldsType: Invalid value: "V2": must be `FieldsV1`',
        'metadata.managedFields[0].manager: Invalid value: "a\\n": invalid character U+000A (at position 1)',
    ]


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("name", "b", '"b"'),
        ("namespace", "e", '"e"'),
        ("uid", "2", '"2"'),
        ("creationTimestamp", None, "null"),
        ("deletionTimestamp", "2001-01-01T00:00:00Z", '"2001-01-01T00:00:00Z"'),
        ("deletionGracePeriodSeconds", 5, "5"),
    ],
)
def test_some_fields_do_not_change(field: str, value: Any, shown: str) -> None:
    assert told_update({field: value}) == [f"metadata.{field}: Invalid value: {shown}: {IMMUTABLE}"]


def test_an_update_names_its_version_and_counts_up() -> None:
    assert told_update({"resourceVersion": ""}) == [
        'metadata.resourceVersion: Invalid value: "": must be specified for an update'
    ]
    assert told_update({"generation": 1}, OLD | {"generation": 2}) == [
        "metadata.generation: Invalid value: 1: must not be decremented"
    ]


def test_what_is_being_deleted_gets_no_new_finalizers() -> None:
    old = OLD | {"deletionTimestamp": "2024-01-01T00:00:00Z", "finalizers": ["x.io/a"]}
    assert told_update({"finalizers": []}, old) == []
    assert told_update({"finalizers": ["x.io/c", "x.io/b"]}, old) == [
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted,"
        ' found new finalizers []string{"x.io/b", "x.io/c"}'
    ]


def test_finalizers_without_a_domain_draw_a_warning_when_they_are_new() -> None:
    end = "to avoid accidental conflicts with other finalizer writers"
    meta = {"finalizers": ["plain", "dotted.name", "x.io/good", "kubernetes", "orphan"]}
    assert objectmeta.list_finalizer_warnings(meta) == [
        f'metadata.finalizers: "dotted.name": prefer a domain-qualified finalizer name including a path (/) {end}',
        f'metadata.finalizers: "plain": prefer a domain-qualified finalizer name {end}',
    ]
    assert objectmeta.list_finalizer_warnings(meta, meta) == []


def test_owners_that_are_there_twice_are_dropped_with_a_warning() -> None:
    meta = {"ownerReferences": [OWNER, OWNER | {"name": "other"}, dict(OWNER)]}
    (warning,) = objectmeta.dedupe_owners(meta)
    assert warning.startswith(".metadata.ownerReferences contains duplicate entries; API server dedups")
    assert warning.endswith("duplicate UID(s) observed: u")
    assert meta["ownerReferences"] == [OWNER, OWNER | {"name": "other"}]
    assert objectmeta.dedupe_owners(meta) == []


def test_custom_metadata_is_read_in_the_order_of_its_keys() -> None:
    unknown: list[str] = []
    objectmeta.coerce_metadata({"zoo": 1, "name": "a", "foo": 1}, unknown)
    assert unknown == ["metadata.foo", "metadata.zoo"]
    with pytest.raises(DecodeError, match=r"ObjectMeta\.labels"):
        objectmeta.coerce_metadata({"name": 5, "labels": 5})
    assert objectmeta.coerce_metadata({"generation": 1.0}) == {"generation": 1}
