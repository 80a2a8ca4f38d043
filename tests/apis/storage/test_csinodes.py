"""CSINode: its status, which release 1.37 brings behind a gate."""

from __future__ import annotations

from typing import Any

import pytest

from podless import Server
from tests.conftest import Client

NODES = "/apis/storage.k8s.io/v1/csinodes"


def serve(release: str, *, gate: bool = False) -> Server:
    gates = {"CSIVolumeHealth": True} if gate else {}
    return Server(tls=False, kubernetes_version=release, feature_gates=gates, default_accounts=False)


def report(*conditions: dict[str, Any], name: str = "a.example.com") -> dict[str, Any]:
    return {"status": {"storageHealth": [{"name": name, "healthConditions": [*conditions]}]}}


@pytest.mark.parametrize(("release", "status"), [("1.36", 404), ("1.37", 200)])
def test_the_status_has_its_own_endpoint_since_the_release_that_brought_it(release: str, status: int) -> None:
    with serve(release) as server:
        client = Client(server.url, server.token)
        client.post(NODES, {"metadata": {"name": "n"}, "spec": {"drivers": []}})
        assert client.send("GET", f"{NODES}/n/status").status == status


def test_health_is_kept_where_the_gate_is_on() -> None:
    given = report({"status": "StorageDegraded", "reason": "Slow"})
    kept = []
    for gate in (False, True):
        with serve("1.37", gate=gate) as server:
            client = Client(server.url, server.token)
            made = client.post(NODES, {"metadata": {"name": "n"}, "spec": {"drivers": []}, **given})
            assert made.body["status"] == {}
            assert client.merge(f"{NODES}/n", given).body["status"] == {}
            kept.append(client.merge(f"{NODES}/n/status", given).body["status"])
    condition = {"status": "StorageDegraded", "reason": "Slow", "lastTransitionTime": None}
    assert kept == [{}, {"storageHealth": [{"name": "a.example.com", "healthConditions": [condition]}]}]


def test_health_is_validated() -> None:
    with serve("1.37", gate=True) as server:
        client = Client(server.url, server.token)
        client.post(NODES, {"metadata": {"name": "n"}, "spec": {"drivers": []}})
        wrong = {
            "status": "Bad",
            "reason": "no words",
            "accessMode": "Never",
            "volumeMode": "Tape",
            "message": "m" * 1025,
        }
        body = report(wrong, name="")
        answer = client.merge(f"{NODES}/n/status", body)
        assert answer.status == 422
        path = "status.storageHealth[0]"
        fields = ["name", *(f"healthConditions[0].{name}" for name in ("accessMode", "message", "reason", "status"))]
        fields.append("healthConditions[0].volumeMode")
        assert sorted(cause["field"] for cause in answer.body["details"]["causes"]) == [
            f"{path}.{f}" for f in sorted(fields)
        ]
