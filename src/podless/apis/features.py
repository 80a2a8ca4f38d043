"""The Kubernetes releases that podless supports, their feature gates, and other changes of behaviour between them.

gates.txt has the gates by release: stage, default, and whether they can be set; podless acts on some, and accepts the
others without effect. changes.txt names changes of behaviour without a gate, with their releases. Code asks for either
by name (runtime/release.py), never for a release.

Sources: recorded answers of kube-apiserver 1.30 to 1.36, and the changelogs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from podless.apis.wording import make_sources, make_wording
from podless.runtime.bounded import bounded_cache
from podless.runtime.datafiles import read_rows
from podless.runtime.option import StartError, suggest_name
from podless.runtime.release import Release, covers

_ALL_RELEASES: Final = "all"
_NO_RELEASE: Final = "none"
_STAGES: Final = {"AllAlpha": "alpha", "AllBeta": "beta"}  # gates that set all gates of a stage


class Stage(NamedTuple):
    """The stage of a gate from a release on. name: alpha, beta, ga, deprecated, or gone after its removal."""

    minor: int
    name: str
    on: bool
    locked: bool


class FeatureGate(NamedTuple):
    """A feature gate. effect: the releases in which podless acts on it, all or none. stage_words: its stages."""

    name: str
    effect: str
    stage_words: tuple[str, ...]

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages, oldest first. They are parsed when they are needed: podless acts on few gates."""
        return _read_stages(self.stage_words)

    def find_stage(self, minor: int) -> Stage | None:
        """Return the stage of the gate in a release, or None before it exists."""
        return next((stage for stage in reversed(self.stages) if stage.minor <= minor), None)

    def has_effect(self, minor: int) -> bool:
        """Return whether podless acts on the gate in a release."""
        return self.effect == _ALL_RELEASES or (self.effect != _NO_RELEASE and covers(self.effect, minor))

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
        group = next((group for group, at in _STAGES.items() if at == stage.name and group in gates), None)
        on = gates.get(name, stage.on if group is None or stage.locked else gates[group])
        if on is not stage.on:
            chosen[name] = on
    return chosen


def list_ineffective(minor: int, gates: Mapping[str, bool]) -> list[str]:
    """Return the names of gates that differ from their default and that podless does not act on."""
    return [
        name
        for name, on in gates.items()
        if name not in _STAGES and not GATES[name].has_effect(minor) and on is not GATES[name].is_on(minor)
    ]


def _check_gate(gate: FeatureGate | None, name: str, on: bool, minor: int) -> None:
    if gate is None or not gate.is_known(minor):
        suggestion = suggest_name(name, [entry.name for entry in GATES.values() if entry.is_known(minor)])
        raise StartError(f"feature-gates: Kubernetes 1.{minor} has no feature gate {name}{suggestion}")
    if on is not gate.is_on(minor) and gate.is_locked(minor):
        raise StartError(f"feature-gates: {name} cannot be set: it is locked to {str(not on).lower()} in 1.{minor}")


def _read_stages(words: Sequence[str]) -> tuple[Stage, ...]:
    stages: list[Stage] = []
    for word in words:
        release, _, stage = word.partition(":")
        name = stage.rstrip("+-!")
        on = "+" in stage or (name == "gone" and stages[-1].on)
        stages.append(Stage(int(release.removeprefix("1.")), name, on, stage.endswith("!")))
    return tuple(stages)


GATES: Final[Mapping[str, FeatureGate]] = {  # sorted by name
    name: FeatureGate(name, effect, tuple(map(sys.intern, words.split())))  # few words differ
    for name, effect, words in read_rows(Path(__file__).with_name("gates.txt"))
}
# name of a change: the releases that have it
CHANGES: Final[Mapping[str, str]] = {
    name: span for name, span, *_ in read_rows(Path(__file__).with_name("changes.txt"))
}
# RECORDED is the newest release with recorded answers; later ones follow from their published documents
OLDEST, RECORDED, LATEST = 30, 36, 37
NAMES: Final = tuple(f"1.{minor}" for minor in range(OLDEST, LATEST + 1))
DEFAULT: Final = f"1.{RECORDED}"
UNRECORDED: Final = f"{NAMES[-1]} is a preview that was not compared with a real server"  # for help texts
SPANS: Final = "1.31,1.33, 1.31-1.33 or 1.31-"  # the formats that choose_all accepts, for help texts


def choose_release(name: str = DEFAULT, gates: Mapping[str, bool] | None = None) -> Release:
    """Return a release with some gates set. Raises StartError for an unknown release or gate, or a locked gate."""
    if name not in NAMES:
        raise StartError(f"kubernetes-version: {name!r} is not one of {', '.join(NAMES)}")
    release = _make_release(name)
    if not gates:
        return release
    without = set(release.without)
    for gate, on in apply_gates(release.minor, gates).items():
        (without.discard if on else without.add)(gate)
    return replace(release, without=frozenset(without))


def describe_ineffective(name: str, gates: Mapping[str, bool]) -> str:
    """Return a warning about gates that are set and have no effect in podless, or ""."""
    idle = list_ineffective(_make_release(name).minor, gates)
    return f"feature-gates: no effect in podless: {', '.join(idle)}" if idle else ""


def choose_all(span: str) -> tuple[Release, ...]:
    """Return the releases in a span such as 1.31,1.34-, oldest first. Raises StartError."""
    for name in re.split("[,-]", span):
        if name:
            choose_release(name)
    try:
        chosen = tuple(choose_release(name) for name in NAMES if covers(span, _make_release(name).minor))
    except ValueError as error:
        raise StartError(f"kubernetes-version: {error}") from None
    if not chosen:
        raise StartError(f"kubernetes-version: no release is in {span!r}: put the older release first, as in 1.31-1.33")
    return chosen


@bounded_cache(16)
def _make_release(name: str) -> Release:
    minor = int(name.partition(".")[2])
    disabled = {gate.name for gate in GATES.values() if gate.has_effect(minor) and not gate.is_on(minor)}
    without = frozenset(disabled.union(change for change, span in CHANGES.items() if not covers(span, minor)))
    return Release(name, minor, without, make_wording(minor), make_sources(minor))


def parse_gates(text: str) -> dict[str, bool]:
    """Parse gates in kube-apiserver's format, NAME=true|false,… Raises ValueError."""
    gates: dict[str, bool] = {}
    for assignment in filter(None, (segment.strip() for segment in text.split(","))):
        name, _, value = (piece.strip() for piece in assignment.partition("="))
        if not name:
            raise ValueError(f"{assignment}: the name of a gate is missing")
        if value.lower() not in ("true", "false"):
            raise ValueError(f"{assignment}: the value must be true or false")
        gates[name] = value.lower() == "true"
    return gates
