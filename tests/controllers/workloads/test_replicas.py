"""ReplicaSets and their pods."""

from __future__ import annotations

from contextvars import copy_context
from typing import Any

import pytest

from podless import Server
from podless.controllers.workloads import pods
from podless.meta import clock
from tests.controllers.test_teardown import until
from tests.controllers.workloads.conftest import SELECTOR, TEMPLATE, Namespace

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
    assert context.run(pods.unavailable, {"status": {"conditions": [condition]}}, 9) == left
