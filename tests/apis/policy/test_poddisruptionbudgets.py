"""PodDisruptionBudgets: one share of pods, and conditions."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.policy.group import DISRUPTION_BUDGETS
from tests.apis.late import faults, made, reported

SPEC: dict[str, Any] = {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}
NOBODY = {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}


def test_nothing_is_known_of_a_new_one() -> None:
    assert made(DISRUPTION_BUDGETS, SPEC)["status"] == NOBODY


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"minAvailable": "50%"}, ""),
        ({"maxUnavailable": 0}, ""),
        ({"minAvailable": -1}, "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"),
        ({"minAvailable": "101%"}, 'spec.minAvailable: Invalid value: "101%": must not be greater than 100%'),
        (
            {"unhealthyPodEvictionPolicy": "x"},
            'spec.unhealthyPodEvictionPolicy: Unsupported value: "x": supported values: "AlwaysAllow", '
            '"IfHealthyBudget"',
        ),
        (
            {"minAvailable": 1, "maxUnavailable": 1},
            'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":1,'
            '"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
        ),
    ],
)
def test_rules(spec: dict[str, Any], wanted: str) -> None:
    assert faults(DISRUPTION_BUDGETS, spec) == ([wanted] if wanted else [])


def test_status() -> None:
    condition = {"type": "Ready", "status": "x", "reason": "1", "lastTransitionTime": "2020-01-01T00:00:00Z"}
    errors = reported(DISRUPTION_BUDGETS, SPEC, {**NOBODY, "expectedPods": -1, "conditions": [condition]})
    assert [text.split(": ")[0] for text in errors] == [
        "status.conditions[0].status",
        "status.conditions[0].reason",
        "status.expectedPods",
    ]
