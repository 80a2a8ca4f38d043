"""Client libraries that people use, unchanged, against a real server."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import ssl
import subprocess
import sys
import textwrap
import threading
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podless import Server
from tests.conftest import CRDS, Client, definition, gadget

pytestmark = pytest.mark.clients

GROUP = "libraries.example.com"
OBJECTS = f"/apis/{GROUP}/v1/namespaces/default/gadgets"


@pytest.fixture
def kind(client: Client) -> Iterator[Client]:
    """A custom kind with a status subresource, and nothing in it."""
    made = client.post(CRDS, definition(GROUP, subresources={"status": {}}))
    assert made.status == 201, made.body
    yield client
    client.send("DELETE", f"{CRDS}/gadgets.{GROUP}")
    while client.get(f"{CRDS}/gadgets.{GROUP}").status != 404:
        pass


def test_the_official_python_client(server: Server, kind: Client) -> None:
    from kubernetes import client, watch
    from kubernetes import config as configuration

    config: Any = configuration
    with client.ApiClient(config.load_kube_config(str(server.kubeconfig))) as connection:
        objects: Any = client.CustomObjectsApi(connection)
        core: Any = client.CoreV1Api(connection)
        watching: Any = watch.Watch
        where = {"group": GROUP, "version": "v1", "namespace": "default", "plural": "gadgets"}
        made = objects.create_namespaced_custom_object(**where, body=gadget(GROUP, "one", spec={"size": 1}))
        objects.patch_namespaced_custom_object(**where, name="one", body={"spec": {"size": 2}})
        objects.patch_namespaced_custom_object_status(**where, name="one", body={"status": {"ready": True}})
        shown = objects.get_namespaced_custom_object(**where, name="one")
        assert (shown["spec"], shown["status"]) == ({"size": 2}, {"ready": True})
        stream = watching().stream(
            objects.list_namespaced_custom_object,
            **where,
            resource_version=made["metadata"]["resourceVersion"],
            timeout_seconds=1,
        )
        assert [event["type"] for event in stream] == ["MODIFIED", "MODIFIED"]
        assert "default" in [item.metadata.name for item in core.list_namespace().items]
        with pytest.raises(client.ApiException) as caught:
            objects.get_namespaced_custom_object(**where, name="none")
        assert caught.value.status == 404
        objects.delete_namespaced_custom_object(**where, name="one")
        assert objects.list_namespaced_custom_object(**where)["items"] == []


def test_lightkube(server: Server, kind: Client) -> None:
    import lightkube
    from lightkube.core.exceptions import ApiError
    from lightkube.generic_resource import create_namespaced_resource
    from lightkube.resources.core_v1 import Namespace
    from lightkube.types import PatchType

    resource: Any = create_namespaced_resource(GROUP, "v1", "Gadget", "gadgets")
    client: Any = lightkube.Client(config=lightkube.KubeConfig.from_file(server.kubeconfig), namespace="default")
    client.create(resource(metadata={"name": "one", "labels": {"tier": "a"}}, spec={"size": 1}))
    client.patch(resource, "one", {"spec": {"size": 3}}, patch_type=PatchType.MERGE)
    assert client.get(resource, "one").spec == {"size": 3}
    assert [item.metadata.name for item in client.list(resource, labels={"tier": "a"})] == ["one"]
    assert {"default", "kube-system"} <= {item.metadata.name for item in client.list(Namespace)}
    client.delete(resource, "one")
    with pytest.raises(ApiError, match="not found"):
        client.get(resource, "one")


async def test_kr8s(server: Server, kind: Client) -> None:
    import kr8s.asyncio
    from kr8s.asyncio.objects import new_class

    api = await kr8s.asyncio.api(kubeconfig=str(server.kubeconfig))
    resource: Any = new_class(kind="Gadget", version=f"{GROUP}/v1", namespaced=True, plural="gadgets")
    one = await resource({"metadata": {"name": "one", "namespace": "default"}, "spec": {"size": 1}}, api=api)
    await one.create()
    await one.patch({"spec": {"size": 5}})
    assert one.spec.size == 5
    assert [item.name async for item in resource.list(api=api, namespace="default")] == ["one"]
    await one.delete()
    assert not await one.exists()


OPERATOR = """
import kopf

@kopf.on.startup()
def configure(settings, **_):
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.peering.standalone = True

