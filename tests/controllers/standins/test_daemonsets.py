"""DaemonSets: a pod for each node."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from podless.runtime.jsonobject import Object
from tests.controllers.standins.conftest import SELECTOR, TEMPLATE, Namespace
from tests.eventually import until


def node(home: Namespace, name: str) -> None:
    labels = {"home": home.name}
    answer = home.client.post("/api/v1/nodes", {"metadata": {"name": f"{home.name}-{name}", "labels": labels}})
    assert answer.status == 201, answer.body


def spec(home: Namespace, image: str = "i") -> Object:
    pod = {"containers": [{"name": "c", "image": image}], "nodeSelector": {"home": home.name}}
    return {"selector": SELECTOR, "template": {**TEMPLATE, "spec": pod}}


def nodes(home: Namespace) -> list[str]:
    return sorted(pod["spec"]["nodeName"].removeprefix(f"{home.name}-") for pod in home.pods())


@pytest.fixture
def yard(home: Namespace) -> Iterator[Namespace]:
    node(home, "one")
    yield home
    home.client.send("DELETE", f"/api/v1/nodes?labelSelector=home={home.name}")


def test_one_without_nodes_is_done(home: Namespace) -> None:
    where = home.make("apps/v1", "DaemonSet", "logs", spec(home))
    home.status(where, observedGeneration=1, desiredNumberScheduled=0, numberReady=0)


def test_nodes_come_and_go(yard: Namespace) -> None:
    where = yard.make("apps/v1", "DaemonSet", "logs", spec(yard))
    yard.status(where, desiredNumberScheduled=1, numberReady=1, numberAvailable=1)
    node(yard, "two")
    yard.status(where, desiredNumberScheduled=2, currentNumberScheduled=2, numberReady=2)
    assert nodes(yard) == ["one", "two"]
    yard.client.send("DELETE", f"/api/v1/nodes/{yard.name}-one")
    until(lambda: nodes(yard) == ["two"])
    yard.status(where, desiredNumberScheduled=1, currentNumberScheduled=1)


def test_pods_tolerate_the_taints_of_nodes(yard: Namespace) -> None:
    where = yard.make("apps/v1", "DaemonSet", "logs", spec(yard))
    yard.status(where, numberReady=1)
    (pod,) = yard.pods()
    tolerated = {
        toleration["key"].rpartition("/")[2]: toleration.get("tolerationSeconds")
        for toleration in pod["spec"]["tolerations"]
    }
    names = ("not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
    assert tolerated == dict.fromkeys(names)
    (one,) = yard.client.get(yard.path("controllerrevisions", "apps/v1")).body["items"]
    assert one["metadata"]["labels"]["controller-revision-hash"] in one["metadata"]["name"]


def test_a_new_template(yard: Namespace) -> None:
    node(yard, "two")
    where = yard.make("apps/v1", "DaemonSet", "logs", spec(yard))
    yard.status(where, numberReady=2)
    yard.client.merge(where, {"spec": spec(yard, "j")})
    yard.status(where, observedGeneration=2, updatedNumberScheduled=2, numberAvailable=2)
    assert [pod["spec"]["containers"][0]["image"] for pod in yard.pods()] == ["j", "j"]
