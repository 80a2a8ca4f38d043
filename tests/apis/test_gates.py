"""The table of feature gates against the metric kubernetes_feature_enabled of kube-apiservers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from podless.apis.features import GATES, NAMES, FeatureGate, choose_release, describe_ineffective
from podless.runtime.option import StartError
from podless.runtime.release import covers
from podless.structs.structfiles import FOLDER

_REPORTED = Path(__file__).with_name("gates.txt")


def _reported() -> dict[str, list[list[str]]]:
    """Return what servers report, by gate: spans of releases, each with the stage and + for a gate that is on or -."""
    lines = (line.split() for line in _REPORTED.read_text().splitlines())
    return {name: [word.split(":") for word in words] for name, *words in lines}


def test_every_gate_has_the_stage_and_the_default_that_servers_report() -> None:
    reported = _reported()
    assert sorted(reported) == sorted(GATES)
    for name, told in reported.items():
        gate = GATES[name]
        for minor in (int(release[2:]) for release in NAMES):
            stage = gate.find_stage(minor) if gate.is_known(minor) else None
            ours = [f"{stage.name}{'+' if stage.on else '-'}"] if stage is not None else []
            assert ours == [shown for span, shown in told if covers(span, minor)], (name, minor)


def test_stages_follow_each_other() -> None:
    for gate in GATES.values():
        minors = [stage.minor for stage in gate.stages]
        assert minors == sorted(set(minors)), gate
        for before, after in zip(gate.stages, gate.stages[1:], strict=False):
            assert (before.name, before.on, before.locked) != (after.name, after.on, after.locked), gate


def test_podless_acts_on_every_gate_that_its_code_names() -> None:
    source = "\n".join(file.read_text() for file in FOLDER.parent.rglob("*.py"))
    fields = "\n".join(file.read_text() for file in FOLDER.rglob("*.fields"))
    asked = r"(?:has\(|release=|releases=|gate=|gated\()\s*['\"](\w+)['\"]"
    named = set(re.findall(asked, source)) | set(re.findall(r"\bgate=(\w+)", fields))
    for gate in GATES.values():
        if gate.name in ("AllAlpha", "AllBeta"):  # set others
            continue
        assert (gate.effect != "none") is (gate.name in named), gate


def test_a_gate_is_what_it_was_before_it_is_gone() -> None:
    gate = GATES["ServiceTrafficDistribution"]
    assert not gate.is_known(36)
    assert gate.is_on(36)


def test_gates_of_a_stage_are_set_together() -> None:
    assert "EvictionRequestAPI" not in choose_release("1.37", {"AllAlpha": True}).without
    few = choose_release("1.37", {"AllAlpha": True, "EvictionRequestAPI": False})
    assert few.without & GATES.keys() == {"EvictionRequestAPI"}
    off = choose_release("1.36", {"AllBeta": False, "WatchList": True}).without
    assert "ContainerRestartRules" in off
    assert "WatchList" not in off
    assert "MutatingAdmissionPolicy" not in off  # is generally available


def test_a_gate_that_podless_does_not_act_on_is_accepted_and_told() -> None:
    gates = {"CBORServingAndStorage": True, "APIServerIdentity": True, "WatchList": False, "AllBeta": True}
    assert choose_release("1.36", gates).without == {"WatchList"}
    assert describe_ineffective("1.36", gates) == ("feature-gates: no effect in podless: CBORServingAndStorage")
    assert not describe_ineffective("1.36", {"APIServerIdentity": True})


@pytest.mark.parametrize(
    ("release", "gate", "on", "told"),
    [
        ("1.36", "Nothing", True, r"Kubernetes 1\.36 has no feature gate Nothing$"),
        ("1.36", "watchLists", True, r"has no feature gate watchLists; did you mean WatchList\?$"),
        ("1.34", "ConstrainedImpersonation", True, r"Kubernetes 1\.34 has no feature gate Constrained"),
        ("1.36", "ServiceTrafficDistribution", True, r"Kubernetes 1\.36 has no feature gate Service"),
        ("1.36", "ImageVolume", False, r"locked to true in 1\.36"),
        ("1.35", "AllowOverwriteTerminationGracePeriodSeconds", True, r"locked to false in 1\.35"),
    ],
)
def test_a_gate_that_a_server_rejects_is_rejected(release: str, gate: str, on: bool, told: str) -> None:
    with pytest.raises(StartError, match=told):
        choose_release(release, {gate: on})


def test_a_gate_is_not_there_before_its_first_stage() -> None:
    gate = FeatureGate("A", "1.0-", GATES["ConstrainedImpersonation"].stage_words)
    assert gate.find_stage(34) is None
    assert not gate.is_on(34)
    assert gate.is_on(36)
