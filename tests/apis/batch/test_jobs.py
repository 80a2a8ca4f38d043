"""Jobs: defaults, the selector that is made for them, rules, what may change."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.batch.group import JOBS
from tests.apis.late import POD, changed, decoded, faults, made, template


def job(restart: str = "Never", **spec: Any) -> dict[str, Any]:
    """A spec of a job."""
    return {"template": {"spec": {**POD, "restartPolicy": restart}}, **spec}


def test_defaults() -> None:
    spec = decoded(JOBS, job())["spec"]
    wanted = {
        "completions": 1,
        "parallelism": 1,
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "suspend": False,
        "manualSelector": False,
        "podReplacementPolicy": "TerminatingOrFailed",
    }
    assert {name: spec[name] for name in wanted} == wanted


def test_work_queues_have_no_completions() -> None:
    spec = decoded(JOBS, job(parallelism=3))["spec"]
    assert "completions" not in spec


def test_limits_of_indexes_replace_that_of_the_job() -> None:
    assert decoded(JOBS, job(backoffLimitPerIndex=1))["spec"]["backoffLimit"] == 2**31 - 1


def test_labels_of_the_template_are_the_jobs() -> None:
    given = {"template": template(restartPolicy="Never")}
    assert decoded(JOBS, given)["metadata"]["labels"] == {"app": "web"}


def test_its_selector_is_made() -> None:
    spec = made(JOBS, job())["spec"]
    assert spec["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}}
    assert spec["template"]["metadata"]["labels"] == {
        "batch.kubernetes.io/controller-uid": "u",
        "batch.kubernetes.io/job-name": "x",
        "controller-uid": "u",
        "job-name": "x",
    }


def test_labels_of_its_own_are_those_that_it_made() -> None:
    given = {"template": {**template(restartPolicy="Never"), "metadata": {"labels": {"job-name": "y"}}}}
    assert [one.partition(": Invalid")[0] for one in faults(JOBS, given)] == [
        "spec.template.metadata.labels[job-name]",
    ]


def test_a_selector_of_ones_own_stays() -> None:
    own = {"matchLabels": {"app": "web"}}
    given = {"template": template(restartPolicy="Never"), "selector": own, "manualSelector": True}
    assert made(JOBS, given)["spec"]["selector"] == own


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        (job(), []),
        (job("OnFailure"), []),
        (job("Always"), ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"']),
        (job(parallelism=-1), ["spec.parallelism: Invalid value: -1: must be greater than or equal to 0"]),
        (
            job(completionMode="Indexed", parallelism=2),
            ["spec.completions: Required value: when completion mode is Indexed"],
        ),
        (
            job(completionMode="x"),
            ['spec.completionMode: Unsupported value: "x": supported values: "NonIndexed", "Indexed"'],
        ),
        (
            job(backoffLimitPerIndex=1),
            ["spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"],
        ),
        (
            job(completionMode="Indexed", completions=2, maxFailedIndexes=1),
            ["spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"],
        ),
        (
            job(
                "OnFailure",
                podFailurePolicy={"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [1]}}]},
            ),
            [
                'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when '
                "podFailurePolicy is specified"
            ],
        ),
    ],
)
def test_rules(spec: dict[str, Any], wanted: list[str]) -> None:
    assert faults(JOBS, spec) == wanted


def after(**spec: Any) -> list[str]:
    """What is wrong with a change of a job as it was stored."""
    stored = made(JOBS, job())["spec"]
    return changed(JOBS, job(), {**stored, **spec})


def test_what_may_change() -> None:
    assert not after(parallelism=3, suspend=True, ttlSecondsAfterFinished=5)
    assert after(completions=3) == ["spec.completions: Invalid value: 3: field is immutable"]
    assert after(managedBy="a.b/c") == ['spec.managedBy: Invalid value: "a.b/c": field is immutable']


def test_the_template_is_shown_as_go_keeps_it() -> None:
    stored = made(JOBS, job())["spec"]
    (text,) = after(
        template={**stored["template"], "spec": {**stored["template"]["spec"], "restartPolicy": "OnFailure"}}
    )
    assert text.startswith('spec.template: Invalid value: {"labels":{"batch.kubernetes.io/controller-uid":"u",')
    assert '"Spec":{"Volumes":null,"InitContainers":null,' in text


def test_dependants_of_old_clients_stay() -> None:
    assert JOBS.strategy.deletion.orphans
    assert "child pods are preserved by default" in JOBS.strategy.deletion.warning
