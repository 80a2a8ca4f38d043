"""StorageVersionMigrations, and conditions as all kinds have them. The texts are those of kube-apiserver 1.37."""

from __future__ import annotations

from typing import Any

from podless.apis.shared.columns import read_columns
from podless.apis.storagemigration.group import MIGRATIONS
from podless.runtime.jsonobject import Object
from tests.apis.late import changed, faults, reported

PODS: Object = {"resource": {"group": "", "resource": "pods"}}


def _condition(type_: str, status: str = "True", **other: object) -> Object:
    given = {"type": type_, "status": status, "lastTransitionTime": "2020-01-01T00:00:00Z", "reason": "R"}
    return given | {"message": ""} | other


def test_the_resource() -> None:
    assert faults(MIGRATIONS, PODS) == []
    assert faults(MIGRATIONS, {}) == ["spec.resource.resource: Required value: resource is required to be set"]
    found = faults(MIGRATIONS, {"resource": {"group": "A_", "resource": "A_"}})
    assert [text.partition(":")[0] for text in found] == ["spec.resource.resource", "spec.resource.group"]
    assert changed(MIGRATIONS, PODS, {"resource": {"group": "apps", "resource": "x"}}) == [
        'spec: Invalid value: {"Resource":{"group":"apps","resource":"x"}}: field is immutable'
    ]


def test_what_has_ended_stays_so() -> None:
    succeeded, failed = ([_condition(type_)] for type_ in ("Succeeded", "Failed"))
    assert reported(MIGRATIONS, PODS, {"conditions": succeeded}) == []
    (text,) = reported(MIGRATIONS, PODS, {"conditions": [*succeeded, *failed]})
    assert text.endswith("Both success and failed conditions cannot be true at the same time")
    (text,) = reported(MIGRATIONS, PODS, {}, before={"conditions": succeeded})
    assert text == "status.conditions: Invalid value: null: Success condition cannot be set to false once it is true"


def test_a_revision_is_set_once() -> None:
    for bad in ("05", "x", "0"):
        (text,) = reported(MIGRATIONS, PODS, {"resourceVersion": bad})
        assert text == f'status.resourceVersion: Invalid value: "{bad}": resource version is not well formed: {bad}'
    (text,) = reported(MIGRATIONS, PODS, {"resourceVersion": "6"}, before={"resourceVersion": "5"})
    assert text == 'status.resourceVersion: Invalid value: "6": field is immutable'


def test_columns() -> None:
    columns = read_columns("storagemigration", "storageversionmigrations")
    cells: dict[str, Any] = {column.name: column.read for column in columns}
    obj = {"spec": {"resource": {"group": "apps", "resource": "deployments"}}}
    assert cells["Resource"](obj) == "deployments.apps"
    assert cells["Status"](obj) == "Unknown"
    ended = {"status": {"conditions": [_condition("Running", "False"), _condition("Succeeded")]}}
    assert cells["Status"](obj | ended) == "Succeeded"
