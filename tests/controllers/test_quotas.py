"""Quotas: creations over them are refused, and their status tells what is there."""

from __future__ import annotations

import asyncio
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from podless import Server
from podless.cache.entry import Entry
from podless.controllers.quotas import QuotaController
from tests.conftest import CRDS, Client, definition, gadget
from tests.eventually import until


@pytest.fixture
def home(client: Client) -> str:
    name = f"q{uuid.uuid4().hex[:8]}"
    assert client.post("/api/v1/namespaces", {"metadata": {"name": name}}).status == 201
    return f"/api/v1/namespaces/{name}"


@pytest.fixture
def group(client: Client) -> str:
    name = f"g{uuid.uuid4().hex[:8]}.example.com"
    assert client.post(CRDS, definition(name)).status == 201
    return name


def quota(**hard: object) -> dict[str, object]:
    return {"metadata": {"name": "counts"}, "spec": {"hard": hard}}


def used(client: Client, home: str) -> dict[str, str]:
    found: dict[str, str] = client.get(f"{home}/resourcequotas/counts").body["status"].get("used", {})
    return found


def test_custom_objects_are_counted_and_refused(client: Client, home: str, group: str) -> None:
    name = f"count/gadgets.{group}"
    assert client.post(f"{home}/resourcequotas", quota(**{name: 1})).status == 201
    until(lambda: used(client, home) == {name: "0"})
    objects = f"/apis/{group}/v1/namespaces/{home.rpartition('/')[2]}/gadgets"
    assert client.post(objects, gadget(group, "a")).status == 201
    until(lambda: used(client, home) == {name: "1"})
    refused = client.post(objects, gadget(group, "b"))
    assert (refused.status, refused.body["reason"]) == (403, "Forbidden")
    assert refused.body["message"] == (
        f'gadgets.{group} "b" is forbidden: exceeded quota: counts, requested: {name}=1, used: {name}=1, '
        f"limited: {name}=1"
    )
    assert client.merge(f"{objects}/a", {"spec": {"x": 1}}).status == 200
    applied = client.send(
        "PATCH", f"{objects}/c?fieldManager=m", gadget(group, "c"), Content_Type="application/apply-patch+yaml"
    )
    assert applied.status == 403
    client.send("DELETE", f"{objects}/a")
    assert client.post(objects, gadget(group, "b")).status == 201
    until(lambda: used(client, home) == {name: "1"})


def test_built_in_kinds_count_under_both_names(client: Client, home: str) -> None:
    assert (
        client.post(f"{home}/resourcequotas", quota(**{"configmaps": 2, "count/configmaps": 5, "pods": 3})).status
        == 201
    )
    for name, status in (("a", 201), ("b", 201), ("c", 403)):
        assert client.post(f"{home}/configmaps?dryRun=All", {"metadata": {"name": name}}).status in (201, status)
        answer = client.post(f"{home}/configmaps", {"metadata": {"name": name}})
        assert answer.status == status
    assert answer.body["message"].endswith("requested: configmaps=1, used: configmaps=2, limited: configmaps=2")
    until(lambda: used(client, home) == {"configmaps": "2", "count/configmaps": "2", "pods": "0"})
    status = client.get(f"{home}/resourcequotas/counts").body["status"]
    assert status["hard"] == {"configmaps": "2", "count/configmaps": "5", "pods": "3"}
    shown = client.get(f"{home}/resourcequotas", Accept="application/json;as=Table;v=v1;g=meta.k8s.io").body
    assert shown["rows"][0]["cells"][1] == "configmaps: 2/2, count/configmaps: 2/5, pods: 0/3"


def test_of_what_is_not_served_nothing_is_used(client: Client, home: str) -> None:
    given = {"limits.cpu": "2", "requests.storage": "1Gi", "services.nodeports": 1, "example.com/gpu": 1}
    assert client.post(f"{home}/resourcequotas", quota(**given)).status == 201
    until(lambda: used(client, home) == {"limits.cpu": "0", "requests.storage": "0", "services.nodeports": "0"})


def test_a_quota_with_scopes_counts_no_objects(client: Client, home: str) -> None:
    scoped = {"metadata": {"name": "counts"}, "spec": {"hard": {"count/configmaps": 0}, "scopes": ["BestEffort"]}}
    assert client.post(f"{home}/resourcequotas", scoped).status == 201
    assert client.post(f"{home}/configmaps", {"metadata": {"name": "a"}}).status == 201


def test_many_at_once_do_not_pass_together(server: Server, client: Client, home: str) -> None:
    assert client.post(f"{home}/resourcequotas", quota(configmaps=3)).status == 201

    def make(number: int) -> int:
        mine = Client(server.url, server.token)
        status = mine.post(f"{home}/configmaps", {"metadata": {"name": f"m{number}"}}).status
        mine.close()
        return status

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(make, range(8))) == [201] * 3 + [403] * 5


