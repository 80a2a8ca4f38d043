"""CronJobs: defaults and rules."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.batch.group import CRON_JOBS
from tests.apis.late import POD, decoded, faults

JOB: dict[str, Any] = {"spec": {"template": {"spec": {**POD, "restartPolicy": "Never"}}}}
SPEC: dict[str, Any] = {"schedule": "@daily", "jobTemplate": JOB}


def test_defaults() -> None:
    spec = decoded(CRON_JOBS, SPEC)["spec"]
    wanted = {
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    }
    assert {name: spec[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({}, []),
        ({"timeZone": "Europe/Berlin"}, []),
        ({"schedule": "x"}, ['spec.schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]']),
        ({"timeZone": "Mars"}, ['spec.timeZone: Invalid value: "Mars": unknown time zone Mars']),
        (
            {"concurrencyPolicy": "x"},
            ['spec.concurrencyPolicy: Unsupported value: "x": supported values: "Allow", "Forbid", "Replace"'],
        ),
        (
            {"startingDeadlineSeconds": -1},
            ["spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0"],
        ),
    ],
)
def test_rules(spec: dict[str, Any], wanted: list[str]) -> None:
    assert faults(CRON_JOBS, {**SPEC, **spec}) == wanted


def test_its_jobs_need_room_for_their_names() -> None:
    assert faults(CRON_JOBS, SPEC, name="x" * 53) == [
        f'metadata.name: Invalid value: "{"x" * 53}": must be no more than 52 characters'
    ]
