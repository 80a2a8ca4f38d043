"""StatefulSets: defaults, claims, what may change."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.apps.group import STATEFUL_SETS
from tests.apis.late import changed, decoded, faults, made, reported, template

SPEC: dict[str, Any] = {"serviceName": "web", "selector": {"matchLabels": {"app": "web"}}, "template": template()}
SIZE = {"requests": {"storage": "1Gi"}}
CLAIM = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": SIZE}}
MOUNTED = template(containers=[{"name": "c", "image": "i", "volumeMounts": [{"name": "data", "mountPath": "/d"}]}])


def test_defaults() -> None:
    spec = decoded(STATEFUL_SETS, {**SPEC, "volumeClaimTemplates": [CLAIM]})["spec"]
    assert spec["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}
    assert (spec["replicas"], spec["podManagementPolicy"], spec["revisionHistoryLimit"]) == (1, "OrderedReady", 10)
    claim = spec["volumeClaimTemplates"][0]
    assert (claim["kind"], claim["apiVersion"], claim["status"]) == (
        "PersistentVolumeClaim",
        "v1",
        {"phase": "Pending"},
    )
    assert claim["spec"]["volumeMode"] == "Filesystem"


def test_a_strategy_that_is_named_has_no_part_of_its_own() -> None:
    given = {**SPEC, "updateStrategy": {"type": "RollingUpdate"}}
    assert decoded(STATEFUL_SETS, given)["spec"]["updateStrategy"] == {"type": "RollingUpdate"}


def test_how_many_pods_may_be_away_is_not_asked() -> None:
    given = {**SPEC, "updateStrategy": {"rollingUpdate": {"maxUnavailable": 1}}}
    assert made(STATEFUL_SETS, given)["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 0}


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({}, ""),
        ({"volumeClaimTemplates": [CLAIM], "template": MOUNTED}, ""),
        ({"volumeClaimTemplates": [CLAIM, CLAIM], "template": MOUNTED}, ""),
        ({"template": MOUNTED}, 'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"'),
        (
            {"podManagementPolicy": "x"},
            "spec.podManagementPolicy: Invalid value: \"x\": must be 'OrderedReady' or 'Parallel'",
        ),
        (
            {"updateStrategy": {"type": "x"}},
            'spec.updateStrategy: Invalid value: {"Type":"x","RollingUpdate":null}: '
            "must be 'RollingUpdate' or 'OnDelete'",
        ),
        (
            {"updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 2}}},
            'spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":2,"MaxUnavailable":null}: '
            "only allowed for updateStrategy 'RollingUpdate'",
        ),
        (
            {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "x"}},
            'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "x": '
            'supported values: "Retain", "Delete"',
        ),
        (
            {"volumeClaimTemplates": [{**CLAIM, "spec": {"resources": SIZE}}], "template": MOUNTED},
            "spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required",
        ),
        (
            {"volumeClaimTemplates": [{**CLAIM, "spec": {"accessModes": ["ReadWriteOnce"]}}], "template": MOUNTED},
            "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value",
        ),
        ({"serviceName": "a.b"}, 'spec.serviceName: Invalid value: "a.b": must not contain dots'),
        ({"template": template(hostname="A_", subdomain="B_")}, ""),  # pods are named by the set
        ({"ordinals": {"start": -1}}, "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0"),
    ],
)
def test_rules(spec: dict[str, Any], wanted: str) -> None:
    assert faults(STATEFUL_SETS, {**SPEC, **spec}) == ([wanted] if wanted else [])


@pytest.mark.parametrize(
    ("spec", "allowed"),
    [
        ({"replicas": 4}, True),
        ({"revisionHistoryLimit": 3}, True),
        ({"minReadySeconds": 3}, True),
        ({"ordinals": {"start": 1}}, True),
        ({"template": template(hostNetwork=True)}, True),
        ({"serviceName": "other"}, False),
        ({"podManagementPolicy": "Parallel"}, False),
        ({"volumeClaimTemplates": [CLAIM]}, False),
    ],
)
def test_most_of_it_stays(spec: dict[str, Any], allowed: bool) -> None:
    found = changed(STATEFUL_SETS, SPEC, {**SPEC, **spec})
    text = (
        "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
        "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
        "forbidden"
    )
    assert found == ([] if allowed else [text])


def test_status() -> None:
    assert reported(STATEFUL_SETS, SPEC, {"replicas": 1, "availableReplicas": 1}) == [
        "status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas"
    ]


def test_names_are_labels() -> None:
    assert STATEFUL_SETS.strategy.naming[False]("a.b") == ["must not contain dots"]
    assert not STATEFUL_SETS.strategy.naming[True]("a-")


@pytest.mark.parametrize("amount", ["1500m", "10Pi"])
def test_fractions_of_bytes_in_claims_are_told(amount: str) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": amount}}}
    obj = made(STATEFUL_SETS, {**SPEC, "volumeClaimTemplates": [CLAIM, {**CLAIM, "spec": spec}]})
    strategy, version = STATEFUL_SETS.strategy, STATEFUL_SETS.versions[0]
    text = f'resources.requests[storage]: fractional byte value "{amount}" is invalid, must be an integer'
    assert strategy.list_warnings(version, obj, None) == [f"spec.volumeClaimTemplates[1].{text}"]
    assert strategy.list_warnings(version, obj, obj) == [f"spec.volumeClaimTemplates[1].Spec.{text}"]
