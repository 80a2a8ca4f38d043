"""The controllers in examples/explore: how each is built and started, and its scenario."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podless.explore.embedded import explore_controller
from podless.explore.findings import ExplorationReport

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples/explore"
BUILT = ROOT / ".clients"  # not in git


@dataclass(frozen=True, slots=True)
class Example:
    """One controller. language: "python", "go" or "rust"."""

    name: str
    language: str
    scenario: str = "scenario.yaml"

    @property
    def command(self) -> list[str]:
        """The command that starts it."""
        if self.language == "python":
            return [sys.executable, str(EXAMPLES / f"python/{self.name}.py")]
        place = BUILT / "explore" if self.language == "go" else BUILT / "rust/debug"
        return [str(place / self.name)]

    def explore(self, *, mended: bool = False, runs: int = 300, **options: Any) -> ExplorationReport:
        """Explore it, or its mended form."""
        command = [*self.command, "--mended"] if mended else self.command
        return explore_controller(
            command, EXAMPLES / self.scenario, apply=EXAMPLES / "config.yaml", runs=runs, **options
        )


PROGRAMS = {
    one.name: one
    for one in (
        Example("create_twice", "go"),
        Example("lost_finalizer", "python"),
        Example("leaked_child", "python"),
        Example("status_ping_pong", "python"),
        Example("missed_delete", "python"),
        Example("wrong_owner", "go", "adoption.yaml"),
        Example("cache_read", "go"),
        Example("forgotten_requeue", "rust", "soil.yaml"),
    )
}


def build_programs(language: str) -> str:
    """Build the controllers in a language. Return why that is not possible, "" if it was. Needs a network at first."""
    if language == "python":
        return ""
    tool = {"go": "go", "rust": "cargo"}[language]
    if shutil.which(tool) is None:
        return f"{tool} is not on this machine"
    BUILT.mkdir(exist_ok=True)
    command = {
        "go": ["go", "build", "-mod=readonly", "-o", f"{BUILT / 'explore'}/", "./..."],
        "rust": ["cargo", "build", "--locked", "--quiet", "--target-dir", str(BUILT / "rust")],
    }[language]
    done = subprocess.run(command, cwd=EXAMPLES / language, capture_output=True, text=True, check=False)
    return done.stderr[-2000:] if done.returncode else ""
