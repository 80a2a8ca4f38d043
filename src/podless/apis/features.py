"""The Kubernetes releases that podless supports, and the changes of behaviour between them.

changes.txt names changes of behaviour without a feature gate (for gates see apis/gates.py), with their releases. Code
asks for either by name (runtime/release.py), never for a release.

Sources: recorded answers of kube-apiserver 1.30 to 1.36, and the changelogs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from podless.apis.gates import GATES, apply_gates, list_ineffective
from podless.apis.wording import make_sources, make_wording
from podless.runtime.bounded import bounded_cache
from podless.runtime.option import StartError
from podless.runtime.release import Release, covers

# RECORDED is the newest release with recorded answers; later ones follow from their published documents
OLDEST, RECORDED, LATEST = 30, 36, 37
NAMES: Final = tuple(f"1.{minor}" for minor in range(OLDEST, LATEST + 1))
DEFAULT: Final = f"1.{RECORDED}"
UNRECORDED: Final = f"{NAMES[-1]} is a preview that was not compared with a real server"  # for help texts
SPANS: Final = "1.31,1.33, 1.31-1.33 or 1.31-"  # the formats that choose_all accepts, for help texts
# name of a change: the releases that have it
CHANGES: Final[Mapping[str, str]] = {
    line.split()[0]: line.split()[1]
    for line in Path(__file__).with_name("changes.txt").read_text().splitlines()
    if not line.startswith("#")
}


def choose_release(name: str = DEFAULT, gates: Mapping[str, bool] | None = None) -> Release:
    """Return a release with some gates set. Raises StartError for an unknown release or gate, or a locked gate."""
    if name not in NAMES:
        raise StartError(f"kubernetes-version: {name!r} is not one of {', '.join(NAMES)}")
    release = _release(name)
    if not gates:
        return release
    without = set(release.without)
    for gate, on in apply_gates(release.minor, gates).items():
        (without.discard if on else without.add)(gate)
    return replace(release, without=frozenset(without))


def describe_ineffective(name: str, gates: Mapping[str, bool]) -> str:
    """Return a warning about gates that are set and have no effect in podless, or ""."""
    idle = list_ineffective(_release(name).minor, gates)
    return f"feature-gates: no effect in podless: {', '.join(idle)}" if idle else ""


def choose_all(span: str) -> tuple[Release, ...]:
    """Return the releases in a span such as 1.31,1.34-, oldest first. Raises StartError."""
    for name in re.split("[,-]", span):
        if name:
            choose_release(name)
    try:
        chosen = tuple(choose_release(name) for name in NAMES if covers(span, _release(name).minor))
    except ValueError as error:
        raise StartError(f"kubernetes-version: {error}") from None
    if not chosen:
        raise StartError(f"kubernetes-version: no release is in {span!r}: put the older release first, as in 1.31-1.33")
    return chosen


@bounded_cache(16)
def _release(name: str) -> Release:
    minor = int(name.partition(".")[2])
    off = {gate.name for gate in GATES.values() if gate.has_effect(minor) and not gate.is_on(minor)}
    without = frozenset(off.union(one for one, span in CHANGES.items() if not covers(span, minor)))
    return Release(name, minor, without, make_wording(minor), make_sources(minor))


def parse_gates(text: str) -> dict[str, bool]:
    """Parse gates in kube-apiserver's format, NAME=true|false,… Raises ValueError."""
    found: dict[str, bool] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if not name:
            raise ValueError(f"{part}: the name of a gate is missing")
        if value.lower() not in ("true", "false"):
            raise ValueError(f"{part}: the value must be true or false")
        found[name] = value.lower() == "true"
    return found
