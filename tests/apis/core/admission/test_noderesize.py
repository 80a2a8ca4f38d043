"""Facts about resizes of pods and their nodes."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.conftest import Client

_PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture
def node(client: Client) -> str:
    """A node with one CPU and the path of a pod on it."""
    name = f"n{uuid.uuid4().hex[:8]}"
    assert client.post("/api/v1/nodes", {"metadata": {"name": name}}).status == 201
    has = {"status": {"allocatable": {"cpu": "1", "memory": "1Ki"}}}
    assert client.merge(f"/api/v1/nodes/{name}/status", has).status == 200
    return name


def make_pod(client: Client, node: str) -> str:
    """Create a pod on a node. Returns its path."""
    name = f"p{uuid.uuid4().hex[:8]}"
    asked = {"requests": {"cpu": "100m", "memory": "1"}}
    spec = {"nodeName": node, "containers": [{"name": "c", "image": "i", "resources": asked}]}
    assert client.post(_PODS, {"metadata": {"name": name}, "spec": spec}).status == 201
    return f"{_PODS}/{name}"


def resize(client: Client, path: str, **spec: Any) -> tuple[int, str, Any]:
    body = client.send("PATCH", f"{path}/resize", {"spec": spec}, Content_Type="application/strategic-merge-patch+json")
    said = body.body.get("message", "").partition(" is forbidden: ")[2]
    return body.status, said, (body.body.get("details") or {}).get("causes")


def container(**requests: str) -> list[dict[str, Any]]:
    return [{"name": "c", "resources": {"requests": requests}}]


def test_a_pod_is_resized_only_if_its_node_exists(client: Client) -> None:
    path = make_pod(client, "none")
    assert resize(client, path, containers=container(cpu="200m")) == (403, 'node "none" not found', None)
    assert resize(client, path, containers=container(cpu="100m"))[0] == 200  # nothing changes


def test_a_pod_is_resized_only_up_to_what_its_node_has(client: Client, node: str) -> None:
    path = make_pod(client, node)
    assert resize(client, path, containers=container(cpu="1"))[0] == 200
    lacks = "node didn't have enough allocatable resources: "
    lacks += "cpu, requested: 1001, allocatable: 1000; memory, requested: 2048, allocatable: 1024"
    answer = resize(client, path, containers=container(cpu="1001m", memory="2Ki"))
    assert answer == (403, lacks, [{"reason": "NodeCapacity"}])


def test_pods_are_resized_on_linux_only(client: Client, node: str) -> None:
    path = make_pod(client, node)
    client.merge(f"/api/v1/nodes/{node}", {"metadata": {"labels": {"kubernetes.io/os": "windows"}}})
    said = f'pod resize is only supported on linux nodes, node "{node}" is "windows"'
    answer = resize(client, path, containers=container(cpu="200m"))
    assert answer == (403, said, [{"reason": "UnsupportedPlatform"}])


def test_resources_of_the_whole_pod_need_a_feature_of_the_node(client: Client, node: str) -> None:
    path = make_pod(client, node)
    feature = "InPlacePodLevelResourcesVerticalScaling"
    said = f'pod update requires features {feature} which are not available on node "{node}"'
    assert resize(client, path, resources={"requests": {"cpu": "500m"}}) == (403, said, None)
    declared = {"status": {"declaredFeatures": [feature]}}
    assert client.merge(f"/api/v1/nodes/{node}/status", declared).status == 200
    assert resize(client, path, resources={"requests": {"cpu": "500m"}})[0] == 200
