"""podless migrate: after it no object is stored in an older version, and nothing is lost."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from podless import Server
from podless.cli import main
from podless.runtime.jsonobject import Object
from tests.conftest import CRDS, Client
from tests.verbs.test_conversion import Group, review
from tests.webhooks import Webhook


def crd(group: str, scope: str = "Namespaced", **schema: Any) -> Object:
    versions = [
        {
            "name": name,
            "served": True,
            "storage": name == "v1",
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, **schema}},
        }
        for name in ("v1", "v2")
    ]
    names = {"plural": "gadgets", "kind": "Gadget"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"gadgets.{group}"},
        "spec": {"group": group, "scope": scope, "names": names, "versions": versions},
    }


class Kept:
    """One definition with objects that are stored in v1 when v2 is to be the storage version."""

    def __init__(self, client: Client, group: str, scope: str = "Namespaced", **schema: Any) -> None:
        self.client, self.group, self.name = client, group, f"gadgets.{group}"
        self.definition = f"{CRDS}/{self.name}"
        assert client.post(CRDS, crd(group, scope, **schema)).status == 201
        self.base = "namespaces/default/gadgets" if scope == "Namespaced" else "gadgets"

    def path(self, version: str, name: str = "") -> str:
        return f"/apis/{self.group}/{version}/{self.base}" + (f"/{name}" if name else "")

    def fill(self, count: int, **fields: Any) -> None:
        for number in range(count):
            obj = {"apiVersion": f"{self.group}/v1", "kind": "Gadget", "metadata": {"name": f"n{number:03}"}, **fields}
            assert self.client.post(self.path("v1"), obj).status == 201

    def store_as_v2(self) -> None:
        body = self.client.get(self.definition).body
        for version in body["spec"]["versions"]:
            version["storage"] = version["name"] == "v2"
        assert self.client.send("PUT", self.definition, body).status == 200

    def stored(self) -> list[str]:
        versions: list[str] = self.client.get(self.definition).body["status"]["storedVersions"]
        return versions

    def remove_v1(self) -> Any:
        body = self.client.get(self.definition).body
        body["spec"]["versions"] = [version for version in body["spec"]["versions"] if version["name"] != "v1"]
        return self.client.send("PUT", self.definition, body)


def migrate(server: Server, *arguments: str) -> int:
    return main(["migrate", *arguments, "--kubeconfig", str(server.kubeconfig)])


@pytest.mark.parametrize("scope", ["Namespaced", "Cluster"])
def test_a_version_can_be_removed_after_it(
    server: Server, client: Client, capsys: pytest.CaptureFixture[str], scope: str
) -> None:
    kept = Kept(client, f"{scope.lower()}.migrate.example.com", scope)
    kept.fill(40, spec={"size": 1})
    kept.store_as_v2()
    assert kept.stored() == ["v1", "v2"]
    assert kept.remove_v1().status == 422
    before = client.get(kept.path("v2")).body["items"]
    assert migrate(server, kept.name) == 0
    assert capsys.readouterr().out.endswith(f"{kept.name}: 40 objects rewritten in v2; none is stored in v1\n")
    assert kept.stored() == ["v2"]
    assert kept.remove_v1().status == 200
    after = client.get(kept.path("v2")).body["items"]
    for obj in (*before, *after):
        del obj["metadata"]["resourceVersion"]
    assert after == before
    assert client.get(kept.path("v1")).status == 404


def test_a_second_run_has_nothing_to_do(server: Server, client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    kept = Kept(client, "again.migrate.example.com")
    kept.fill(2)
    kept.store_as_v2()
    assert migrate(server, kept.name) == 0
    revision = client.get(kept.path("v2")).body["items"][0]["metadata"]["resourceVersion"]
    assert migrate(server, kept.name) == 0
    assert capsys.readouterr().out.endswith(f"{kept.name}: all objects are stored in v2\n")
    assert client.get(kept.path("v2")).body["items"][0]["metadata"]["resourceVersion"] == revision


def test_objects_that_are_stored_anew_already_are_not_written(server: Server, client: Client) -> None:
    kept = Kept(client, "resumed.migrate.example.com")
    kept.fill(3)
    kept.store_as_v2()
    before = client.merge(kept.path("v2", "n001"), {"spec": {"by": "somebody"}}).body["metadata"]["resourceVersion"]
    assert migrate(server, kept.name) == 0
    assert client.get(kept.path("v2", "n001")).body["metadata"]["resourceVersion"] == before


def test_nothing_is_lost_while_others_write(server: Server, client: Client) -> None:
    kept = Kept(client, "busy.migrate.example.com")
    kept.fill(30, spec={"count": 0})
    kept.store_as_v2()
    stop = threading.Event()
    counts: dict[str, int] = {}

    def write() -> None:
        other = Client(server.url, server.token)
        number = 0
        while not stop.is_set():
            name = f"n{number % 30:03}"
            counts[name] = counts.get(name, 0) + 1
            assert other.merge(kept.path("v1", name), {"spec": {"count": counts[name]}}).status == 200
            number += 1
        other.close()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert migrate(server, kept.name) == 0
    finally:
        stop.set()
        thread.join()
    assert kept.remove_v1().status == 200
    shown = {item["metadata"]["name"]: item["spec"]["count"] for item in client.get(kept.path("v2")).body["items"]}
    assert shown == {f"n{number:03}": 0 for number in range(30)} | counts


def test_what_the_server_refuses_is_told_and_the_old_version_stays(
    server: Server, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    grows = {"type": "integer", "x-kubernetes-validations": [{"rule": "self > oldSelf", "message": "must grow"}]}
    kept = Kept(client, "refused.migrate.example.com", properties={"size": grows})
    kept.fill(1)
    obj = {"apiVersion": f"{kept.group}/v1", "kind": "Gadget", "metadata": {"name": "stuck"}, "size": 1}
    assert client.post(kept.path("v1"), obj).status == 201
    kept.store_as_v2()
    assert migrate(server, kept.name) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"podless: {kept.name}: 1 object rejected, 1 rewritten in v2: default/stuck: ")
    assert "must grow" in told
    assert kept.stored() == ["v1", "v2"]


def test_objects_that_a_webhook_converts(server: Server, client: Client) -> None:
    hook = Webhook(review)
    group = Group(client, "hook.migrate.example.com", hook)
    group.make("v1", "a", hostPort="h:80")
    group.store_as("v2")
    assert migrate(server, f"crontabs.{group.name}") == 0
    hook.calls.clear()
    assert client.get(group.path("v2", "a")).body["host"] == "h"
    assert not hook.calls  # it is there without anybody's help
    assert client.get(group.path("v1", "a")).body["hostPort"] == "h:80"
    assert len(hook.calls) == 1
    hook.close()


def test_all_definitions(client: Client) -> None:
    with Server() as server:
        own = Client(server.url, server.token)
        all_kept = [Kept(own, f"{name}.migrate.example.com") for name in ("one", "two")]
        for kept in all_kept:
            kept.fill(1)
            kept.store_as_v2()
        assert migrate(server, "--all") == 0
        assert [kept.stored() for kept in all_kept] == [["v2"], ["v2"]]
        own.close()


def test_a_definition_that_is_not_there(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    assert migrate(server, "nobodies.example.com") == 1
    missing = 'customresourcedefinitions.apiextensions.k8s.io "nobodies.example.com" not found'
    assert capsys.readouterr().err == f"podless: nobodies.example.com: {missing}\n"


def test_what_is_to_be_migrated_must_be_said(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    assert migrate(server) == 2
    assert migrate(server, "a.b", "--all") == 2
    assert "--all" in capsys.readouterr().err


def test_a_kubeconfig_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "none"
    assert main(["migrate", "--all", "--kubeconfig", str(path)]) == 1
    assert capsys.readouterr().err == f"podless: {path}: no such file or directory\n"
