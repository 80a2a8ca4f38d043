"""What a plan says is what kubectl then does: the state after each, for every set of the corpus."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from podless import Server
from podless.apis import features
from podless.plan.differences import HIDDEN
from podless.plan.output import FORMS, render_plan
from tests.plan.corpus import CASES, Case, Kubectl, changed, plan_case, prepare, read_state, settle

pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl"),
]


def test_the_corpus_is_large_enough() -> None:
    assert len(CASES) >= 40


@pytest.mark.slow
async def test_kubectl_diff_cannot_judge_many_of_the_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For comparison: how many sets `kubectl diff` fails on, where nothing in them needs to fail."""
    failed, alone = [], []
    for case in CASES:
        with Server(garbage_delay=0.0) as server:
            kubectl = Kubectl(server, tmp_path / case.name)
            text = prepare(case, server, kubectl)
            if not kubectl.judges(text, case.chosen):
                failed.append(case.name)
                plan, _, _ = await plan_case(case, text, server)
                alone += [] if plan.refused else [case.name]
    with capsys.disabled():
        print(f"\nkubectl diff fails on {len(failed)} of {len(CASES)} sets: {', '.join(failed)}")
        print(f"kubectl applies {len(alone)} of these without an error: {', '.join(alone)}")
    assert {"definition-with-objects", "namespace-with-content", "flux-order"} <= set(failed)


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
