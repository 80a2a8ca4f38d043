"""ReplicaSets."""

from __future__ import annotations

from typing import Any

from podless.apis.apps.group import REPLICA_SETS
from tests.apis.late import decoded, faults, reported, template

SPEC: dict[str, Any] = {"selector": {"matchLabels": {"app": "web"}}, "template": template()}


def test_one_replica_by_default() -> None:
    assert decoded(REPLICA_SETS, SPEC)["spec"]["replicas"] == 1


def test_rules() -> None:
    assert not faults(REPLICA_SETS, SPEC)
    found = faults(REPLICA_SETS, {**SPEC, "minReadySeconds": -1, "selector": {}})
    assert found == [
        "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
        "spec.selector: Invalid value: {}: empty selector is invalid for deployment",
    ]


def test_labels_that_are_empty_are_shown_as_such() -> None:
    said = "spec.template.metadata.labels: Invalid value: {}: `selector` does not match template `labels`"
    spec = {**SPEC["template"], "metadata": {"labels": {}}}
    assert faults(REPLICA_SETS, {**SPEC, "template": spec}) == [said.format("{}")]
    assert faults(REPLICA_SETS, {**SPEC, "template": {**spec, "metadata": {}}}) == [said.format("null")]
    everything = {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}
    assert "labels" not in decoded(REPLICA_SETS, {**SPEC, "selector": everything, "template": spec})["spec"]["template"]


def test_a_selector_that_is_none() -> None:
    found = faults(REPLICA_SETS, {**SPEC, "selector": {"matchLabels": {"app": "a b"}}})
    assert [text for text in found if text.endswith("invalid label selector")]


def test_status() -> None:
    assert reported(REPLICA_SETS, SPEC, {"replicas": 1, "fullyLabeledReplicas": 2}) == [
        "status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas"
    ]
