"""spec.scheduling of jobs, which is read behind a gate of release 1.37."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.batch.jobscheduling import validate_changed_scheduling, validate_scheduling

GANG: dict[str, Any] = {"schedulingPolicy": {"gang": {"minCount": 2}}}
BASIC: dict[str, Any] = {"schedulingPolicy": {"basic": {}}}


def faults(scheduling: dict[str, Any], **spec: Any) -> list[str]:
    return [str(error) for error in validate_scheduling({"scheduling": scheduling, **spec}, "spec.scheduling")]


def changes(given: dict[str, Any] | None, before: dict[str, Any] | None) -> list[str]:
    spec, old = ({} if value is None else {"scheduling": value} for value in (given, before))
    return [str(error) for error in validate_changed_scheduling(spec, old, "spec.scheduling")]


@pytest.mark.parametrize("good", [{}, BASIC, {"disruptionMode": {"all": {}}}])
def test_one_policy_and_one_mode_are_fine(good: dict[str, Any]) -> None:
    assert faults(good) == []


def test_pods_that_start_together_are_no_more_than_run_at_once() -> None:
    path = "spec.scheduling.schedulingPolicy.gang.minCount"
    assert faults(GANG, parallelism=2) == []
    assert faults(GANG) == [f"{path}: Invalid value: 2: must not be greater than parallelism (1)"]
    assert faults({"schedulingPolicy": {"gang": {"minCount": 0}}}) == [
        f"{path}: Invalid value: 0: must be greater than or equal to 1"
    ]


def test_a_union_has_one_member() -> None:
    path = "spec.scheduling.schedulingPolicy: Invalid value"
    assert faults({"schedulingPolicy": {}}) == [f'{path}: "": must specify one of: `basic`, `gang`']
    assert faults({"schedulingPolicy": {"basic": {}, "gang": {}}}) == [
        f'{path}: "{{basic, gang}}": must specify exactly one of: `basic`, `gang`'
    ]


def test_claims_are_few_and_named_once() -> None:
    claim = {"name": "a", "resourceClaimName": "c"}
    path = "spec.scheduling.resourceClaims"
    assert faults({"resourceClaims": [claim]}) == []
    assert faults({"resourceClaims": [claim, claim]}) == [f'{path}[1]: Duplicate value: {{"name":"a"}}']
    assert faults({"resourceClaims": [claim] * 5}) == [f"{path}: Too many: 5: must have at most 4 items"]


def test_only_the_least_number_of_a_gang_changes() -> None:
    assert changes({"schedulingPolicy": {"gang": {"minCount": 1}}}, GANG) == []
    assert changes(None, GANG) == ["spec.scheduling: Invalid value: null: field cannot be cleared once set"]
    assert changes(GANG, None) == ["spec.scheduling: Invalid value: null: field cannot be set once created"]
    [fault] = changes(BASIC, GANG)
    assert fault.startswith("spec.scheduling.schedulingPolicy: Invalid value: null: the basic/gang policy variant is")
    mode: dict[str, Any] = {"disruptionMode": {"all": {}}}
    assert changes(GANG | mode, GANG) == ["spec.scheduling.disruptionMode: Invalid value: null: field is immutable"]
