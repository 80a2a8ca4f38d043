"""What tests do with a server: apply, wait, look at what was asked, go back."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podless import Server
from podless.remote.cluster import Refused
from podless.testing import Missing, Waited
from podless.testing.wait import Test
from tests.conftest import CRDS, Client, definition, gadget

GROUP = "bench.example.com"


def thing(name: str, **fields: Any) -> dict[str, Any]:
    return gadget(GROUP, name, **fields)


@pytest.fixture(scope="module")
def bench() -> Iterator[Server]:
    with Server() as server:
        server.apply(definition(GROUP))
        yield server


@pytest.fixture(autouse=True)
def clean(bench: Server) -> Iterator[None]:
    yield
    for one in bench.list("gadgets"):
        bench.delete("gadgets", one["metadata"]["name"])


def test_all_forms_of_manifests_are_applied(bench: Server, tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(
        f"apiVersion: {GROUP}/v1\nkind: Gadget\nmetadata: {{name: a}}\n---\n"
        f"apiVersion: {GROUP}/v1\nkind: Gadget\nmetadata: {{name: b}}\n"
    )
    given: list[tuple[Any, list[str]]] = [
        (thing("one"), ["one"]),
        (f"apiVersion: {GROUP}/v1\nkind: Gadget\nmetadata:\n  name: two\n", ["two"]),
        (tmp_path / "two.yaml", ["a", "b"]),
        (str(tmp_path), ["a", "b"]),
        ((thing(f"x{number}") for number in range(2)), ["x0", "x1"]),
        ({"apiVersion": "v1", "kind": "List", "items": [thing("y")]}, ["y"]),
    ]
    for manifests, names in given:
        assert [obj["metadata"]["name"] for obj in bench.apply(manifests)] == names
    made = bench.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "some-"}})
    assert made[0]["metadata"]["name"].startswith("some-")


def test_definitions_and_namespaces_come_before_what_needs_them() -> None:
    with Server() as server:
        obj = thing("one") | {"metadata": {"name": "one", "namespace": "new"}}
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}
        assert [made["kind"] for made in server.apply([obj, definition(GROUP), space])] == [
            "Namespace",
            "CustomResourceDefinition",
            "Gadget",
        ]


@pytest.mark.parametrize("wrong", ["{}", "text: 1\n", 3, "kind: [\n", "/nowhere"])
def test_what_is_no_manifest_says_so(bench: Server, wrong: Any) -> None:
    with pytest.raises(Exception, match=r"apiVersion|expected|line|No such file"):
        bench.apply(wrong)


def test_objects_are_got_listed_and_deleted_by_any_name_of_their_kind(bench: Server) -> None:
    bench.apply(thing("one", metadata={"name": "one", "labels": {"a": "b"}}))
    for name in ("Gadget", "gadgets", "gadget", f"gadgets.{GROUP}"):
        found = bench.get(name, "one")
        assert found is not None
        assert found["metadata"]["name"] == "one"
    assert bench.get("gadget", "two") is None
    assert [obj["kind"] for obj in bench.list("gadgets", labels="a=b")] == ["Gadget"]
    assert bench.list("gadgets", namespace=None, fields="metadata.name=two") == []
    bench.delete("gadget", "one")
    assert bench.get("gadget", "one") is None
    with pytest.raises(Missing, match="no kind 'nothing' is served"):
        bench.get("nothing", "one")
    with pytest.raises(Refused, match="not found") as refused:
        bench.delete("gadget", "one")
    assert refused.value.code == 404


@pytest.mark.parametrize(
    "for_",
    [
        "Ready",
        "Ready=True",
        "condition=Ready",
        "object.spec.size == 2 && object.status.conditions.exists(c, c.type == 'Ready')",
        lambda obj: obj.get("spec", {}).get("size") == 2,
    ],
)
def test_waiting_ends_when_it_holds(bench: Server, for_: Any) -> None:
    bench.apply(thing("one", spec={"size": 1}))

    def work() -> None:
        ready = {"conditions": [{"type": "Ready", "status": "True"}]}
        bench.apply(thing("one", spec={"size": 2}, status=ready))

    worker = threading.Thread(target=work)
    worker.start()
    found = bench.wait("gadget", "one", for_)
    worker.join()
    assert found["spec"]["size"] == 2


def test_waiting_for_a_deletion_returns_the_last_state(bench: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.apply(thing("one", spec={"size": 2}))
    holds = Test.holds
    worker = threading.Thread(target=bench.delete, args=("gadget", "one"))

    def delete_once_seen(self: Test, obj: dict[str, Any] | None) -> bool:
        if worker.ident is None:
            worker.start()
        return holds(self, obj)

    monkeypatch.setattr(Test, "holds", delete_once_seen)
    assert bench.wait("gadget", "one", "delete")["spec"] == {"size": 2}
    worker.join()


def test_waiting_for_what_is_there_or_gone_ends_at_once(bench: Server) -> None:
    bench.apply(thing("one"))
    assert bench.wait("gadget", "one")["metadata"]["name"] == "one"
    assert bench.wait("gadget", "gone", "delete") == {}


def test_who_waits_in_vain_is_told_what_there_was(bench: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    holds = Test.holds

    def look_once(self: Test, obj: dict[str, Any] | None) -> bool:
        assert not holds(self, obj)
        raise TimeoutError  # as when the time is over, but not before there was something to see

    monkeypatch.setattr(Test, "holds", look_once)
    bench.apply(thing("one", spec={"size": 1}))
    with pytest.raises(Waited, match=r"gadgets/one: object.status.x == 1\n.*no such key: status\n.*\n(.*\n)*.*size: 1"):
        bench.wait("gadget", "one", "object.status.x == 1")
    with pytest.raises(TimeoutError, match="the object does not exist"):
        bench.wait("gadget", "two")


def test_what_clients_ask_is_known(bench: Server) -> None:
    client = Client(bench.url, bench.token)
    bench.requests.clear()
    path = f"/apis/{GROUP}/v1/namespaces/default/gadgets"
    client.post(path, thing("one"))
    client.post(path, thing("one"))
    client.get(f"{path}/one?pretty=true")
    client.get("/nothing")
    client.events(f"{path}?watch=true", 1)
    bench.get("gadget", "one")  # is not among them
    asked = [(request.verb, request.resource, request.name, request.status) for request in bench.requests]
    what = f"gadgets.{GROUP}"
    assert asked == [
        ("create", what, "", 201),
        ("create", what, "", 409),
        ("get", what, "one", 200),
        ("get", "", "", 404),
        ("watch", what, "", 200),
    ]
    assert len(bench.requests.where(verb="create", status=409)) == 1
    assert str(bench.requests[2]) == f"admin get {path}/one?pretty=true 200"
    bench.at_rest(20)
    client.close()


def test_a_snapshot_is_gone_back_to(bench: Server) -> None:
    before = bench.apply([thing("kept"), thing("changed", spec={"size": 1})])
    state = bench.snapshot()
    bench.delete("gadget", "kept")
    bench.apply([thing("changed", spec={"size": 2}), thing("new")])
    bench.restore(state)
    found = {obj["metadata"]["name"]: obj for obj in bench.list("gadgets")}
    assert sorted(found) == ["changed", "kept"]
    assert found["changed"]["spec"] == {"size": 1}
    assert found["kept"]["metadata"]["uid"] == before[0]["metadata"]["uid"]
    bench.apply(thing("changed", spec={"size": 3}))  # and it goes on from there
    bench.restore(state)
    assert bench.get("gadget", "changed")["spec"] == {"size": 1}  # type: ignore[index]


def test_definitions_come_and_go_with_a_snapshot() -> None:
    with Server() as server:
        empty = server.snapshot()
        server.apply([definition(GROUP), thing("one")])
        full = server.snapshot()
        for _ in range(2):
            server.restore(empty)
            with pytest.raises(Missing):
                server.list("gadgets")
            server.restore(full)
            assert [obj["metadata"]["name"] for obj in server.list("gadgets")] == ["one"]
            server.apply(thing("two"))
            assert Client(server.url, server.token).get(CRDS).body["items"][0]["status"]["conditions"]


async def test_asynchronous_code_has_the_same(bench: Server) -> None:
    async with Server() as server:
        await server.client.apply([definition(GROUP), thing("one")])
        waiting = asyncio.create_task(server.client.wait("gadget", "one", "object.spec.size == 1"))
        await server.client.apply(thing("one", spec={"size": 1}))
        assert (await waiting)["spec"] == {"size": 1}
        with pytest.raises(RuntimeError, match="on the server's own loop"):
            server.get("gadget", "one")
    await bench.client.apply(thing("one"))  # of a server on another thread
    assert (await bench.client.wait("gadget", "one"))["kind"] == "Gadget"
