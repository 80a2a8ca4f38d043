"""What a job's status may say."""

from __future__ import annotations

from contextvars import copy_context
from typing import Any

import pytest

from podless.apis.batch.group import JOBS
from podless.apis.features import choose_release
from podless.runtime.release import CURRENT
from tests.apis.late import POD, reported

SPEC: dict[str, Any] = {"template": {"spec": {**POD, "restartPolicy": "Never"}}, "suspend": True}
INDEXED = {**SPEC, "completionMode": "Indexed", "completions": 5}
START, END = "2020-01-01T00:00:00Z", "2020-01-01T01:00:00Z"


def true(*kinds: str) -> list[dict[str, str]]:
    """Conditions that are met."""
    return [{"type": kind, "status": "True"} for kind in kinds]


@pytest.mark.parametrize(
    ("spec", "status", "wanted"),
    [
        (SPEC, {}, []),
        (
            SPEC,
            {"startTime": START, "completionTime": END, "conditions": true("SuccessCriteriaMet", "Complete")},
            [],
        ),
        (
            SPEC,
            {"startTime": START, "conditions": true("SuccessCriteriaMet", "Complete")},
            ["status.completionTime: Required value: completionTime is required for Complete jobs"],
        ),
        (
            SPEC,
            {"startTime": START, "conditions": true("Failed")},
            [
                "status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true "
                "condition"
            ],
        ),
        (
            SPEC,
            {"conditions": true("FailureTarget", "Failed")},
            ["status.startTime: Required value: startTime is required for finished job"],
        ),
        (SPEC, {"ready": 2, "active": 1}, ["status.ready: Invalid value: 2: cannot set more ready pods than active"]),
        (
            SPEC,
            {"uncountedTerminatedPods": {"succeeded": ["a"], "failed": ["a"]}},
            ['status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"'],
        ),
        (
            INDEXED,
            {"completedIndexes": "9"},
            ['status.completedIndexes: Invalid value: "9": error parsing completedIndexes: too large index: "9"'],
        ),
        (
            {**INDEXED, "backoffLimitPerIndex": 1},
            {"completedIndexes": "1-3", "failedIndexes": "3"},
            ['status.failedIndexes: Invalid value: "3": failedIndexes and completedIndexes overlap at index: 3'],
        ),
    ],
)
def test_status(spec: dict[str, Any], status: dict[str, Any], wanted: list[str]) -> None:
    assert [text.replace("Invalid value: []: ", "Invalid value: ") for text in reported(JOBS, spec, status)] == wanted


def test_counters_do_not_go_down() -> None:
    assert reported(JOBS, SPEC, {"failed": 1}, {"failed": 2}) == [
        "status.failed: Invalid value: 1: cannot decrease the failed counter"
    ]


def test_errors_are_in_the_order_of_the_checks() -> None:
    status = {
        "startTime": END,
        "completionTime": START,
        "conditions": true("Complete", "Failed"),
        "active": 1,
        "ready": 2,
        "terminating": 1,
        "completedIndexes": "9",
        "failedIndexes": "9",
        "uncountedTerminatedPods": {"succeeded": ["a"]},
    }
    found = reported(JOBS, {**INDEXED, "backoffLimitPerIndex": 1}, status)
    assert [text.partition(":")[0].removeprefix("status.") for text in found[:12]] == [
        "conditions", "completionTime", "conditions", "conditions", "active", "uncountedTerminatedPods",
        "completedIndexes", "failedIndexes", "terminating", "ready",
    ]  # fmt: skip


def reported_in(release: str, *given: dict[str, Any]) -> list[str]:
    """What a release finds wrong with a write of a status."""

    def report() -> list[str]:
        CURRENT.set(choose_release(release))
        return reported(JOBS, *given)

    return copy_context().run(report)


@pytest.mark.parametrize(
    ("release", "changed", "wanted"),
    [
        ("1.36", {}, "Invalid value: null: field is immutable for unsuspended job once set"),
        ("1.35", {}, "Required value: startTime cannot be removed for unsuspended job"),
        ("1.36", {"startTime": END}, f'Invalid value: "{END}": field is immutable for unsuspended job once set'),
    ],
)
def test_an_unsuspended_job_keeps_its_start(release: str, changed: dict[str, str], wanted: str) -> None:
    found = reported_in(release, {**SPEC, "suspend": False}, changed, {"startTime": START})
    assert found == [f"status.startTime: {wanted}"]


@pytest.mark.parametrize(
    ("release", "wanted"),
    [("1.36", "must be equal to or after `startTime`"), ("1.33", "completionTime cannot be set before startTime")],
)
def test_a_job_ends_after_its_start(release: str, wanted: str) -> None:
    status = {"startTime": END, "completionTime": START, "conditions": true("SuccessCriteriaMet", "Complete")}
    found = reported_in(release, SPEC, status)
    assert [text.rpartition('": ')[2] for text in found] == [wanted]
