"""The steps that podless is known to answer differently from the recorded server, each with its reason: known.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from tests.conformance.replay import Result

FILE = Path(__file__).parent / "known.toml"


@cache
def differences() -> dict[str, dict[int, str]]:
    """Return the reasons by recording (`AREA/NAME`, such as `corpus/rest/lists-s11n63`) and by number of the step.

    Raises ValueError for an entry without a reason, and for a step that is listed twice.
    """
    found: dict[str, dict[int, str]] = {}
    for entry in tomllib.loads(FILE.read_text())["known"]:
        steps = found.setdefault(entry["recording"], {})
        for number in entry["steps"]:
            if number in steps or not entry["reason"].strip():
                raise ValueError(f"{FILE.name}: {entry['recording']} step {number} is listed twice or has no reason")
            steps[number] = " ".join(entry["reason"].split())
    return found


def judge(area: str, result: Result, most: int | None = 10) -> str:
    """Return what is wrong with a result, "" if nothing: a step differs and is not listed, or is listed and exact.

    most: how many differences of a step to tell; None for all.
    """
    title = f"{area}/{result.scenario['name']}"
    listed, wrong = differences().get(title, {}), {*result.wrong()}
    lines = []
    if unknown := sorted(wrong - {*listed}):
        lines.append(f"{title}: steps {unknown} differ and are not in {FILE.name}\n{result.report(most, listed)}")
    if exact := sorted({*listed} - wrong):
        lines.append(f"{title}: steps {exact} are exact now: remove them from {FILE.name}")
    return "\n".join(lines)
