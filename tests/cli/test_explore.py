"""podless explore as a command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from podless.explore.waits import PROC
from tests.eventually import until

NOTE = "import os, pathlib, sys, time; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(900)"


def _lives(pid: int) -> bool:
    """Whether a process runs, and is not one that nobody has waited for yet."""
    if PROC.is_dir():
        status = PROC / str(pid) / "stat"
        return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_stopped_exploration_leaves_no_controller(tmp_path: Path) -> None:
    scenario, noted = tmp_path / "scenario.json", tmp_path / "pid"
    one = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}
    scenario.write_text(json.dumps({"steps": [{"apply": one}]}))
    command = [sys.executable, "-m", "podless", "explore", "--scenario", str(scenario), "--quiet", "600000", "--"]
    with subprocess.Popen([*command, sys.executable, "-c", NOTE, str(noted)], stderr=subprocess.PIPE, text=True) as run:
        until(lambda: bool(noted.read_text()))
        run.send_signal(signal.SIGTERM)
        assert run.stderr is not None
        assert "stopped before the end" in run.stderr.read()
    assert run.returncode == 2
    pid = int(noted.read_text())
    until(lambda: not _lives(pid))
