"""Offline commands, and a server, where POSIX modules and functions are not there; figures of macOS."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from podless.runtime import system

ROOT = Path(__file__).parent.parent.parent
BOTH = ("docs/examples/crontab-crd.yaml", "docs/examples/crontab.yaml")


# commands, their exit codes and pieces of what they print; 2 of plan: there is something to do
COMMANDS = [
    (("--help",), 0, "serve"),
    (("check", *BOTH), 0, "0 errors"),
    (("compare", "--kubernetes-version", "1.33,1.36", *BOTH), 0, "0 errors"),
    (("eval", "self.spec.image != ''", "--object", BOTH[1], "--schema", BOTH[0]), 0, "true"),
    (("schema", BOTH[0]), 0, '"properties"'),
    (("convert", BOTH[0]), 0, "CustomResourceDefinition"),
    (("plan", "--from-nothing", *BOTH), 2, "my-new-cron-object"),
    (("run", "--apply", BOTH[0], "--", sys.executable, "-c", "raise SystemExit(7)"), 7, ""),
]


def test_commands_need_nothing_that_windows_lacks() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.cli.lacking"],
        input=json.dumps([command for command, _, _ in COMMANDS]),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    for (command, code, told), (given, out) in zip(COMMANDS, json.loads(done.stdout), strict=True):
        assert (given, told in out) == (code, True), (command, out)


def test_memory_is_in_bytes_on_macos_and_in_kibibytes_on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    used = SimpleNamespace(ru_utime=1.0, ru_stime=0.5, ru_maxrss=2048)
    monkeypatch.setitem(sys.modules, "resource", SimpleNamespace(RUSAGE_SELF=0, getrusage=lambda who: used))
    monkeypatch.setattr(sys, "platform", "darwin")
    assert system.read_usage() == (1.5, 2048)
    monkeypatch.setattr(sys, "platform", "linux")
    assert system.read_usage() == (1.5, 2048 * 1024)


def test_macos_takes_no_limit_of_files_for_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []

    def set_limit(which: int, limits: tuple[int, int]) -> None:
        if limits[0] < 0:
            raise ValueError("current limit exceeds maximum limit")
        taken.append(limits)

    fake = SimpleNamespace(RLIMIT_NOFILE=8, getrlimit=lambda which: (256, -1), setrlimit=set_limit)
    monkeypatch.setitem(sys.modules, "resource", fake)
    system.raise_file_limit()
    assert taken == [(10_240, -1)]
