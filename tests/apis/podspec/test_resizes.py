"""Resizes of pods, and restart rules, in releases without the gates for them."""

from __future__ import annotations

from typing import Any

import pytest

from podless import Server
from tests.conftest import Client

PODS = "/api/v1/namespaces/default/pods"
_IMMUTABLE = "Forbidden: resources for non-sidecar init containers are immutable"
_SIDECARS = "Forbidden: only cpu and memory resources for sidecar containers are mutable"
_BY_GATE = (
    "Forbidden: resize of pods with pod-level resources is forbidden when "
    "InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"
)


def amounts(cpu: str) -> dict[str, Any]:
    return {field_name: {"cpu": cpu, "memory": "1Gi"} for field_name in ("requests", "limits")}


def resize(client: Client, name: str, **spec: Any) -> list[str]:
    content = "application/strategic-merge-patch+json"
    answer = client.send("PATCH", f"{PODS}/{name}/resize", {"spec": spec}, Content_Type=content)
    return [cause["message"] for cause in answer.body["details"]["causes"]] if answer.status == 422 else []


@pytest.mark.parametrize(
    ("release", "own", "init"),
    [
        ("1.34", ["Forbidden: pods with pod-level resources cannot be resized"], [_IMMUTABLE]),
        ("1.35", [_BY_GATE], [_IMMUTABLE]),
        ("1.36", [], []),
    ],
)
def test_what_can_be_resized(release: str, own: list[str], init: list[str]) -> None:
    container = {"name": "c", "image": "i", "resources": amounts("1")}
    first = [{"name": "i", "image": "i", "resources": amounts("1")}]
    aside = [{"name": "s", "image": "i", "restartPolicy": "Always", "resources": amounts("1")}]
    with Server(tls=False, kubernetes_version=release, default_accounts=False) as server:
        client = Client(server.url, server.token)
        whole = {"containers": [container], "resources": amounts("1")}
        client.post(PODS, {"metadata": {"name": "whole"}, "spec": whole})
        parts = {"containers": [container], "initContainers": first + aside}
        client.post(PODS, {"metadata": {"name": "parts"}, "spec": parts})
        assert resize(client, "whole", resources=amounts("2")) == own
        assert resize(client, "parts", initContainers=[{"name": "i", "resources": amounts("2")}]) == init
        assert resize(client, "parts", initContainers=[{"name": "s", "resources": amounts("2")}]) == []
        odd = {"name": "s", "resources": {"requests": {"ephemeral-storage": "1"}}}
        told = resize(client, "parts", initContainers=[odd])
        assert (_SIDECARS in told) == bool(init), told


@pytest.mark.parametrize(("release", "status"), [("1.35", 422), ("1.36", 201)])
def test_all_containers_are_restarted_where_the_gate_is_on(release: str, status: int) -> None:
    rule = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}
    container = {"name": "c", "image": "i", "restartPolicy": "Never", "restartPolicyRules": [rule]}
    with Server(tls=False, kubernetes_version=release, default_accounts=False) as server:
        client = Client(server.url, server.token)
        assert client.post(PODS, {"metadata": {"name": "p"}, "spec": {"containers": [container]}}).status == status