def test_a_quota_counts_a_resource_that_comes_later(client: Client, home: str) -> None:
    group = f"g{uuid.uuid4().hex[:8]}.example.com"
    name = f"count/gadgets.{group}"
    assert client.post(f"{home}/resourcequotas", quota(**{name: 1})).status == 201
    until(lambda: client.get(f"{home}/resourcequotas/counts").body["status"].get("hard") == {name: "1"})
    assert used(client, home) == {}
    assert client.post(CRDS, definition(group)).status == 201
    until(lambda: used(client, home) == {name: "0"})


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        ({"hard": {"count/a.b": -1}}, ["spec.hard[count/a.b]"]),
        ({"hard": {"count/a.b": "500m"}}, ["spec.hard[count/a.b]"]),
        ({"hard": {"gadgets": 1}}, ["spec.hard[gadgets]", "spec.hard[gadgets]"]),
        ({"hard": {"a b": 1}}, ["spec.hard[a b]", "spec.hard[a b]"]),
        ({"scopes": ["Odd"]}, ["spec.scopes"]),
        ({"hard": {"secrets": 1}, "scopes": ["BestEffort", "NotBestEffort"]}, ["spec.scopes"] * 3),
    ],
)
def test_what_is_no_quota(client: Client, spec: dict[str, object], fields: list[str]) -> None:
    bad = client.post("/api/v1/namespaces/default/resourcequotas", {"metadata": {"name": "bad"}, "spec": spec})
    assert (bad.status, [cause["field"] for cause in bad.body["details"]["causes"]]) == (422, fields)


CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}, "storageClassName": "c"}


def test_storage_and_ports_are_measured(client: Client, home: str) -> None:
    hard = {
        "requests.storage": "3Gi",
        "c.storageclass.storage.k8s.io/persistentvolumeclaims": 5,
        "services.nodeports": 1,
    }
    assert client.post(f"{home}/resourcequotas", quota(**hard)).status == 201
    claims = f"{home}/persistentvolumeclaims"
    assert client.post(claims, {"metadata": {"name": "a"}, "spec": CLAIM}).status == 201
    refused = client.post(claims, {"metadata": {"name": "b"}, "spec": CLAIM})
    told = "exceeded quota: counts, requested: requests.storage=2Gi, used: requests.storage=2Gi"
    assert refused.status == 403
    assert refused.body["message"].endswith(f"{told}, limited: requests.storage=3Gi")
    body = {"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"port": 80}, {"name": "b", "port": 81}]}}
    body["spec"]["ports"][0]["name"] = "a"  # type: ignore[index]
    answer = client.post(f"{home}/services", body)
    assert answer.status == 403
    assert "requested: services.nodeports=2, used: services.nodeports=0" in answer.body["message"]
    until(lambda: used(client, home).get("requests.storage") == "2Gi")
    assert used(client, home)["c.storageclass.storage.k8s.io/persistentvolumeclaims"] == "1"


def test_a_pod_that_becomes_larger_is_counted(client: Client, home: str) -> None:
    client.post(f"{home}/resourcequotas", quota(**{"requests.cpu": "1"}))
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "600m"}}}
    assert client.post(f"{home}/pods", {"metadata": {"name": "p"}, "spec": {"containers": [container]}}).status == 201

    def resized(cpu: str) -> int:
        more = [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]
        media = "application/strategic-merge-patch+json"
        return client.send("PATCH", f"{home}/pods/p/resize", {"spec": {"containers": more}}, Content_Type=media).status

    assert (resized("1100m"), resized("900m")) == (403, 200)


def test_devices_are_counted_by_class(client: Client, home: str) -> None:
    gpu, nic = (f"{name}.deviceclass.resource.k8s.io/devices" for name in ("gpu", "nic"))
    assert client.post(f"{home}/resourcequotas", quota(**{gpu: 5, nic: 40})).status == 201
    until(lambda: used(client, home) == {gpu: "0", nic: "0"})
    claims = f"/apis/resource.k8s.io/v1/namespaces/{home.rpartition('/')[2]}/resourceclaims"

    def claim(name: str, **exactly: object) -> int:
        alternatives = [
            {"name": "all", "deviceClassName": "nic", "allocationMode": "All"},
            {"name": "two", "deviceClassName": "gpu", "count": 2},
            {"name": "one", "deviceClassName": "gpu", "count": 1},
        ]
        requests = [
            {"name": "a", "exactly": {"deviceClassName": "gpu", **exactly}},
            {"name": "b", "firstAvailable": alternatives},
        ]
        spec = {"devices": {"requests": requests}}
        answer = client.post(claims, {"metadata": {"name": name}, "spec": spec})
        assert answer.status in (201, 403), answer.body
        return answer.status

    assert claim("a", count=2) == 201
    until(lambda: used(client, home) == {gpu: "4", nic: "32"})
    assert claim("b") == 403
    client.send("DELETE", f"{claims}/a")
    until(lambda: used(client, home) == {gpu: "0", nic: "0"})


def test_the_quotas_of_a_namespace_are_counted_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several at once would hold the loop for the sum of their first slices, and so would several in a row."""
    update_usage = QuotaController._update_usage
    running, most, turns, began = 0, 0, 0, list[int]()

    def count_turn() -> None:
        nonlocal turns
        turns += 1

    async def count_running(self: QuotaController, entry: Entry) -> None:
        nonlocal running, most
        asyncio.get_running_loop().call_soon(count_turn)
        began.append(turns)
        running += 1
        most = max(most, running)
        try:
            await update_usage(self, entry)
        finally:
            running -= 1

    monkeypatch.setattr(QuotaController, "_update_usage", count_running)
    with Server() as server:
        client = Client(server.url, server.token)
        path = "/api/v1/namespaces/default/resourcequotas"
        for number in range(5):
            body = {"metadata": {"name": f"q{number}"}, "spec": {"hard": {"configmaps": "5"}}}
            assert client.post(path, body).status == 201
        assert client.post("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "a"}}).status == 201

        def is_counted() -> bool:
            return all(item["status"]["used"] == {"configmaps": "1"} for item in client.get(path).body["items"])

        until(is_counted)
        client.close()
    assert most == 1
    assert len(began) == len({*began})
