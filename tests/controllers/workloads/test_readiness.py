"""Pods that nobody runs are ready, and gone when they are deleted."""

from __future__ import annotations

from tests.controllers.test_teardown import until
from tests.controllers.workloads.conftest import POD, Namespace


def test_a_pod_runs(home: Namespace) -> None:
    where = home.make("", "Pod", "alone", POD)
    status = home.until(where, lambda pod: (pod.get("status") or {}).get("phase") == "Running")["status"]
    assert {one["type"]: one["status"] for one in status["conditions"]}["Ready"] == "True"
    assert status["containerStatuses"][0]["ready"]
    assert status["podIP"].startswith("10.")


def test_one_on_a_node_is_gone_at_once(home: Namespace) -> None:
    where = home.make("", "Pod", "placed", {**POD, "nodeName": "n"})
    home.until(where, lambda pod: (pod.get("status") or {}).get("phase") == "Running")
    home.client.send("DELETE", where)
    until(lambda: home.client.get(where).status == 404)
