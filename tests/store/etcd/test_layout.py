"""What a kube-apiserver has written to etcd is served, and what is written here is as it would write it."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from podless.apis import catalog
from podless.store.etcd import messages as m
from podless.store.etcd.client import EtcdClient as Etcd
from podless.store.etcd.settings import Etcd as Settings
from podless.structs import protobuf
from podless.structs.wire import encode_varint
from tests.conftest import CRDS, Client, definition, gadget

GROUP = "layout.example.com"
WHEN = "2023-11-14T22:13:20Z"


class Raw:
    """etcd itself, below a prefix of its own."""

    def __init__(self, url: str) -> None:
        self.settings = Settings(servers=(url,), prefix=f"/{uuid.uuid4().hex}")

    def _ask(self, name: str, request: Any) -> Any:
        async def ask() -> Any:
            client = Etcd(self.settings)
            client.open()
            try:
                return await client.call_etcd(name, request)
            finally:
                await client.close()

        return asyncio.run(ask())

    def key(self, name: str) -> bytes:
        return f"{self.settings.prefix}/{name}".encode()

    def put(self, name: str, value: bytes) -> None:
        self._ask("put", m.PutRequest(key=self.key(name), value=value))

    def get(self, name: str) -> bytes:
        (found,) = self._ask("range", m.RangeRequest(key=self.key(name))).kvs
        value: bytes = found.value
        return value


@pytest.fixture
def raw(etcd: str) -> Raw:
    return Raw(etcd)


@pytest.fixture
def client(raw: Raw) -> Iterator[Client]:
    """Of a server over it."""
    with Server(store="etcd", etcd=raw.settings) as server:
        client = Client(server.url, server.token)
        yield client
        client.close()


def text(number: int, value: str) -> bytes:
    return message(number, value.encode())


def message(number: int, value: bytes) -> bytes:
    return encode_varint(number << 3 | 2) + encode_varint(len(value)) + value


def namespace(name: str, uid: str) -> bytes:
    """A Namespace as Go's own encoder writes it: what is no pointer is there even where it is empty."""
    head = text(1, "v1") + text(2, "Namespace")
    label = message(11, text(1, "team") + text(2, "blue"))
    created = message(8, b"\x08" + encode_varint(1_700_000_000) + b"\x10\x00")
    meta = b"".join(text(number, value) for number, value in enumerate((name, "", "", "", uid, ""), 1))
    meta += b"\x38\x00" + created + label
    obj = message(1, meta) + message(2, text(1, "kubernetes")) + message(3, text(1, "Active"))
    return b"k8s\0" + message(1, head) + message(2, obj) + text(3, "") + text(4, "")


def test_built_in_kinds_are_read_in_protobuf(raw: Raw, client: Client) -> None:
    raw.put("namespaces/blue", namespace("blue", "11-22"))
    found = client.get("/api/v1/namespaces/blue").body
    assert found["metadata"] | {"resourceVersion": ""} == {
        "name": "blue",
        "uid": "11-22",
        "resourceVersion": "",
        "creationTimestamp": WHEN,
        "labels": {"team": "blue"},
    }
    assert int(found["metadata"]["resourceVersion"]) > 1
    assert (found["spec"], found["status"]) == ({"finalizers": ["kubernetes"]}, {"phase": "Active"})
    pod = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": pod}
    kind = next(one for one in catalog.ALL if (one.group, one.plural) == ("apps", "deployments"))
    assert kind.struct is not None
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "blue", "uid": "33", "generation": 1, "creationTimestamp": WHEN},
        "spec": spec,
        "status": {"replicas": 2},
    }
    raw.put("deployments/blue/web", protobuf.write_object(kind.struct, deployment))
    path = "/apis/apps/v1/namespaces/blue/deployments"
    (listed,) = client.get(f"{path}?labelSelector=").body["items"]
    assert (listed["metadata"]["uid"], listed["spec"]["template"]["spec"]["containers"][0]["image"]) == ("33", "i")
    # what is written from then on is JSON, under the same key
    assert client.merge(f"{path}/web", {"spec": {"replicas": 3}}).body["metadata"]["generation"] == 2
    written = json.loads(raw.get("deployments/blue/web"))
    assert (written["metadata"]["uid"], written["spec"]["replicas"]) == ("33", 3)
    assert written["metadata"]["resourceVersion"] == ""


def test_what_says_not_when_it_was_made_can_be_changed(raw: Raw, client: Client) -> None:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "bare", "namespace": "default"}}
    raw.put("configmaps/default/bare", json.dumps(obj).encode())
    path = "/api/v1/namespaces/default/configmaps/bare"
    changed = client.merge(path, {"data": {"a": "b"}})
    assert (changed.status, changed.body["metadata"].get("creationTimestamp")) == (200, None)
    assert client.send("PUT", path, {**obj, "data": {"a": "c"}}).status == 200
    assert client.send("DELETE", path).status == 200


