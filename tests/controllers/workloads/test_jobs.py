"""Jobs run to their end."""

from __future__ import annotations

from typing import Any

from tests.controllers.workloads.conftest import POD, Namespace

SPEC: dict[str, Any] = {"template": {"spec": {**POD, "restartPolicy": "Never"}}}


def conditions(job: dict[str, Any]) -> dict[str, str]:
    return {one["type"]: one["status"] for one in job["status"].get("conditions") or ()}


def test_it_completes(home: Namespace) -> None:
    where = home.make("batch/v1", "Job", "work", {**SPEC, "completions": 3, "parallelism": 2})
    found = home.status(where, succeeded=3)
    found = home.until(where, lambda job: "completionTime" in job["status"])
    assert conditions(found) == {"SuccessCriteriaMet": "True", "Complete": "True"}
    assert len(home.pods()) == 3


def test_with_indexes(home: Namespace) -> None:
    where = home.make("batch/v1", "Job", "work", {**SPEC, "completions": 3, "completionMode": "Indexed"})
    home.until(where, lambda job: "completionTime" in job["status"])
    assert home.client.get(where).body["status"]["completedIndexes"] == "0-2"
    assert sorted(pod["spec"]["hostname"] for pod in home.pods()) == ["work-0", "work-1", "work-2"]


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
