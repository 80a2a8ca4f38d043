"""Connections to pods, services and nodes: admission is asked about them, and nothing answers behind them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.admission.conftest import World, patching, review
from tests.conftest import AGAIN

pytestmark = pytest.mark.slow

CORE = "/api/v1/namespaces/default"
POD = f"{CORE}/pods/connected"
NO_ROUTE = "error dialing backend: dial tcp 10.9.9.8:10250: connect: connection refused"


def rule(*resources: str) -> dict[str, Any]:
    return {"operations": ["CONNECT"], "apiGroups": [""], "apiVersions": ["v1"], "resources": list(resources)}


@pytest.fixture(autouse=True)
def objects(world: World) -> None:
    client = world.client
    assert client.post("/api/v1/nodes", {"metadata": {"name": "far"}}).status in AGAIN
    status = {"status": {"addresses": [{"type": "InternalIP", "address": "10.9.9.8"}]}}
    assert client.merge("/api/v1/nodes/far/status", status).status == 200
    containers = [{"name": name, "image": "i"} for name in ("one", "two")]
    pod = {"metadata": {"name": "connected"}, "spec": {"nodeName": "far", "containers": containers}}
    assert client.post(f"{CORE}/pods", pod).status in AGAIN
    service = {"metadata": {"name": "connected"}, "spec": {"ports": [{"port": 80}]}}
    assert client.post(f"{CORE}/services", service).status in AGAIN


@pytest.mark.parametrize(
    ("path", "kind", "options"),
    [
        (
            "pods/connected/exec?command=ls&command=-l&container=two&stdout=1&tty=false",
            "PodExecOptions",
            {"stdout": True, "container": "two", "command": ["ls", "-l"]},
        ),
        ("pods/connected/exec?container=one", "PodExecOptions", {"container": "one", "command": None}),
        ("pods/connected/attach?container=one&stdin=true", "PodAttachOptions", {"stdin": True, "container": "one"}),
        ("pods/connected/portforward?ports=80,81", "PodPortForwardOptions", {"ports": [80, 81]}),
        ("pods/connected/proxy/a/b/?c=d", "PodProxyOptions", {"path": "/a/b/"}),
        ("services/connected/proxy", "ServiceProxyOptions", {}),
    ],
)
def test_a_webhook_sees_the_options_of_a_connection(
    world: World, path: str, kind: str, options: dict[str, Any]
) -> None:
    plural, name, subresource = path.partition("?")[0].split("/")[:3]
    hook = world.hook(review, rules=[rule(f"{plural}/{subresource}")])
    answer = world.client.get(f"{CORE}/{path}", Connection="Upgrade", Upgrade="SPDY/3.1")
    assert answer.status >= 400
    (call,) = hook.calls
    request = call["request"]
    del request["userInfo"]
    gvk, gvr = {"version": "v1", "kind": kind}, {"version": "v1", "resource": plural}
    gvk, gvr = {"group": "", **gvk}, {"group": "", **gvr}
    assert request == {
        "uid": request["uid"],
        "kind": gvk,
        "resource": gvr,
        "subResource": subresource,
        "requestKind": gvk,
        "requestResource": gvr,
        "requestSubResource": subresource,
        "name": name,
        "namespace": "default",
        "operation": "CONNECT",
        "object": {"kind": kind, "apiVersion": "v1", **options},
        "oldObject": None,
        "dryRun": False,
        "options": None,
    }


def test_a_webhook_refuses_a_connection(world: World) -> None:
    world.hook(lambda call: review(call, allowed=False, status={"message": "no"}), rules=[rule("pods/attach")])
    answer = world.client.post(f"{POD}/attach?container=one", None, Connection="Upgrade", Upgrade="SPDY/3.1")
    assert (answer.status, answer.body["message"]) == (
        400,
        'admission webhook "hook.example.com" denied the request: no',
    )


def test_a_webhook_chooses_the_container(world: World) -> None:
    change = {"op": "add", "path": "/container", "value": "three"}
    world.hook(patching(change), rules=[rule("pods/exec")], mutating=True)
    answer = world.client.get(f"{POD}/exec?container=one", Connection="Upgrade", Upgrade="SPDY/3.1")
    assert answer.body["message"] == "container three is not valid for pod connected"


@pytest.mark.parametrize("subresource", ["attach", "exec", "portforward"])
def test_a_connection_without_an_upgrade_is_refused(world: World, subresource: str) -> None:
    answer = world.client.get(f"{POD}/{subresource}?container=one")
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert answer.body["message"] == "Upgrade request required"
    upgraded = world.client.get(f"{POD}/{subresource}?container=one", Connection="Upgrade", Upgrade="SPDY/3.1")
    assert (upgraded.status, upgraded.body["message"]) == (500, NO_ROUTE)
    assert world.client.get(f"{POD}/{subresource}?dryRun=All").body["message"] == "dryRun is not supported"