def test_other_versions_and_json_are_read_as_what_is_stored_here(raw: Raw, client: Client) -> None:
    kind = next(one for one in catalog.ALL if one.plural == "horizontalpodautoscalers")
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "maxReplicas": 3, "targetCPUUtilizationPercentage": 80}
    old = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "spec": spec, "status": {}}
    head = {"namespace": "default", "uid": "1"}
    struct = kind.struct_of(kind.by_version["v1"])
    assert struct is not None
    one, two = ({**old, "metadata": {**head, "name": name}} for name in ("one", "two"))
    raw.put("horizontalpodautoscalers/default/one", protobuf.write_object(struct, one))
    raw.put("horizontalpodautoscalers/default/two", json.dumps(two).encode() + b"\n")
    path = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers"
    for found in client.get(path.format("v2")).body["items"]:
        (metric,) = found["spec"]["metrics"]
        assert metric["resource"]["target"] == {"type": "Utilization", "averageUtilization": 80}
    for found in client.get(path.format("v1")).body["items"]:
        assert found["spec"]["targetCPUUtilizationPercentage"] == 80
    budget = {"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "spec": {"minAvailable": 1}}
    raw.put(
        "poddisruptionbudgets/default/b", json.dumps({**budget, "metadata": {**head, "name": "b"}}).encode() + b"\n"
    )
    found = client.get("/apis/policy/v1/namespaces/default/poddisruptionbudgets/b").body
    assert (found["apiVersion"], found["spec"]) == ("policy/v1", {"minAvailable": 1})


def test_definitions_and_their_objects_go_from_one_to_the_other(raw: Raw, client: Client, etcd: str) -> None:
    # what is written here...
    made = client.post(CRDS, definition(GROUP)).body
    client.post(f"/apis/{GROUP}/v1/namespaces/default/gadgets", gadget(GROUP, "ours"))
    crd = json.loads(raw.get(f"apiextensions.k8s.io/customresourcedefinitions/gadgets.{GROUP}"))
    assert {condition["type"]: condition["status"] for condition in crd["status"]["conditions"]} == {
        "NamesAccepted": "True",
        "Established": "True",
    }
    obj = json.loads(raw.get(f"{GROUP}/gadgets/default/ours"))
    assert (obj["apiVersion"], obj["kind"], obj["metadata"]["resourceVersion"]) == (f"{GROUP}/v1", "Gadget", "")
    # ...is as another server finds it in an etcd of its own, where it has no resourceVersion and ends with a line
    del crd["metadata"]["resourceVersion"], obj["metadata"]["resourceVersion"]
    other = Raw(etcd)
    other.put(f"apiextensions.k8s.io/customresourcedefinitions/gadgets.{GROUP}", json.dumps(crd).encode() + b"\n")
    with Server(store="etcd", etcd=other.settings) as server:
        there = Client(server.url, server.token)
        objects = f"/apis/{GROUP}/v1/namespaces/default/gadgets"
        assert there.get(objects).body["items"] == []
        other.put(f"{GROUP}/gadgets/default/ours", json.dumps(obj).encode() + b"\n")
        found = there.get(f"{objects}/ours").body
        assert found["metadata"]["uid"] == obj["metadata"]["uid"]
        assert there.get(f"{CRDS}/gadgets.{GROUP}").body["metadata"]["uid"] == made["metadata"]["uid"]
        # a definition that appears while the server runs
        name = definition(f"late.{GROUP}")
        name["metadata"]["uid"] = "44"
        names = {**name["spec"]["names"], "singular": "gadget", "listKind": "GadgetList"}
        conditions = [{"type": kind, "status": "True"} for kind in ("NamesAccepted", "Established")]
        name["spec"]["names"] = names
        name["status"] = {"acceptedNames": names, "conditions": conditions, "storedVersions": ["v1"]}
        key = f"apiextensions.k8s.io/customresourcedefinitions/{name['metadata']['name']}"
        other.put(key, json.dumps(name).encode() + b"\n")
        late = gadget(f"late.{GROUP}", "a")
        assert there.post(f"/apis/late.{GROUP}/v1/namespaces/default/gadgets", late).status == 201
        there.close()


def test_keys_that_are_no_objects_disturb_nobody(raw: Raw, client: Client) -> None:
    for name in ("ranges/serviceips", "masterleases/10.0.0.1", "peerserverleases/x", "restoring"):
        raw.put(name, b"\x00\xff")
        raw.put("namespaces/" + name.replace("/", "-"), namespace(name.replace("/", "-"), "1"))
        assert client.get("/api/v1/namespaces/" + name.replace("/", "-")).status == 200
