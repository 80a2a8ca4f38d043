"""Facts about what happens by itself: definitions and namespaces that go take their objects with them."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from podless import Server
from podless.apis.catalog import ALL
from podless.apis.features import RECORDED
from podless.controllers import write
from podless.meta.errors import Unavailable
from podless.runtime.release import covers
from podless.verbs.call import API, Call
from podless.verbs.delete import remove_object
from tests.conftest import CRDS, Client, definition, gadget
from tests.eventually import until


@pytest.fixture
def group(client: Client) -> str:
    name = f"g{uuid.uuid4().hex[:8]}.example.com"
    assert client.post(CRDS, definition(name)).status == 201
    return name


def conditions(client: Client, group: str) -> dict[str, str]:
    body = client.get(f"{CRDS}/gadgets.{group}").body
    return {condition["type"]: condition["status"] for condition in body["status"].get("conditions", [])}


def test_a_definition_is_served_when_its_creation_is_answered(client: Client, group: str) -> None:
    assert conditions(client, group)["Established"] == "True"
    assert client.get(f"/apis/{group}/v1/gadgets").status == 200


def test_a_definition_that_goes_takes_its_objects_with_it(client: Client, group: str) -> None:
    path = f"/apis/{group}/v1/namespaces/default/gadgets"
    held = gadget(group, "held") | {"metadata": {"name": "held", "finalizers": ["example.com/hold"]}}
    assert [client.post(path, body).status for body in (gadget(group, "free"), held)] == [201, 201]
    client.send("DELETE", f"{CRDS}/gadgets.{group}")
    until(lambda: client.get(f"{path}/free").status == 404)
    assert conditions(client, group)["Terminating"] == "True"
    assert client.post(path, gadget(group, "late")).status == 403
    client.merge(f"{path}/held", {"metadata": {"finalizers": []}})
    until(lambda: client.get(f"{CRDS}/gadgets.{group}").status == 404)
    until(lambda: client.get(path).status == 404)


def test_a_namespace_that_goes_takes_its_objects_with_it(client: Client, group: str) -> None:
    name = f"n{uuid.uuid4().hex[:8]}"
    namespace = f"/api/v1/namespaces/{name}"
    made = client.post("/api/v1/namespaces", {"metadata": {"name": name}})
    assert made.body["spec"] == {"finalizers": ["kubernetes"]}
    path = f"/apis/{group}/v1/namespaces/{name}/gadgets"
    held = gadget(group, "held") | {"metadata": {"name": "held", "finalizers": ["example.com/hold"]}}
    assert [client.post(path, body).status for body in (gadget(group, "free"), held)] == [201, 201]
    client.send("DELETE", namespace)
    until(lambda: client.get(f"{path}/free").status == 404)
    until(lambda: "conditions" in client.get(namespace).body["status"])
    status = client.get(namespace).body["status"]
    assert status["phase"] == "Terminating"
    told = {condition["type"]: (condition["status"], condition["message"]) for condition in status["conditions"]}
    assert told["NamespaceDeletionContentFailure"][0] == "False"
    assert told["NamespaceContentRemaining"] == (
        "True",
        f"Some resources are remaining: gadgets.{group} has 1 resource instances",
    )
    assert told["NamespaceFinalizersRemaining"] == (
        "True",
        "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
    )
    late = client.post(path, gadget(group, "late"))
    assert (late.status, late.body["details"]["causes"][0]["reason"]) == (403, "NamespaceTerminating")
    client.merge(f"{path}/held", {"metadata": {"finalizers": []}})
    until(lambda: client.get(namespace).status == 404)


def test_objects_are_deleted_again_if_that_fails(
    client: Client, server: Server, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One object fails at first, those beside it are deleted, and the definition goes in the end."""
    path = f"/apis/{group}/v1/namespaces/default/gadgets"
    assert [client.post(path, gadget(group, name)).status for name in ("first", "second")] == [201, 201]
    failures = [Unavailable("the store does not answer")]

    async def fails_once(api: API, call: Call, *rest: Any) -> Any:
        if call.name == "first" and failures:
            raise failures.pop()
        return await remove_object(api, call, *rest)

    monkeypatch.setattr(write, "remove_object", fails_once)
    client.send("DELETE", f"{CRDS}/gadgets.{group}")
    until(lambda: client.get(f"{CRDS}/gadgets.{group}").status == 404)
    assert not failures


def test_an_empty_namespace_that_something_holds_has_conditions(client: Client) -> None:
    name = f"n{uuid.uuid4().hex[:8]}"
    namespace = f"/api/v1/namespaces/{name}"
    held = {"name": name, "finalizers": ["example.com/hold"]}
    assert client.post("/api/v1/namespaces", {"metadata": held}).status == 201
    client.send("DELETE", namespace)
    until(lambda: "finalizers" not in client.get(namespace).body["spec"])
    body = client.get(namespace).body
    told = [(condition["type"], condition["status"], condition["reason"]) for condition in body["status"]["conditions"]]
    assert told == [
        ("NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered"),
        ("NamespaceDeletionGroupVersionParsingFailure", "False", "ParsedGroupVersions"),
        ("NamespaceDeletionContentFailure", "False", "ContentDeleted"),
        ("NamespaceContentRemaining", "False", "ContentRemoved"),
        ("NamespaceFinalizersRemaining", "False", "ContentHasNoFinalizers"),
    ]
    assert "kube-controller-manager" in [field["manager"] for field in body["metadata"]["managedFields"]]
    client.merge(namespace, {"metadata": {"finalizers": None}})
    until(lambda: client.get(namespace).status == 404)