@kopf.on.create("{group}", "v1", "gadgets")
def made(spec, patch, **_):
    patch.status["seen"] = spec["size"]

@kopf.on.update("{group}", "v1", "gadgets", field="spec.size")
def grown(new, patch, **_):
    patch.status["seen"] = new

@kopf.on.delete("{group}", "v1", "gadgets")
def gone(**_):
    pass
"""


def test_a_kopf_operator_reconciles(server: Server, kind: Client, tmp_path: Path) -> None:
    (tmp_path / "handlers.py").write_text(textwrap.dedent(OPERATOR.format(group=GROUP)))
    command = [sys.executable, "-m", "kopf", "run", "handlers.py", "-n", "default", "--quiet"]
    environment = {**os.environ, "KUBECONFIG": str(server.kubeconfig), "HOME": str(tmp_path)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as operator:
        try:
            kind.post(OBJECTS, gadget(GROUP, "one", spec={"size": 1}))
            assert seen(server, 1), operator
            kind.merge(f"{OBJECTS}/one", {"spec": {"size": 2}})
            assert seen(server, 2)
            finalizers = kind.get(f"{OBJECTS}/one").body["metadata"]["finalizers"]
            assert finalizers == ["kopf.zalando.org/KopfFinalizerMarker"]
            marked = kind.send("DELETE", f"{OBJECTS}/one").body["metadata"]["resourceVersion"]
            assert until(server, lambda event: event["type"] == "DELETED", marked)
        finally:
            operator.terminate()
            operator.wait(10)


def seen(server: Server, size: int) -> bool:
    return until(server, lambda event: event["object"].get("status", {}).get("seen") == size)


def until(server: Server, reached: Any, revision: str = "") -> bool:
    """Watch the objects until an event is what is waited for; False where the time is up before."""
    url = urllib.parse.urlsplit(server.url)
    context = ssl._create_unverified_context()
    connection = http.client.HTTPSConnection(url.hostname or "", url.port, timeout=30, context=context)
    path = f"{OBJECTS}?watch=1&timeoutSeconds=20&resourceVersion={revision}"
    connection.request("GET", path, headers={"Authorization": f"Bearer {server.token}"})
    answer = connection.getresponse()
    try:
        while line := answer.readline():
            if reached(json.loads(line)):
                return True
        return False
    finally:
        connection.close()


def test_many_threads_see_one_truth(server: Server, kind: Client) -> None:
    """Every increment by compare-and-swap counts, and none is lost."""
    kind.post(OBJECTS, gadget(GROUP, "counter", spec={"n": 0}))

    def work() -> None:
        own = Client(server.url, server.token)
        for _ in range(20):
            while True:
                now = own.get(f"{OBJECTS}/counter").body
                now["spec"]["n"] += 1
                if own.send("PUT", f"{OBJECTS}/counter", now).status == 200:
                    break
        own.close()

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kind.get(f"{OBJECTS}/counter").body["spec"]["n"] == 100


async def test_a_reflector_misses_nothing(server: Server, kind: Client) -> None:
    """List, then watch from the list's revision, while others write; at the end the copy equals the server's state."""
    await asyncio.to_thread(kind.post, OBJECTS, gadget(GROUP, "first"))
    listed = (await asyncio.to_thread(kind.get, OBJECTS)).body
    copy = {item["metadata"]["name"]: item for item in listed["items"]}

    def write() -> None:
        own = Client(server.url, server.token)
        for number in range(60):
            own.post(OBJECTS, gadget(GROUP, f"n{number}", spec={"v": 0}))
            own.merge(f"{OBJECTS}/n{number}", {"spec": {"v": number}})
            if number % 3 == 0:
                own.send("DELETE", f"{OBJECTS}/n{number}")
        own.post(OBJECTS, gadget(GROUP, "last"))
        own.close()

    def follow() -> None:
        def take(event: dict[str, Any]) -> bool:
            name = event["object"]["metadata"]["name"]
            if event["type"] == "DELETED":
                del copy[name]
            else:
                assert (name in copy) == (event["type"] == "MODIFIED")
                copy[name] = event["object"]
            return bool(name == "last")

        assert until(server, take, listed["metadata"]["resourceVersion"])

    await asyncio.gather(asyncio.to_thread(write), asyncio.to_thread(follow))
    final = (await asyncio.to_thread(kind.get, OBJECTS)).body
    assert copy == {item["metadata"]["name"]: item for item in final["items"]}
