"""The Scale of built-in kinds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import Client

SETS = "/apis/apps/v1/namespaces/default/replicasets"


@pytest.fixture
def scaled(client: Client) -> Iterator[str]:
    """Where the Scale of a set with two pods is."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    terms = [{"key": "app", "operator": "In", "values": ["web", "other"]}]
    spec: dict[str, Any] = {"replicas": 2, "selector": {"matchExpressions": terms}, "template": template}
    body = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "scaled"}, "spec": spec}
    answer = client.post(SETS, body)
    assert answer.status == 201, answer.body
    yield f"{SETS}/scaled/scale"
    client.send("DELETE", f"{SETS}/scaled")


def test_it_says_what_selects_the_pods(client: Client, scaled: str) -> None:
    body = client.get(scaled).body
    assert body["spec"] == {"replicas": 2}
    assert body["status"] == {"replicas": 0, "selector": "app in (other,web)"}


def test_it_changes_the_replicas(client: Client, scaled: str) -> None:
    assert client.merge(scaled, {"spec": {"replicas": 5}}).body["spec"] == {"replicas": 5}
    whole = client.get(scaled.removesuffix("/scale")).body
    assert (whole["spec"]["replicas"], whole["metadata"]["generation"]) == (5, 2)


def test_none_is_a_number_too(client: Client, scaled: str) -> None:
    assert client.merge(scaled, {"spec": None}).body["spec"] == {}
    assert client.get(scaled.removesuffix("/scale")).body["spec"]["replicas"] == 0


def test_fewer_than_none_are_refused(client: Client, scaled: str) -> None:
    answer = client.merge(scaled, {"spec": {"replicas": -1}})
    assert answer.status == 422
    text = 'Scale.autoscaling "scaled" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0'
    assert answer.body["message"] == text


def test_it_can_be_applied(client: Client, scaled: str) -> None:
    body = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "scaled"}, "spec": {"replicas": 7}}
    where, media = f"{scaled}?fieldManager=me&force=true", "application/apply-patch+yaml"
    answer = client.send("PATCH", where, body, **{"Content-Type": media})
    assert (answer.status, answer.body["spec"]) == (200, {"replicas": 7})


def test_a_patch_that_makes_no_scale_is_shown_with_the_owners(client: Client, scaled: str) -> None:
    assert client.merge(f"{scaled}?fieldManager=me", {"spec": {"replicas": 4}}).status == 200
    refused = client.merge(scaled, {"spec": {"replicas": "x"}})
    assert refused.status == 422
    assert r"\"managedFields\":[{" in refused.body["message"]
    assert r"\"manager\":\"me\"" in refused.body["message"]
