"""What a job's status may say."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.batch.group import JOBS
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
