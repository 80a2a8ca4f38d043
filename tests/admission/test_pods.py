"""What is added to pods, and what keeps them out: priorities, tolerations, limits, and pod security."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from podless.apis.policy.podsecuritystandards import find_violations
from tests.conftest import Answer, Client

LABEL = "pod-security.kubernetes.io/"
SAFE = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


@pytest.fixture
def namespace(client: Client) -> str:
    """A namespace of its own."""
    name = f"n{uuid.uuid4().hex[:8]}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    assert client.post("/api/v1/namespaces", body).status == 201
    return f"/api/v1/namespaces/{name}"


def post(client: Client, namespace: str, name: str = "p", **spec: Any) -> Answer:
    full = {"containers": [{"name": "c", "image": "nginx:1"}], **spec}
    return client.post(
        f"{namespace}/pods", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": full}
    )


def test_pods_tolerate_bad_nodes_for_a_while(client: Client, namespace: str) -> None:
    own = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
    spec = post(client, namespace, tolerations=[own]).body["spec"]
    assert spec["tolerations"][0] == own
    assert [(toleration["key"], toleration["tolerationSeconds"]) for toleration in spec["tolerations"][1:]] == [
        ("node.kubernetes.io/unreachable", 300)
    ]
    assert len(post(client, namespace, "q", tolerations=[{"operator": "Exists"}]).body["spec"]["tolerations"]) == 1


def test_priorities_are_those_of_classes(client: Client, namespace: str) -> None:
    name = f"c{uuid.uuid4().hex[:8]}"
    known = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 7}
    assert client.post("/apis/scheduling.k8s.io/v1/priorityclasses", known).status == 201
    spec = post(client, namespace, priorityClassName=name).body["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (7, "PreemptLowerPriority")
    assert post(client, namespace, "q", priorityClassName=name, priority=8).status == 403
    refused = post(client, namespace, "r", priorityClassName="none").body["message"]
    assert refused == 'pods "r" is forbidden: no PriorityClass with name none was found'


def test_limits_fill_in_and_refuse(client: Client, namespace: str) -> None:
    limit = {"type": "Container", "default": {"cpu": "500m"}, "max": {"cpu": "1"}}
    body = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": [limit]}}
    assert client.post(f"{namespace}/limitranges", body).status == 201
    pod = post(client, namespace).body
    assert pod["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "500m"}
    assert "kubernetes.io/limit-ranger" in pod["metadata"]["annotations"]
    much = {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}
    refused = post(client, namespace, "q", containers=[{"name": "c", "image": "i", "resources": much}])
    assert refused.body["message"] == ('pods "q" is forbidden: maximum cpu usage per Container is 1, but limit is 2')


def test_a_pod_requests_what_its_namespace_gives_to_its_containers(client: Client, namespace: str) -> None:
    limit = {"type": "Container", "default": {"memory": "2G"}}
    body = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": [limit]}}
    assert client.post(f"{namespace}/limitranges", body).status == 201
    spec = post(client, namespace, resources={"limits": {"cpu": "1"}}).body["spec"]
    assert spec["resources"] == {"limits": {"cpu": "1"}, "requests": {"cpu": "1", "memory": "2G"}}


def test_namespaces_say_what_pods_may_do(client: Client, namespace: str) -> None:
    assert post(client, namespace, hostNetwork=True).status == 201
    labels = {"metadata": {"labels": {f"{LABEL}enforce": "baseline", f"{LABEL}warn": "restricted"}}}
    changed = client.merge(namespace, labels)
    assert changed.status == 200
    assert "existing pods in namespace" in str(changed.headers.get("Warning"))
    refused = post(client, namespace, "q", hostPID=True)
    assert refused.status == 403
    assert 'violates PodSecurity "baseline:latest": host namespaces (hostPID=true)' in refused.body["message"]
    warned = post(client, namespace, "r")
    assert warned.status == 201
    assert "would violate PodSecurity" in str(warned.headers.get("Warning"))
    assert (
        "Warning"
        not in post(client, namespace, "s", containers=[{"name": "c", "image": "i:1", "securityContext": SAFE}]).headers
    )
    wrong = client.merge(namespace, {"metadata": {"labels": {f"{LABEL}enforce": "none"}}})
    assert wrong.body["details"]["causes"][0]["field"] == f"metadata.labels[{LABEL}enforce]"


@pytest.mark.parametrize(
    ("level", "minor", "spec", "found"),
    [
        ("privileged", 36, {"hostPID": True}, []),
        ("baseline", 36, {"volumes": [{"name": "v", "hostPath": {}}]}, [("hostPath volumes", 'volume "v"')]),
        ("baseline", 36, {"securityContext": {"sysctls": [{"name": "x"}]}}, [("forbidden sysctls", "x")]),
        (
            "baseline",
            31,
            {"securityContext": {"sysctls": [{"name": "net.ipv4.tcp_rmem"}]}},
            [("forbidden sysctls", "net.ipv4.tcp_rmem")],
        ),
        ("baseline", 32, {"securityContext": {"sysctls": [{"name": "net.ipv4.tcp_rmem"}]}}, []),
        ("restricted", 36, {"securityContext": {"runAsUser": 0}}, [("runAsUser=0", "pod must not set runAsUser=0")]),
        ("restricted", 36, {"securityContext": {"runAsUser": 0}, "hostUsers": False}, []),
        (
            "restricted",
            36,
            {"volumes": [{"name": "v", "hostPath": {}}]},
            [("restricted volume types", 'volume "v" uses restricted volume type "hostPath"')],
        ),
    ],
)
def test_standards(level: str, minor: int, spec: dict[str, Any], found: list[tuple[str, str]]) -> None:
    safe = {"containers": [{"name": "c", "securityContext": SAFE}]}
    assert find_violations(level, minor, {}, safe | spec) == found


def test_what_is_said_of_containers() -> None:
    risky = {"privileged": True, "capabilities": {"add": ["NET_RAW", "CHOWN"]}, "procMount": "Unmasked"}
    ports = [{"containerPort": 1, "hostPort": 80}, {"containerPort": 2, "hostPort": 8080}]
    spec = {"containers": [{"name": "a", "securityContext": risky}, {"name": "b", "ports": ports}]}
    assert find_violations("baseline", 36, {}, spec) == [
        ("non-default capabilities", 'container "a" must not include "NET_RAW" in securityContext.capabilities.add'),
        ("hostPort", 'container "b" uses hostPorts 80, 8080'),
        ("privileged", 'container "a" must not set securityContext.privileged=true'),
        ("procMount", 'container "a" must not set securityContext.procMount to "Unmasked"'),
    ]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "resource name may not be empty"),
        ("a/b", "invalid resource name \"a/b\": [may not contain '/']"),
        ("a/%", "invalid resource name \"a/%\": [may not contain '/' may not contain '%']"),
        ("..", "invalid resource name \"..\": [may not be '..']"),
    ],
)
def test_a_runtime_that_no_path_can_name_is_a_fault_of_the_server(
    client: Client, namespace: str, name: str, told: str
) -> None:
    refused = post(client, namespace, runtimeClassName=name)
    assert (refused.status, refused.body["message"]) == (500, told)
