"""Deployments with their sets and pods."""

from __future__ import annotations

from typing import Any

from podless import Server
from tests.controllers.standins.conftest import SELECTOR, TEMPLATE, Namespace
from tests.eventually import until

SPEC: dict[str, Any] = {"replicas": 3, "selector": SELECTOR, "template": TEMPLATE}
NEW = {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}}


def test_pods_come_and_are_counted(home: Namespace) -> None:
    where = home.make("apps/v1", "Deployment", "web", SPEC)
    found = home.status(where, replicas=3, readyReplicas=3, availableReplicas=3, updatedReplicas=3)
    conditions = {condition["type"]: condition["status"] for condition in found["status"]["conditions"]}
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


def progressing(obj: dict[str, Any]) -> tuple[str, str]:
    found = next(condition for condition in obj["status"]["conditions"] if condition["type"] == "Progressing")
    return found["status"], found["reason"]


def test_sets_have_the_annotations_of_their_deployment(home: Namespace) -> None:
    where = home.make("apps/v1", "Deployment", "web", SPEC)
    passed(home, where, "1")
    home.client.merge(where, {**NEW, "metadata": {"annotations": {"note": "x"}}})
    sets = home.path("replicasets", "apps/v1")

    def notes() -> list[dict[str, str]]:
        return [
            {name.rpartition("/")[2]: text for name, text in one["metadata"]["annotations"].items()}
            for one in home.client.get(sets).body["items"]
        ]

    known = {"desired-replicas": "3", "max-replicas": "4"}
    until(lambda: {"revision": "2", "note": "x", **known} in notes())
    assert {"revision": "1", **known} in notes()
    home.client.merge(where, {"spec": {"template": {"metadata": {"labels": {"v": None}}}, "minReadySeconds": 1}})
    until(lambda: {"revision": "3", "revision-history": "1", "note": "x", **known} in notes())
    assert 1 in [one["spec"].get("minReadySeconds") for one in home.client.get(sets).body["items"]]
    assert home.client.get(where).body["metadata"]["generation"] == 3  # one for each change of a client


def test_a_paused_one_says_so(home: Namespace) -> None:
    where = home.make("apps/v1", "Deployment", "web", SPEC)
    passed(home, where, "1")
    home.client.merge(where, {"spec": {"paused": True, "replicas": 2}})
    found = home.status(where, replicas=2, readyReplicas=2)
    assert progressing(found) == ("Unknown", "DeploymentPaused")
    home.client.merge(where, {"spec": {"paused": False}})
    home.until(where, lambda obj: progressing(obj) == ("True", "NewReplicaSetAvailable"))


def test_one_that_makes_no_progress_says_so() -> None:
    with Server(controllers=["deployment"]) as server:
        server.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": SPEC})
        found = server.wait("deployment", "web", "object.?status.?replicas == optional.of(3)", 60)
        assert progressing(found) == ("True", "ReplicaSetUpdated")
        server.clock.advance(seconds=600)
        late = "object.status.conditions.exists(one, one.reason == 'ProgressDeadlineExceeded')"
        assert progressing(server.wait("deployment", "web", late, 60)) == ("False", "ProgressDeadlineExceeded")


def test_a_new_one_adopts_the_sets_of_an_old_one(home: Namespace) -> None:
    where = home.make("apps/v1", "Deployment", "web", SPEC)
    passed(home, where, "1")
    names = [pod["metadata"]["name"] for pod in home.pods()]
    home.client.send("DELETE", where, {"propagationPolicy": "Orphan"})
    until(lambda: home.client.get(where).status == 404)
    home.make("apps/v1", "Deployment", "web", SPEC)
    passed(home, where, "1")
    assert [pod["metadata"]["name"] for pod in home.pods()] == names


def test_changes_of_size_are_events(home: Namespace) -> None:
    where = home.make("apps/v1", "Deployment", "web", SPEC)
    passed(home, where, "1")
    home.client.merge(where, {"spec": {"replicas": 2}})

    def told() -> list[str]:
        found = home.client.get(f"{home.path('events')}?fieldSelector=involvedObject.kind=Deployment").body["items"]
        name = home.client.get(home.path("replicasets", "apps/v1")).body["items"][0]["metadata"]["name"]
        return sorted(one["message"].replace(name, "NAME") for one in found)

    messages = ["Scaled down replica set NAME from 3 to 2", "Scaled up replica set NAME from 0 to 3"]
    until(lambda: told() == messages)
