"""What is done to pods beside writing them: they end in their own time, are bound to nodes, and evicted."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.conftest import Client

GONE = {"apiVersion": "v1", "kind": "DeleteOptions"}


@pytest.fixture
def pods(client: Client) -> str:
    """The pods of a namespace of its own."""
    name = f"n{uuid.uuid4().hex[:8]}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    assert client.post("/api/v1/namespaces", body).status == 201
    return f"/api/v1/namespaces/{name}/pods"


def make(client: Client, pods: str, name: str = "p", **spec: Any) -> dict[str, Any]:
    full = {"containers": [{"name": "c", "image": "nginx:1"}], **spec}
    metadata = {"name": name, "labels": {"app": "web"}}
    answer = client.post(pods, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": full})
    assert answer.status == 201, answer.body
    return dict(answer.body)


def bind(client: Client, pods: str, name: str = "p") -> Any:
    target = {"apiVersion": "v1", "kind": "Node", "name": "node-1"}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
    return client.post(f"{pods}/{name}/binding", body)


def test_a_pod_is_bound_once(client: Client, pods: str) -> None:
    make(client, pods)
    assert (bind(client, pods).status, bind(client, pods).status) == (201, 409)
    assert client.get(f"{pods}/p").body["spec"]["nodeName"] == "node-1"


def test_what_runs_is_given_time_to_end(client: Client, pods: str) -> None:
    make(client, pods)
    bind(client, pods)
    ending = client.send("DELETE", f"{pods}/p", {**GONE, "gracePeriodSeconds": 20}).body
    assert ending["metadata"]["deletionGracePeriodSeconds"] == 20
    later = client.send("DELETE", f"{pods}/p", {**GONE, "gracePeriodSeconds": 40}).body
    assert later["metadata"]["deletionTimestamp"] == ending["metadata"]["deletionTimestamp"]
    sooner = client.send("DELETE", f"{pods}/p", {**GONE, "gracePeriodSeconds": 5}).body
    assert sooner["metadata"]["deletionGracePeriodSeconds"] == 5
    assert client.send("DELETE", f"{pods}/p", {**GONE, "gracePeriodSeconds": 0}).status == 200
    assert client.get(f"{pods}/p").status == 404


def test_what_was_never_bound_goes_at_once(client: Client, pods: str) -> None:
    make(client, pods)
    assert client.send("DELETE", f"{pods}/p").body["kind"] == "Pod"
    assert client.get(f"{pods}/p").status == 404


def test_evictions_keep_to_budgets(client: Client, pods: str) -> None:
    make(client, pods)
    bind(client, pods)
    ready = {"conditions": [{"type": "Ready", "status": "True"}], "phase": "Running"}
    assert client.merge(f"{pods}/p/status", {"status": ready}).status == 200
    budgets = pods.replace("/api/v1", "/apis/policy/v1").replace("/pods", "/poddisruptionbudgets")
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    body = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": spec}
    assert client.post(budgets, body).status == 201
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
    assert client.post(f"{pods}/p/eviction", eviction).status == 429
    allowed = {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1}
    status = {**allowed, "expectedPods": 2}
    assert client.merge(f"{budgets}/b/status", {"status": status}).status == 200
    assert client.post(f"{pods}/p/eviction", eviction).status == 201
    assert client.get(f"{budgets}/b").body["status"]["disruptionsAllowed"] == 0
    assert client.get(f"{pods}/p").body["metadata"]["deletionGracePeriodSeconds"] == 30


def test_little_of_a_pod_changes(client: Client, pods: str) -> None:
    make(client, pods)
    changed = {"spec": {"containers": [{"name": "c", "image": "nginx:2"}]}}
    assert client.merge(f"{pods}/p", changed).body["metadata"]["generation"] == 2
    labels = {"metadata": {"labels": {"a/b/c": "d"}}}
    assert len(client.merge(f"{pods}/p", labels).body["details"]["causes"]) == 4  # a real server looks as often
    answer = client.merge(f"{pods}/p", {"spec": {"hostNetwork": True}})
    assert answer.status == 422
    message = answer.body["details"]["causes"][0]["message"]
    assert message.startswith("Forbidden: pod updates may not change fields other than")
    assert '- "HostNetwork": false,\n' in message.replace('  "', ' "').replace("-  ", "- ")


def test_containers_for_a_look_and_resources_have_endpoints_of_their_own(client: Client, pods: str) -> None:
    make(client, pods, containers=[{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}])
    look = {"spec": {"ephemeralContainers": [{"name": "look", "image": "busybox"}]}}
    assert client.merge(f"{pods}/p", look).status == 422
    assert client.merge(f"{pods}/p/ephemeralcontainers", look).status == 200
    more = {"spec": {"containers": [{"name": "c", "image": "other", "resources": {"requests": {"cpu": "2"}}}]}}
    resized = client.merge(f"{pods}/p/resize", more).body["spec"]["containers"][0]
    assert (resized["image"], resized["resources"]["requests"]["cpu"]) == ("i", "2")


def test_fields_to_select_pods_by(client: Client, pods: str) -> None:
    make(client, pods)
    make(client, pods, "q")
    bind(client, pods)
    found = client.get(f"{pods}?fieldSelector=spec.nodeName%3Dnode-1").body["items"]
    assert [one["metadata"]["name"] for one in found] == ["p"]
    assert client.get(f"{pods}?fieldSelector=spec.host%3Dnode-1").body["items"] == found
    for end, count in (("%3Dx", 0), ("!%3Dx", 2)):
        assert len(client.get(f"{pods}?fieldSelector=status.podIPs{end}").body["items"]) == count
    assert len(client.get(f"{pods}?fieldSelector=status.phase%3DPending").body["items"]) == 2
    assert client.get(f"{pods}?fieldSelector=spec.other%3Dx").status == 400


def test_no_node_is_behind_the_server(client: Client, pods: str) -> None:
    make(client, pods)
    two = [{"name": "a", "image": "i"}, {"name": "b", "image": "i"}]
    make(client, pods, "q", containers=two)
    assert client.get(f"{pods}/q/log").body["message"] == (
        "a container name must be specified for pod q, choose one of: [a b]"
    )
    assert client.get(f"{pods}/q/log?container=x").body["message"] == "container x is not valid for pod q"
    assert client.get(f"{pods}/p/log?tailLines=-1").status == 422
    assert client.get(f"{pods}/p/log?tailLines=x").status == 400
    asked = client.post(f"{pods}/p/exec?command=ls", {})
    assert (asked.status, asked.body["message"]) == (400, "pod p does not have a host assigned")
    assert client.get(f"{pods}/p/proxy").body["message"] == "address not allowed"
    bind(client, pods)
    assert client.get(f"{pods}/p/log").body["message"] == 'pods "node-1" not found'
    assert client.get(f"{pods}/none/log").status == 404


def test_dry_runs_of_an_eviction_agree(client: Client, pods: str) -> None:
    body = {"metadata": {"name": "none"}, "deleteOptions": {"dryRun": ["All", "All"]}}
    refused = client.send("POST", f"{pods}/none/eviction?dryRun=All", body)
    assert refused.status == 500
    assert refused.body["message"] == "Non-matching dry-run options in request and content: [All] and [All All]"


def test_the_older_endpoint_of_bindings_names_the_pod(client: Client, pods: str) -> None:
    home = pods.replace("/pods", "/bindings")
    assert client.send("POST", home, {"metadata": {"name": "none"}}).body["message"] == "target.name: Required value"
    refused = client.send("POST", home, {"metadata": {"name": "none"}, "target": {"name": "n"}})
    assert (refused.status, refused.body["message"]) == (404, 'pods "none" not found')


def test_an_eviction_says_how_to_delete_as_a_delete_does(client: Client, pods: str) -> None:
    make(client, pods, "odd")
    body = {"metadata": {"name": "odd"}, "deleteOptions": {"propagationPolicy": "odd"}}
    refused = client.send("POST", f"{pods}/odd/eviction", body)
    assert refused.status == 422
    assert [cause["field"] for cause in refused.body["details"]["causes"]] == ["propagationPolicy"]


def test_an_eviction_does_not_delete_what_cannot_be_read(client: Client, pods: str) -> None:
    name = "ignoreStoreReadErrorWithClusterBreakingPotential"
    body = {"metadata": {"name": "none"}, "deleteOptions": {name: True}}
    refused = client.send("POST", f"{pods}/none/eviction", body)
    assert [cause["field"] for cause in refused.body["details"]["causes"]] == [f"deleteOptions.{name}"]
