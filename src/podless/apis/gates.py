"""Kubernetes' feature gates by release: stage, default, and whether they can be set.

The table is gates.txt. podless acts on some gates, and accepts the others without effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from podless.runtime.option import StartError, suggest_name
from podless.runtime.release import covers

_FILE: Final = Path(__file__).with_name("gates.txt")
_EFFECTS: Final = {"all": "1.0-", "none": "1.0"}
_ALL: Final = {"AllAlpha": "alpha", "AllBeta": "beta"}  # gates that set all gates of a stage


class Stage(NamedTuple):
    """The stage of a gate from a release on. name: alpha, beta, ga, deprecated, or gone after its removal."""

    minor: int
    name: str
    on: bool
    locked: bool


class FeatureGate(NamedTuple):
    """A feature gate. effect: the releases in which podless acts on it. stages: oldest first."""

    name: str
    effect: str
    stages: tuple[Stage, ...]

    def find_stage(self, minor: int) -> Stage | None:
        """Return what the gate is in a release, or None before it exists."""
        return next((stage for stage in reversed(self.stages) if stage.minor <= minor), None)

    def has_effect(self, minor: int) -> bool:
        """Return whether podless acts on the gate in a release."""
        return covers(self.effect, minor)

    def is_known(self, minor: int) -> bool:
        """Return whether the release's kube-apiserver has the gate."""
        stage = self.find_stage(minor)
        return stage is not None and stage.name != "gone"

    def is_on(self, minor: int) -> bool:
        """Return whether the gate is on by default."""
        stage = self.find_stage(minor)
        return stage is not None and stage.on

    def is_locked(self, minor: int) -> bool:
        """Return whether the gate is locked to its default."""
        stage = self.find_stage(minor)
        return stage is not None and stage.locked


def apply_gates(minor: int, gates: Mapping[str, bool]) -> Mapping[str, bool]:
    """Return the gates that podless acts on and that differ from the release's default.

    AllAlpha and AllBeta set all gates of their stage that are not named. Raises StartError for a gate that
    kube-apiserver of this release does not have, or whose value is locked.
    """
    for name, on in gates.items():
        _check_gate(GATES.get(name), name, on, minor)
    chosen: dict[str, bool] = {}
    for name, gate in GATES.items():
        stage = gate.find_stage(minor)
        if stage is None or not gate.has_effect(minor):
            continue
        group = next((group for group, at in _ALL.items() if at == stage.name and group in gates), None)
        on = gates.get(name, stage.on if group is None or stage.locked else gates[group])
        if on is not stage.on:
            chosen[name] = on
    return chosen


def list_ineffective(minor: int, gates: Mapping[str, bool]) -> list[str]:
    """Return the names of gates that differ from their default and that podless does not act on."""
    return [
        name
        for name, on in gates.items()
        if name not in _ALL and not GATES[name].has_effect(minor) and on is not GATES[name].is_on(minor)
    ]


def _check_gate(gate: FeatureGate | None, name: str, on: bool, minor: int) -> None:
    if gate is None or not gate.is_known(minor):
        near = suggest_name(name, [one.name for one in GATES.values() if one.is_known(minor)])
        raise StartError(f"feature-gates: Kubernetes 1.{minor} has no feature gate {name}{near}")
    if on is not gate.is_on(minor) and gate.is_locked(minor):
        raise StartError(f"feature-gates: {name} cannot be set: it is locked to {str(not on).lower()} in 1.{minor}")


def _read_stages(words: list[str]) -> tuple[Stage, ...]:
    stages: list[Stage] = []
    for word in words:
        release, _, told = word.partition(":")
        name = told.rstrip("+-!")
        on = "+" in told or (name == "gone" and stages[-1].on)
        stages.append(Stage(int(release.removeprefix("1.")), name, on, told.endswith("!")))
    return tuple(stages)


def _load() -> Mapping[str, FeatureGate]:
    rows = (line.split() for line in _FILE.read_text().splitlines() if not line.startswith("#"))
    return {
        name: FeatureGate(name, _EFFECTS.get(effect, effect), _read_stages(stages)) for name, effect, *stages in rows
    }


GATES: Final = _load()  # sorted by name
