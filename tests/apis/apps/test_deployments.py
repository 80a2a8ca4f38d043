"""Deployments: defaults, rules, what stays, what counts as a generation."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.apps.group import DEPLOYMENTS
from tests.apis.late import changed, decoded, faults, made, reported, template
from tests.conftest import Client

SPEC: dict[str, Any] = {"selector": {"matchLabels": {"app": "web"}}, "template": template()}
NEGATIVE = "Invalid value: -1: must be greater than or equal to 0"
PATH = "/apis/apps/v1/namespaces/default/deployments"


def test_defaults() -> None:
    spec = decoded(DEPLOYMENTS, SPEC)["spec"]
    assert spec["replicas"] == 1
    assert spec["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}
    assert (spec["revisionHistoryLimit"], spec["progressDeadlineSeconds"]) == (10, 600)
    assert spec["template"]["spec"]["restartPolicy"] == "Always"


def test_a_strategy_may_have_no_part_of_its_own() -> None:
    assert decoded(DEPLOYMENTS, {**SPEC, "strategy": {"type": "Recreate"}})["spec"]["strategy"] == {"type": "Recreate"}


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({}, ""),
        ({"replicas": -1}, "spec.replicas: Invalid value: -1: must be greater than or equal to 0"),
        ({"selector": {}}, "spec.selector: Invalid value: {}: empty selector is invalid for deployment"),
        (
            {"selector": {"matchLabels": {"a": "b"}}},
            'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
        ),
        (
            {"strategy": {"type": "Recreate", "rollingUpdate": {}}},
            "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
        ),
        (
            {"strategy": {"type": "x"}},
            'spec.strategy: Unsupported value: {"Type":"x","RollingUpdate":null}: '
            'supported values: "Recreate", "RollingUpdate"',
        ),
        (
            {"strategy": {"rollingUpdate": {"maxUnavailable": "0%", "maxSurge": 0}}},
            'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
        ),
        (
            {"strategy": {"rollingUpdate": {"maxUnavailable": "101%"}}},
            'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
        ),
        ({"strategy": {"rollingUpdate": {"maxSurge": "9" * 5000 + "%"}}}, ""),
        (
            {"progressDeadlineSeconds": 5, "minReadySeconds": 5},
            "spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds",
        ),
        (
            {"template": template(restartPolicy="Never")},
            'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        ),
        (
            {"template": template(activeDeadlineSeconds=5)},
            "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported",
        ),
    ],
)
def test_rules(spec: dict[str, Any], wanted: str) -> None:
    assert faults(DEPLOYMENTS, {**SPEC, **spec}) == ([wanted] if wanted else [])


def test_the_selector_stays() -> None:
    found = changed(
        DEPLOYMENTS, SPEC, {**SPEC, "selector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}
    )
    assert len(found) == 1
    assert found[0].endswith("field is immutable")


@pytest.mark.parametrize(
    ("status", "wanted"),
    [
        ({"replicas": 1, "readyReplicas": 1, "availableReplicas": 1}, ""),
        ({"readyReplicas": 9}, "status.readyReplicas: Invalid value: 9: cannot be greater than status.replicas"),
        (
            {"replicas": 1, "availableReplicas": 1},
            "status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas",
        ),
        ({"unavailableReplicas": -1}, f"status.unavailableReplicas: {NEGATIVE}"),
        ({"collisionCount": 1}, "status.collisionCount: Invalid value: 1: cannot be decremented"),
    ],
)
def test_status(status: dict[str, Any], wanted: str) -> None:
    assert reported(DEPLOYMENTS, SPEC, status, {"collisionCount": 2} if "collisionCount" in status else {}) == (
        [wanted] if wanted else []
    )


def test_annotations_count_as_a_generation() -> None:
    version = DEPLOYMENTS.versions[0]
    old, new = made(DEPLOYMENTS, SPEC), made(DEPLOYMENTS, SPEC, annotations={"a": "b"})
    assert DEPLOYMENTS.strategy.increases_generation(version, new, old)
    assert not DEPLOYMENTS.strategy.increases_generation(version, made(DEPLOYMENTS, SPEC, labels={"a": "b"}), old)


def test_names_that_are_no_labels_are_warned_of() -> None:
    found = DEPLOYMENTS.strategy.list_warnings(DEPLOYMENTS.versions[0], made(DEPLOYMENTS, SPEC, name="a.b"), None)
    assert [text for text in found if text.endswith("a DNS label is recommended: [must not contain dots]")]


def deployment(name: str) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": SPEC}


def test_scale(client: Client) -> None:
    assert client.post(PATH, deployment("scaled")).status == 201
    scale = client.get(f"{PATH}/scaled/scale").body
    assert scale["spec"] == {"replicas": 1}
    assert scale["status"] == {"replicas": 0, "selector": "app=web"}
    assert client.send("PUT", f"{PATH}/scaled/scale", {**scale, "spec": {"replicas": 3}}).status == 200
    assert client.get(f"{PATH}/scaled").body["spec"]["replicas"] == 3
    refused = client.merge(f"{PATH}/scaled/scale", {"spec": {"replicas": -1}})
    assert refused.body["message"] == (
        'Scale.autoscaling "scaled" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0'
    )
    wrong = client.send("PUT", f"{PATH}/scaled/scale", {**scale, "spec": {"replicas": "x"}})
    assert wrong.body["message"].startswith(
        'Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal'
    )


def test_scale_is_applied(client: Client) -> None:
    assert client.post(PATH, deployment("applied")).status == 201
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "applied"}, "spec": {"replicas": 7}}
    path = f"{PATH}/applied/scale?fieldManager=m&force=true"
    assert client.send("PATCH", path, scale, Content_Type="application/apply-patch+yaml").status == 200
    assert client.get(f"{PATH}/applied").body["spec"]["replicas"] == 7


def test_a_status_write_leaves_the_labels_alone(client: Client) -> None:
    obj = client.post(PATH, deployment("labelled")).body
    obj["metadata"]["labels"] = {"a": "b"}
    obj["status"] = {"replicas": 1}
    told = client.send("PUT", f"{PATH}/labelled/status", obj).body
    assert "labels" not in told["metadata"]
    assert told["status"] == {"replicas": 1}
