"""Jobs run to their end."""

from __future__ import annotations

from typing import Any

from podless import Server
from tests.controllers.standins.conftest import POD, Namespace
from tests.eventually import until

SPEC: dict[str, Any] = {"template": {"spec": {**POD, "restartPolicy": "Never"}}}


def conditions(job: dict[str, Any]) -> dict[str, str]:
    return {condition["type"]: condition["status"] for condition in job["status"].get("conditions") or ()}


def test_it_completes(home: Namespace) -> None:
    where = home.make("batch/v1", "Job", "work", {**SPEC, "completions": 3, "parallelism": 2})
    found = home.status(where, succeeded=3)
    found = home.until(where, lambda job: "completionTime" in job["status"])
    assert conditions(found) == {"SuccessCriteriaMet": "True", "Complete": "True"}
    assert len(home.pods()) == 3
    until(lambda: [one["reason"] for one in home.client.get(home.path("events")).body["items"]] == ["Completed"])


def test_with_indexes(home: Namespace) -> None:
    where = home.make("batch/v1", "Job", "work", {**SPEC, "completions": 3, "completionMode": "Indexed"})
    home.until(where, lambda job: "completionTime" in job["status"])
    assert home.client.get(where).body["status"]["completedIndexes"] == "0-2"
    assert sorted(pod["spec"]["hostname"] for pod in home.pods()) == ["work-0", "work-1", "work-2"]
    (variable,) = home.pods()[0]["spec"]["containers"][0]["env"]
    path = "metadata.labels['batch.kubernetes.io/job-completion-index']"
    assert (variable["name"], variable["valueFrom"]["fieldRef"]["fieldPath"]) == ("JOB_COMPLETION_INDEX", path)


def test_one_that_is_held_back(home: Namespace) -> None:
    where = home.make("batch/v1", "Job", "work", {**SPEC, "suspend": True})
    home.until(where, lambda job: conditions(job) == {"Suspended": "True"})
    assert not home.pods()
    home.client.merge(where, {"spec": {"suspend": False}})
    home.until(where, lambda job: conditions(job).get("Complete") == "True")
    assert conditions(home.client.get(where).body)["Suspended"] == "False"


def test_one_of_another_controller_is_left_alone(home: Namespace) -> None:
    where = home.make("batch/v1", "Job", "others", {**SPEC, "managedBy": "example.com/jobs"})
    home.make("batch/v1", "Job", "ours", {**SPEC, "managedBy": "kubernetes.io/job-controller"})
    home.until(home.path("jobs/ours", "batch/v1"), lambda job: "completionTime" in job["status"])
    assert not home.client.get(where).body.get("status")


def test_a_late_one_fails_and_an_old_one_is_deleted() -> None:
    with Server(controllers=["job"], garbage_delay=0) as server:
        spec = {**SPEC, "activeDeadlineSeconds": 3600, "ttlSecondsAfterFinished": 3600}
        server.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "late"}, "spec": spec})
        server.wait("job", "late", "object.?status.?active == optional.of(1)", 60)
        server.clock.advance(hours=1)
        found = server.wait("job", "late", "object.?status.?failed == optional.of(1)", 60)["status"]
        told = [
            (condition["type"], condition["reason"], condition["lastProbeTime"] is None)
            for condition in found["conditions"]
        ]
        assert told == [("FailureTarget", "DeadlineExceeded", False), ("Failed", "DeadlineExceeded", False)]
        assert (found["terminating"], found["uncountedTerminatedPods"]) == (0, {})
        server.clock.advance(hours=1)
        until(lambda: not server.list("jobs"))
