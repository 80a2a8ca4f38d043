"""Nodes: new ones are not ready, and some of what is known of them stays."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.conftest import Client

NODES = "/api/v1/nodes"


@pytest.fixture
def node(client: Client) -> dict[str, Any]:
    """A node with a range."""
    spec = {"podCIDR": "10.0.0.0/24", "providerID": "x"}
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{uuid.uuid4().hex[:8]}"}, "spec": spec}
    answer = client.post(NODES, body | {"status": {"capacity": {"cpu": "4"}}})
    assert answer.status == 201, answer.body
    return dict(answer.body)


def test_new_ones_are_not_ready(node: dict[str, Any]) -> None:
    assert node["spec"]["taints"] == [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
    assert node["spec"]["podCIDRs"] == ["10.0.0.0/24"]
    assert node["status"]["allocatable"] == {"cpu": "4"}
    assert "generation" not in node["metadata"]


def test_rules(client: Client, node: dict[str, Any]) -> None:
    path = f"{NODES}/{node['metadata']['name']}"
    taints = [{"key": "a", "effect": "NoSchedule"}] * 2
    causes = client.merge(path, {"spec": {"taints": taints}}).body["details"]["causes"]
    assert {cause["field"] for cause in causes} == {"metadata.taints[1]"}
    assert causes[0]["message"] == (
        'Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}: '
        "taints must be unique by key and effect pair"
    )
    refused = client.merge(path, {"spec": {"providerID": "y"}}).body["details"]["causes"]
    assert [one["field"] for one in refused] == ["spec.providerID"]
    addresses = [{"type": "Hostname", "address": "a"}] * 2
    twice = client.merge(f"{path}/status", {"status": {"addresses": addresses}}).body["details"]["causes"]
    assert twice[0]["message"] == 'Duplicate value: {"Type":"Hostname","Address":"a"}'
    ranges = {"metadata": {"name": f"n{uuid.uuid4().hex[:8]}"}, "spec": {"podCIDRs": ["10.0.0.0/24", "x"]}}
    causes = client.post(NODES, {"apiVersion": "v1", "kind": "Node", **ranges}).body["details"]["causes"]
    assert "error:invalid CIDR[1]: <nil> (invalid CIDR address: x)" in causes[1]["message"]
    ranges["spec"] = {"podCIDRs": ["10.0.0.0/24", "10.0.0.0/24"]}
    causes = client.post(NODES, {"apiVersion": "v1", "kind": "Node", **ranges}).body["details"]["causes"]
    assert [cause["field"] for cause in causes] == ["spec.podCIDRs"]


def test_selected_by_whether_they_take_pods(client: Client, node: dict[str, Any]) -> None:
    name = node["metadata"]["name"]
    client.merge(f"{NODES}/{name}", {"spec": {"unschedulable": True}})
    found = client.get(f"{NODES}?fieldSelector=spec.unschedulable%3Dtrue").body["items"]
    assert name in [one["metadata"]["name"] for one in found]


_TAINTS, _AVOIDED = "scheduler.alpha.kubernetes.io/taints", "scheduler.alpha.kubernetes.io/preferAvoidPods"

_OF_NULL = [f"metadata.annotations.{_TAINTS}[1].{name}" for name in ("key", "key", "effect")]


@pytest.mark.parametrize(
    ("key", "text", "wanted"),
    [
        (_TAINTS, "", []),
        (_TAINTS, '[{"Key": "a", "effect": "NoSchedule"}, null]', _OF_NULL),
        (_TAINTS, '[{"key": "a", "effect": "No"}]', [f"metadata.annotations.{_TAINTS}[0].effect"]),
        (_TAINTS, '[{"key": 1}]', ["metadata.annotations"]),
        (_AVOIDED, "null", []),
        (_AVOIDED, "[]", ["metadata.annotations.AvoidPods"]),
        (_AVOIDED, '{"preferAvoidPods": [{}]}', [f"metadata.annotations.{_AVOIDED}[0].PodSignature"]),
        (_AVOIDED, '{"preferAvoidPods": [{"podSignature": {"podController": {"controller": true}}}]}', []),
    ],
)
def test_taints_in_annotations(client: Client, key: str, text: str, wanted: list[str]) -> None:
    body = {"metadata": {"name": f"n{uuid.uuid4().hex[:8]}", "annotations": {key: text}}}
    answer = client.post(NODES, body)
    found = [cause["field"] for cause in answer.body["details"].get("causes", ())] if answer.status == 422 else []
    assert found == wanted


def test_swap(client: Client) -> None:
    body = {"metadata": {"name": "swapped"}, "status": {"nodeInfo": {"swap": {"capacity": 0}}}}
    (cause,) = client.post(NODES, body).body["details"]["causes"]
    assert (cause["field"], cause["message"]) == (
        "metadata.nodeSwapStatus.capacity",
        "Invalid value: 0: must be greater than zero",
    )
