"""Conditions as built-in kinds have them."""

from __future__ import annotations

from typing import Any

import pytest

from podless.meta import validation

GOOD: dict[str, Any] = {
    "type": "Ready",
    "status": "True",
    "reason": "AllWell",
    "lastTransitionTime": "2020-01-01T00:00:00Z",
}


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({}, ""),
        ({"reason": "A:b_1"}, ""),
        ({"type": "a b"}, "type"),
        ({"status": "yes"}, "status"),
        ({"observedGeneration": -1}, "observedGeneration"),
        ({"lastTransitionTime": None}, "lastTransitionTime"),
        ({"reason": ""}, "reason"),
        ({"reason": "1"}, "reason"),
        ({"reason": "A:"}, "reason"),
        ({"reason": "A" * 1025}, "reason"),
        ({"message": "ä" * 20000}, "message"),
    ],
)
def test_errors(given: dict[str, Any], path: str) -> None:
    found = [error.field for error in validation.validate_conditions([{**GOOD, **given}], "status.conditions")]
    assert found == ([f"status.conditions[0].{path}"] if path else [])


def test_one_of_each_type() -> None:
    assert [str(error) for error in validation.validate_conditions([GOOD, GOOD], "c")] == [
        'c[1].type: Duplicate value: "Ready"'
    ]


def test_missing_fields_must_be_set() -> None:
    found = validation.validate_conditions([{"type": "Ready", "status": "", "reason": ""}], "c")
    assert [str(error) for error in found] == [
        'c[0].status: Unsupported value: "": supported values: "False", "True", "Unknown"',
        "c[0].lastTransitionTime: Required value: must be set",
        "c[0].reason: Required value: must be set",
    ]


def test_the_first_true_one_of_some_types() -> None:
    assert validation.find_true([GOOD, {**GOOD, "type": "Failed"}], "Failed", "Ready") == "Failed"
    assert validation.find_true([{**GOOD, "status": "False"}], "Ready") == ""
    assert validation.find_true(None, "Ready") == ""
