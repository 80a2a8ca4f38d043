"""The Kubernetes releases that podless supports, and the differences between them.

gates.txt has the feature gates by release: stage, default, and whether they can be set; podless acts on some, and
accepts the others without effect. changes.txt names changes of behaviour without a gate, with their releases. Code asks
for either by name (runtime/release.py), never for a release. wording.txt has texts of field errors that differ, and
release.txt the rest (release.py).

Sources: recorded answers of kube-apiserver 1.30 to 1.36, and the changelogs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from podless.runtime.bounded import bounded_cache
from podless.runtime.datafiles import read_blocks, read_rows
from podless.runtime.messages import suggest_name
from podless.runtime.option import StartError
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


class Rewording(NamedTuple):
    """A text of field errors that differs between releases. Only details of errors change, never a user's text.

    releases: those that have another text. field: a pattern for the end of the path. pattern: matches the
    text of the newest recorded release.
    replacement: the text of these releases; {last} is the group `last` of `field`.
    """

    releases: str
    field: str
    pattern: str
    replacement: str = ""


def _apply_gates(minor: int, gates: Mapping[str, bool]) -> Mapping[str, bool]:
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
# the releases, oldest first: minor and patch release of the recorded server, or of the published documents
PATCHES: Final[Mapping[int, int]] = {30: 14, 31: 14, 32: 13, 33: 13, 34: 9, 35: 6, 36: 2, 37: 2}
RECORDED: Final = 36  # the newest release with recorded answers; later ones follow from their published documents
OLDEST, LATEST = min(PATCHES), max(PATCHES)
NAMES: Final = tuple(f"1.{minor}" for minor in PATCHES)
DEFAULT: Final = f"1.{RECORDED}"
UNRECORDED: Final = f"A release after {DEFAULT} is a preview that was not compared with a real server"  # for help texts
ROWS: Final = tuple(
    Rewording(releases, field.strip("-"), pattern.strip("-"), *replacement)
    for releases, field, pattern, *replacement in read_rows(Path(__file__).with_name("wording.txt"))
)
SPANS: Final = "1.31,1.33, 1.31-1.33 or 1.31-"  # the formats that choose_all accepts, for help texts


def choose_release(name: str = DEFAULT, gates: Mapping[str, bool] | None = None) -> Release:
    """Return a release with some gates set. Raises StartError for an unknown release or gate, or a locked gate."""
    if name not in NAMES:
        raise StartError(f"kubernetes-version: {name!r} is not one of {', '.join(NAMES)}")
    release = _make_release(name)
    if not gates:
        return release
    without = set(release.without)
    for gate, on in _apply_gates(release.minor, gates).items():
        (without.discard if on else without.add)(gate)
    return replace(release, without=frozenset(without))


def describe_ineffective(name: str, gates: Mapping[str, bool]) -> str:
    """Return a warning about gates that are set and have no effect in podless, or ""."""
    minor = _make_release(name).minor
    idle = [
        gate
        for gate, on in gates.items()
        if gate not in _STAGES and not GATES[gate].has_effect(minor) and on is not GATES[gate].is_on(minor)
    ]
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
    return Release(name, minor, without, make_wording(minor), _make_sources(minor))


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


def make_wording(minor: int) -> Callable[[str, str], str] | None:
    """Return a function from a field and the recorded release's text to this release's; None for no change."""
    rows = [
        (re.compile(f"(?:^|.*[.\\]])?(?:{field})$" if field else ""), re.compile(pattern or "$"), replacement)
        for releases, field, pattern, replacement in ROWS
        if covers(releases, minor)
    ]

    def reword(field: str, text: str) -> str:
        for at, pattern, replacement in rows:
            match = pattern.match(text)
            field_match = at.match(field) if match is not None else None
            if match is not None and field_match is not None:
                last = field_match.groupdict().get("last") or ""
                return match.expand(replacement.replace("{last}", last)) + text[match.end() :]
        return text

    return reword if rows else None


def _make_sources(minor: int) -> Callable[[str], str]:
    """Return a function from the recorded release's line of Go that constructs a scheme to this release's."""
    table = read_blocks(Path(__file__).with_name("release.txt"))["other schemes"]
    lines = {recorded: line for releases, recorded, line in table if covers(releases, minor)}
    return lambda source: lines.get(source) or lines.get("-", source)
