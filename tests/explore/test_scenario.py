"""Scenarios: what they may say, and what is said of mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podless.explore.scenario import BadScenario, Scenario

_GARDEN = {"apiVersion": "example.com/v1", "kind": "Garden", "metadata": {"name": "one"}}


def test_steps_are_told_in_the_words_of_kubectl(tmp_path: Path) -> None:
    (tmp_path / "garden.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n")
    scenario = Scenario.parse(
        {
            "steps": [
                {"apply": _GARDEN},
                {"apply": "garden.yaml"},
                {"patch": {"kind": "Garden", "name": "one", "patch": {"spec": {}}}},
                {"advance": 60},
                {"delete": {"kind": "Garden", "name": "one"}},
            ]
        },
        tmp_path,
    )
    assert list(map(str, scenario.steps)) == [
        "apply Garden one",
        "apply ConfigMap two",
        "patch Garden one",
        "advance the clock by 60 s",
        "delete Garden one",
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "a list named steps"),
        ({"steps": [], "sometimes": []}, "unknown field 'sometimes'"),
        ({"steps": [{"explode": {}}]}, "step 1: explode: use exactly one of apply, patch"),
        ({"steps": [{"delete": {"kind": "Garden"}}]}, "step 1: delete takes kind, name"),
        ({"steps": [{"patch": {"kind": "Garden", "name": "one"}}]}, "step 1: patch is a JSON merge patch"),
        ({"steps": [{"advance": -1}]}, "step 1: advance takes a number of seconds"),
        ({"steps": [{"apply": "nowhere.yaml"}]}, "step 1: apply: .*nowhere.yaml"),
        ({"steps": [], "always": [{"kind": "Garden"}]}, "a condition of always or finally needs kind and expression"),
        ({"steps": [], "always": [{"kind": "Garden", "expression": "items +"}]}, "Garden: .*Syntax error"),
        ({"steps": [], "always": 3}, "always takes a list"),
        ({"steps": [], "ignore": "status.seen"}, "ignore takes a list"),
        ({"steps": [{"aply": {}}]}, "step 1: aply: use exactly one of apply, patch"),
    ],
)
def test_a_mistake_is_told_with_its_place(given: Any, message: str) -> None:
    with pytest.raises(BadScenario, match=message):
        Scenario.parse(given)


def test_an_invariant_that_cannot_be_evaluated_does_not_hold() -> None:
    invariant = {"kind": "Garden", "expression": "items.all(one, one.spec.plants > 0)"}
    [found] = Scenario.parse({"steps": [], "always": [invariant]}).always
    assert found.is_met([])
    assert found.is_met([{"spec": {"plants": 1}}])
    assert not found.is_met([{"spec": {"plants": 0}}])
    assert not found.is_met([{}])
