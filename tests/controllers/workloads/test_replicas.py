"""ReplicaSets and their pods."""

from __future__ import annotations

from typing import Any

from tests.controllers.test_teardown import until
from tests.controllers.workloads.conftest import SELECTOR, TEMPLATE, Namespace

SPEC: dict[str, Any] = {"replicas": 2, "selector": SELECTOR, "template": TEMPLATE}


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


def test_pods_are_available_after_a_while(home: Namespace) -> None:
    where = home.make("apps/v1", "ReplicaSet", "web", {**SPEC, "minReadySeconds": 2})
    assert "availableReplicas" not in home.status(where, readyReplicas=2)["status"]
    home.status(where, availableReplicas=2)
