"""What a plan says is what kubectl then does: the state after each, for every set of the corpus."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from podless import Server
from podless.apis import features
from podless.plan.output import FORMS, render_plan
from podless.plan.secrecy import HIDDEN
from tests.plan.corpus import (
    CASES,
    Case,
    Judged,
    Kubectl,
    changed,
    compare_diff,
    plan_case,
    prepare,
    read_state,
    settle,
)

pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl"),
]


def test_the_corpus_is_large_enough() -> None:
    assert len(CASES) >= 40


# a file, a definition and a namespace with what needs them, in two orders
@pytest.mark.parametrize(
    ("name", "judged"),
    [("unchanged", True), ("definition-with-objects", False), ("namespace-with-content", False), ("flux-order", False)],
)
async def test_kubectl_diff_cannot_judge_sets_that_bring_what_they_need(
    name: str, judged: bool, tmp_path: Path
) -> None:
    """For comparison; `python -m tests.plan` counts the whole corpus."""
    case = next(case for case in CASES if case.name == name)
    with Server(garbage_delay=0.0) as server:
        found = await compare_diff(case, server, tmp_path)
    assert found == Judged(by_diff=judged, by_plan=True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_the_state_after_a_plan_is_that_after_kubectl(case: Case, tmp_path: Path) -> None:
    release = case.chosen.kubernetes_version or features.DEFAULT
    with Server(garbage_delay=0.0, kubernetes_version=release) as server:
        kubectl = Kubectl(server, tmp_path)
        text = prepare(case, server, kubectl)
        begun = len(server.requests)
        plan, planned_before, planned_after = await plan_case(case, text, server)
        asked = [*server.requests][begun:]
        assert asked
        assert {one.verb for one in asked} <= {"get", "list"}
        assert len(asked) == sum(plan.requests.values())

        before = read_state(server)
        said = kubectl.write(text, case.chosen)
        settle(server)
        expected = changed(before, read_state(server))

    assert changed(planned_before, planned_after) == expected, said
    assert bool(plan.refused) == bool(said), (said, [change.message for change in plan.refused])
    for change in plan.refused:
        # kubectl writes its own head before the causes of 422
        told = [cause.message for cause in change.causes] if change.code == 422 else change.message.splitlines()
        for line in told:
            if "no matches for kind" in line:
                continue  # kubectl asks its cache of discovery, and says so in other words where that is old
            assert HIDDEN in line or line in "\n".join(said), (line, said)
    assert not plan.missing
    for form in FORMS:
        assert "hunter2" not in render_plan(plan, form, details=True)
