"""Pods that nobody runs are ready, and gone when they are deleted."""

from __future__ import annotations

from podless.runtime.jsonobject import Object
from tests.controllers.standins.conftest import POD, Namespace
from tests.eventually import until


def _ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def test_a_pod_runs(home: Namespace) -> None:
    where = home.make("", "Pod", "alone", POD)
    status = home.until(where, lambda pod: (pod.get("status") or {}).get("phase") == "Running")["status"]
    assert {condition["type"]: condition["status"] for condition in status["conditions"]}["Ready"] == "True"
    assert status["containerStatuses"][0]["ready"]
    assert status["podIP"].startswith("10.")


def test_one_that_is_being_deleted_is_not_ready(home: Namespace) -> None:
    where = home.make("", "Pod", "held", {**POD, "nodeName": "n"})
    home.client.merge(where, {"metadata": {"finalizers": ["example.com/held"]}})
    home.until(where, _ready)
    home.client.send("DELETE", where)
    pod = home.until(where, lambda pod: not _ready(pod))
    conditions = {condition["type"]: condition for condition in pod["status"]["conditions"]}
    assert conditions["Ready"]["status"] == conditions["ContainersReady"]["status"] == "False"
    assert conditions["Ready"]["message"] == "containers with unready status: [c]"
    assert not pod["status"]["containerStatuses"][0]["ready"]
    home.client.merge(where, {"metadata": {"finalizers": None}})
    until(lambda: home.client.get(where).status == 404)


def test_one_on_a_node_is_gone_at_once(home: Namespace) -> None:
    where = home.make("", "Pod", "placed", {**POD, "nodeName": "n"})
    home.until(where, lambda pod: (pod.get("status") or {}).get("phase") == "Running")
    home.client.send("DELETE", where)
    until(lambda: home.client.get(where).status == 404)
