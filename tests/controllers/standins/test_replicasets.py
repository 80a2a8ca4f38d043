"""ReplicaSets and their pods."""

from __future__ import annotations

from contextvars import copy_context
from typing import Any

import pytest

from podless import Server
from podless.controllers.standins import owned, pods
from podless.runtime import clock
from tests.controllers.standins.conftest import SELECTOR, TEMPLATE, Namespace
from tests.eventually import until

SPEC: dict[str, Any] = {"replicas": 2, "selector": SELECTOR, "template": TEMPLATE}
LATER = {**SPEC, "minReadySeconds": 7200}


def test_what_is_deleted_comes_back(home: Namespace) -> None:
    where = home.make("apps/v1", "ReplicaSet", "web", SPEC)
    home.status(where, readyReplicas=2, fullyLabeledReplicas=2)
    first = home.pods()[0]["metadata"]["name"]
    home.client.send("DELETE", f"{home.path('pods')}/{first}")
    until(lambda: len(home.pods()) == 2 and first not in [pod["metadata"]["name"] for pod in home.pods()])


def test_the_newest_go_first(home: Namespace) -> None:
    where = home.make("apps/v1", "ReplicaSet", "web", SPEC)
    home.status(where, readyReplicas=2)
    home.client.merge(where, {"spec": {"replicas": 0}})
    home.status(where, replicas=0)
    until(lambda: not home.pods())


def test_pods_are_available_after_a_while_of_the_servers_clock() -> None:
    with Server(controllers=["*"]) as server:
        server.clock.advance(hours=10)
        server.apply({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": LATER})
        seen = server.wait(
            "replicaset", "web", "has(object.status) && object.status.?readyReplicas == optional.of(2)", 60
        )
        assert "availableReplicas" not in seen["status"]
        server.clock.advance(hours=2)
        server.wait("replicaset", "web", "object.?status.?availableReplicas == optional.of(2)", 60)


@pytest.mark.parametrize(("passed", "left"), [(0, 9.0), (8, 1.0), (9, 0.0), (3600, 0.0)])
def test_a_pod_waits_by_the_clock_that_its_times_are_of(
    passed: int, left: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: 1_800_000_000.0)
    moved = clock.Clock()
    moved.advance(3600)
    context = copy_context()
    context.run(clock.CURRENT.set, moved)
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": context.run(clock.now)}
    moved.advance(passed)
    assert context.run(pods.seconds_until_available, {"status": {"conditions": [condition]}}, 9) == left


def test_what_cannot_be_made_is_told(home: Namespace) -> None:
    quota = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}}
    assert home.client.post(home.path("resourcequotas"), quota).status == 201
    where = home.make("apps/v1", "Deployment", "web", SPEC)

    def failing(obj: dict[str, Any]) -> Any:
        conditions = (obj.get("status") or {}).get("conditions") or ()
        return next((condition for condition in conditions if condition["type"] == "ReplicaFailure"), None)

    found = failing(home.until(where, failing))
    assert (found["status"], found["reason"]) == ("True", "FailedCreate")
    assert "exceeded quota: few" in found["message"]
    (owner,) = home.client.get(home.path("replicasets", "apps/v1")).body["items"]
    assert failing(owner) is not None
    (event,) = (
        one
        for one in home.client.get(home.path("events")).body["items"]
        if one["involvedObject"].get("uid") == owner["metadata"]["uid"]
    )
    assert (event["type"], event["reason"], event["source"]) == (
        "Warning",
        "FailedCreate",
        {"component": "replicaset-controller"},
    )
    assert event["message"].startswith("Error creating: pods ")
    assert home.client.get("/livez").status == 200
    home.client.merge(where, {"spec": {"replicas": 1}})
    home.until(where, lambda obj: failing(obj) is None)


def test_pods_are_bounded(home: Namespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owned, "MAX_PODS", len(home.client.get("/api/v1/pods").body["items"]) + 3)
    where = home.make("apps/v1", "ReplicaSet", "web", {**SPEC, "replicas": 2_000_000})
    found = home.until(where, lambda obj: (obj.get("status") or {}).get("conditions"))["status"]["conditions"][0]
    assert (found["type"], found["reason"]) == ("ReplicaFailure", "FailedCreate")
    assert "the stand-ins for controllers make at most" in found["message"]
    assert len(home.pods()) == 3
    home.client.merge(where, {"spec": {"replicas": 0}})
    home.until(where, lambda obj: not obj["status"].get("conditions"))


def test_pods_are_adopted_and_released(home: Namespace) -> None:
    alone = {"metadata": {"name": "alone", "labels": {"app": "web"}}, "spec": TEMPLATE["spec"]}
    assert home.client.post(home.path("pods"), alone).status == 201
    where = home.make("apps/v1", "ReplicaSet", "web", SPEC)
    home.status(where, readyReplicas=2)
    pod = f"{home.path('pods')}/alone"
    (ref,) = home.client.get(pod).body["metadata"]["ownerReferences"]
    assert (ref["kind"], ref["name"], ref["controller"]) == ("ReplicaSet", "web", True)
    home.client.merge(pod, {"metadata": {"labels": {"app": "other"}}})
    home.until(pod, lambda obj: "ownerReferences" not in obj["metadata"])
    until(lambda: len(home.pods()) == 3)
    home.status(where, readyReplicas=2)
