"""HorizontalPodAutoscalers: defaults and rules, and one object in two versions."""

from __future__ import annotations

from typing import Any

import pytest

from podless import Server
from podless.apis.autoscaling import versions
from podless.apis.autoscaling.group import AUTOSCALERS
from tests.apis.late import decoded, faults, made
from tests.conftest import Client

TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
SPEC: dict[str, Any] = {"scaleTargetRef": TARGET, "maxReplicas": 5}
USE = {"container": "c", "target": {"type": "Utilization", "averageUtilization": 5}}
SOURCES = '"ContainerResource", "External", "Object", "Pods", "Resource"'


def test_defaults() -> None:
    spec = decoded(AUTOSCALERS, SPEC, "v2")["spec"]
    target = {"type": "Utilization", "averageUtilization": 80}
    assert spec["minReplicas"] == 1
    assert spec["metrics"] == [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    assert "behavior" not in spec


def test_what_behavior_leaves_out() -> None:
    given = {**SPEC, "behavior": {"scaleDown": {"stabilizationWindowSeconds": 5}}}
    behavior = decoded(AUTOSCALERS, given, "v2")["spec"]["behavior"]
    assert behavior["scaleDown"] == {
        "stabilizationWindowSeconds": 5,
        "selectPolicy": "Max",
        "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
    }
    assert behavior["scaleUp"]["stabilizationWindowSeconds"] == 0
    assert [policy["value"] for policy in behavior["scaleUp"]["policies"]] == [4, 100]


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({}, []),
        (
            {"minReplicas": 0},
            [
                "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
                "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to "
                "zero replicas",
            ],
        ),
        (
            {"minReplicas": 6},
            ["spec.maxReplicas: Invalid value: 5: must be greater than or equal to `minReplicas`"],
        ),
        (
            {"scaleTargetRef": {**TARGET, "name": "a/b"}},
            ["spec.scaleTargetRef.name: Invalid value: \"a/b\": may not contain '/'"],
        ),
        (
            {"metrics": [{"type": "x"}]},
            2 * [f'spec.metrics[0].type: Unsupported value: "x": supported values: {SOURCES}'],
        ),
        (
            {"metrics": [{"type": "Resource"}]},
            ["spec.metrics[0].resource: Required value: must populate information for the given metric source"],
        ),
        (
            {"metrics": [{"type": "ContainerResource", "containerResource": {**USE, "name": "pages"}}]},
            [
                'spec.metrics[0].containerResource.name: Invalid value: "pages": '
                "must be a standard resource type or fully qualified",
                'spec.metrics[0].containerResource.name: Invalid value: "pages": '
                "must be a standard resource for containers",
            ],
        ),
        (
            {"behavior": {"scaleUp": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 1801}]}}},
            [
                "spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: "
                "must be less than or equal to 1800"
            ],
        ),
    ],
)
def test_rules(spec: dict[str, Any], wanted: list[str]) -> None:
    assert faults(AUTOSCALERS, {**SPEC, **spec}, "v2") == wanted


def shown(obj: dict[str, Any], version: str) -> dict[str, Any]:
    """An object in another version, by way of what is stored."""
    kind = AUTOSCALERS
    stored = kind.strategy.make_stored(kind, obj)
    return kind.strategy.read_stored(kind, kind.by_version[version], stored)


def test_the_metric_of_v1_is_one_of_v2() -> None:
    obj = made(AUTOSCALERS, {**SPEC, "targetCPUUtilizationPercentage": 50}, "v1")
    newer = shown(obj, "v2")
    assert newer["spec"]["metrics"] == [
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
    ]
    assert shown(newer, "v1")["spec"] == obj["spec"]


def test_what_v1_has_no_field_for_is_in_annotations() -> None:
    pods = {"metric": {"name": "rps"}, "target": {"type": "AverageValue", "averageValue": "10"}}
    given = {**SPEC, "metrics": [{"type": "Pods", "pods": pods}], "behavior": {"scaleUp": {"selectPolicy": "Min"}}}
    obj = made(AUTOSCALERS, given, "v2")
    older = shown(obj, "v1")
    notes = older["metadata"]["annotations"]
    assert notes["autoscaling.alpha.kubernetes.io/metrics"] == (
        '[{"type":"Pods","pods":{"metricName":"rps","targetAverageValue":"10"}}]'
    )
    assert '"SelectPolicy":"Min"' in notes["autoscaling.alpha.kubernetes.io/behavior"]
    assert "metrics" not in older["spec"]
    newer = shown(older, "v2")
    assert (newer["spec"]["metrics"], newer["spec"]["behavior"]) == (obj["spec"]["metrics"], obj["spec"]["behavior"])
    assert "annotations" not in newer["metadata"]


def test_annotations_that_are_none_of_ours_stay() -> None:
    given = {"autoscaling.alpha.kubernetes.io/metrics": "broken", "own": "x"}
    obj = made(AUTOSCALERS, SPEC, "v1", annotations=given)
    assert shown(obj, "v2")["metadata"]["annotations"]["own"] == "x"


@pytest.mark.parametrize(
    ("release", "gates", "status"),
    [("1.36", {}, 422), ("1.37", {}, 201), ("1.37", {"HPAScaleToZero": False}, 422)],
)
def test_an_autoscaler_can_scale_to_zero_behind_a_gate(release: str, gates: dict[str, bool], status: int) -> None:
    metric = {"metric": {"name": "queued"}, "target": {"type": "Value", "value": "1"}}
    spec = {**SPEC, "minReplicas": 0, "metrics": [{"type": "External", "external": metric}]}
    with Server(tls=False, kubernetes_version=release, feature_gates=gates, default_accounts=False) as server:
        path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
        answer = Client(server.url, server.token).post(path, {"metadata": {"name": "a"}, "spec": spec})
    assert answer.status == status


def test_version_1_shows_the_first_cpu_metric_with_a_utilization() -> None:
    metrics = [
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "1"}}},
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}},
    ]
    assert (
        versions.convert_to_v1({"metadata": {}, "spec": {**SPEC, "metrics": metrics}})["spec"][
            "targetCPUUtilizationPercentage"
        ]
        == 50
    )