def test_names_that_are_taken_are_not_accepted(client: Client, group: str) -> None:
    second = definition(group, plural="widgets", kind="Gadget")
    assert client.post(CRDS, second).status == 201
    body = client.get(f"{CRDS}/widgets.{group}").body
    assert {c["type"]: c["status"] for c in body["status"]["conditions"]}["NamesAccepted"] == "False"
    assert client.get(f"/apis/{group}/v1/widgets").status == 404
    client.send("DELETE", f"{CRDS}/gadgets.{group}")
    until(lambda: client.get(f"/apis/{group}/v1/widgets").status == 200)


_CONTAINERS: dict[str, object] = {"containers": [{"name": "c", "image": "i"}]}
_TEMPLATE: dict[str, object] = {"metadata": {"labels": {"app": "any"}}, "spec": _CONTAINERS}
_ONCE: dict[str, object] = {"spec": {**_CONTAINERS, "restartPolicy": "Never"}}
_REPLICATED: dict[str, object] = {"spec": {"selector": {"matchLabels": {"app": "any"}}, "template": _TEMPLATE}}
# what a built-in kind needs beside a name
NEEDED: dict[str, dict[str, object]] = {
    "rolebindings": {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}},
    "csistoragecapacities": {"storageClassName": "c"},
    "endpointslices": {"addressType": "IPv4"},
    "persistentvolumeclaims": {
        "metadata": {"name": "any"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    },
    "resourceclaims": {"spec": {}},
    "resourceclaimtemplates": {"spec": {"spec": {}}},
    "services": {"spec": {"clusterIP": "None"}},
    "controllerrevisions": {"data": {}},
    "cronjobs": {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": _ONCE}}}},
    "daemonsets": _REPLICATED,
    "deployments": _REPLICATED,
    "horizontalpodautoscalers": {
        "spec": {"maxReplicas": 1, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "any"}}
    },
    "ingresses": {"spec": {"defaultBackend": {"service": {"name": "any", "port": {"number": 80}}}}},
    "jobs": {"spec": {"template": _ONCE}},
    "limitranges": {"spec": {"limits": [{"type": "Container"}]}},
    "networkpolicies": {"spec": {"podSelector": {}}},
    "poddisruptionbudgets": {"spec": {"selector": {}}},
    "pods": {"spec": {**_CONTAINERS, "terminationGracePeriodSeconds": 0}},
    "podtemplates": {"template": _TEMPLATE},
    "replicasets": _REPLICATED,
    "replicationcontrollers": {"spec": {"selector": {"app": "any"}, "template": _TEMPLATE}},
    "statefulsets": _REPLICATED,
}


def test_a_namespace_that_goes_takes_every_built_in_kind_with_it(client: Client) -> None:
    name = f"n{uuid.uuid4().hex[:8]}"
    assert client.post("/api/v1/namespaces", {"metadata": {"name": name}}).status == 201
    made = []
    for kind in ALL:
        if not kind.namespaced or not {"create", "delete"} <= set(kind.verbs) or kind.home is not None:
            continue
        if not any(covers(version.releases, RECORDED) for version in kind.versions):
            continue
        root = f"/apis/{kind.group}/{kind.storage_version}" if kind.group else f"/api/{kind.storage_version}"
        path = f"{root}/namespaces/{name}/{kind.plural}"
        body = {"metadata": {"name": "any"}, "involvedObject": {"namespace": name}, **NEEDED.get(kind.plural, {})}
        assert client.post(path, body).status == 201, kind.plural
        made.append(f"{path}/any")
    assert len(made) >= 8
    client.send("DELETE", f"/api/v1/namespaces/{name}")
    claim = f"/api/v1/namespaces/{name}/persistentvolumeclaims/any"
    until(lambda: [path for path in made if client.get(path).status != 404] == [claim])
    # kube-controller-manager lets go of a claim that no pod uses; nothing here does
    assert client.merge(claim, {"metadata": {"finalizers": None}}).status == 200
    until(lambda: client.get(f"/api/v1/namespaces/{name}").status == 404)
    assert [path for path in made if client.get(path).status != 404] == []


def test_nothing_else_goes_while_a_namespace_has_pods(client: Client) -> None:
    name = f"n{uuid.uuid4().hex[:8]}"
    namespace = f"/api/v1/namespaces/{name}"
    client.post("/api/v1/namespaces", {"metadata": {"name": name}})
    held = {"name": "held", "finalizers": ["example.com/hold"]}
    pod = {"metadata": held, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    assert client.post(f"{namespace}/pods", pod).status == 201
    assert client.post(f"{namespace}/configmaps", {"metadata": {"name": "needed"}}).status == 201
    client.send("DELETE", namespace)
    until(lambda: "conditions" in client.get(namespace).body["status"])
    status = client.get(namespace).body["status"]
    told = {condition["type"]: condition["message"] for condition in status["conditions"]}
    assert told["NamespaceContentRemaining"] == "All content successfully removed"  # counted once the pods are gone
    assert client.get(f"{namespace}/configmaps/needed").status == 200
    client.merge(f"{namespace}/pods/held", {"metadata": {"finalizers": None}})
    until(lambda: client.get(namespace).status == 404)
    assert client.get(f"{namespace}/configmaps/needed").status == 404
