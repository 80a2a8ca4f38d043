"""ReplicaSets and their pods."""

from __future__ import annotations

from typing import Any

import pytest

from podless.controllers.workloads import owned
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


def test_what_cannot_be_made_is_told(home: Namespace) -> None:
    quota = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}}
    assert home.client.post(home.path("resourcequotas"), quota).status == 201
    where = home.make("apps/v1", "Deployment", "web", SPEC)

    def failing(obj: dict[str, Any]) -> Any:
        conditions = (obj.get("status") or {}).get("conditions") or ()
        return next((one for one in conditions if one["type"] == "ReplicaFailure"), None)

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
    monkeypatch.setattr(owned, "MOST_PODS", len(home.client.get("/api/v1/pods").body["items"]) + 3)
    where = home.make("apps/v1", "ReplicaSet", "web", {**SPEC, "replicas": 2_000_000})
    found = home.until(where, lambda obj: (obj.get("status") or {}).get("conditions"))["status"]["conditions"][0]
    assert (found["type"], found["reason"]) == ("ReplicaFailure", "FailedCreate")
    assert "the stand-ins for controllers make at most" in found["message"]
    assert len(home.pods()) == 3
    home.client.merge(where, {"spec": {"replicas": 0}})
    home.until(where, lambda obj: not obj["status"].get("conditions"))
