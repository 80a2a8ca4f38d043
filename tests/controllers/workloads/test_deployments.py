"""Deployments with their sets and pods."""

from __future__ import annotations

from typing import Any

from tests.controllers.workloads.conftest import SELECTOR, TEMPLATE, Namespace
from tests.eventually import until

SPEC: dict[str, Any] = {"replicas": 3, "selector": SELECTOR, "template": TEMPLATE}
NEW = {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}}


def test_pods_come_and_are_counted(home: Namespace) -> None:
    where = home.make("apps/v1", "Deployment", "web", SPEC)
    found = home.status(where, replicas=3, readyReplicas=3, availableReplicas=3, updatedReplicas=3)
    conditions = {one["type"]: one["status"] for one in found["status"]["conditions"]}
    assert conditions == {"Available": "True", "Progressing": "True"}
    assert found["metadata"]["annotations"] == {"deployment.kubernetes.io/revision": "1"}
    (one,) = home.client.get(home.path("replicasets", "apps/v1")).body["items"]
    assert one["metadata"]["ownerReferences"][0]["name"] == "web"
    assert {pod["status"]["phase"] for pod in home.pods()} == {"Running"}


def passed(home: Namespace, where: str, revision: str) -> None:
    """Wait until a deployment has all of its pods in the set of a revision."""
    wanted = {"replicas": 3, "updatedReplicas": 3, "availableReplicas": 3}

    def done(obj: dict[str, Any]) -> bool:
        now, status = obj["metadata"], obj["status"]
        marked = now.get("annotations") == {"deployment.kubernetes.io/revision": revision}
        current = status.get("observedGeneration") == now["generation"]
        return bool(marked and current and wanted.items() <= status.items())

    home.until(where, done)


def test_a_new_template_is_a_new_set(home: Namespace) -> None:
    where = home.make("apps/v1", "Deployment", "web", SPEC)
    passed(home, where, "1")
    home.client.merge(where, NEW)
    passed(home, where, "2")
    until(lambda: [pod["metadata"]["labels"].get("v") for pod in home.pods()] == ["2"] * 3)
    home.client.merge(where, {"spec": {"template": {"metadata": {"labels": {"v": None}}}}})
    passed(home, where, "3")
    assert len(home.client.get(home.path("replicasets", "apps/v1")).body["items"]) == 2


def test_all_at_once(home: Namespace) -> None:
    where = home.make("apps/v1", "Deployment", "web", {**SPEC, "strategy": {"type": "Recreate"}})
    passed(home, where, "1")
    home.client.merge(where, NEW)
    passed(home, where, "2")


def test_fewer_and_none(home: Namespace) -> None:
    where = home.make("apps/v1", "Deployment", "web", SPEC)
    home.status(where, readyReplicas=3)
    home.client.merge(f"{where}/scale", {"spec": {"replicas": 1}})
    home.status(where, readyReplicas=1, replicas=1)
    home.client.send("DELETE", where)
    until(lambda: not home.pods())


def test_one_that_is_paused_waits(home: Namespace) -> None:
    where = home.make("apps/v1", "Deployment", "web", {**SPEC, "paused": True})
    home.status(where, observedGeneration=1)
    assert not home.pods()
    home.client.merge(where, {"spec": {"paused": False}})
    home.status(where, readyReplicas=3)


def test_old_sets_are_forgotten(home: Namespace) -> None:
    where = home.make("apps/v1", "Deployment", "web", {**SPEC, "revisionHistoryLimit": 0})
    passed(home, where, "1")
    home.client.merge(where, NEW)
    passed(home, where, "2")
    until(lambda: len(home.client.get(home.path("replicasets", "apps/v1")).body["items"]) == 1)
