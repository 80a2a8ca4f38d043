"""Controllers end with the explorer, however that ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

# with a controller that has children, as one that a script starts
_EXPLORER = """
import asyncio, sys
from pathlib import Path
from podless.explore.process import ControllerProcess, OrphanKiller

async def main():
    orphans = OrphanKiller()
    await orphans.start()
    if sys.argv[2] == "starting":
        orphans.add_group = lambda group: None
    moved = "setsid " if sys.argv[2] == "moved" else ""
    command = ["sh", "-c", f"{moved}sleep 900 & sleep 901"]
    await ControllerProcess(command, {}, Path(sys.argv[1]), orphans).start()
    print("started", flush=True)
    await asyncio.sleep(900)

asyncio.run(main())
"""


def _find_processes(folder: Path) -> list[str]:
    """Return the processes whose output goes to a file in a folder."""
    found = []
    for link in Path("/proc").glob("[0-9]*/fd/1"):
        try:
            if link.readlink().is_relative_to(folder):
                found.append(link.parent.parent.name)
        except OSError:  # it has ended meanwhile
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("state", ["running", "starting", "moved"])
def test_controllers_end_with_an_explorer_that_is_killed(how: signal.Signals, state: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", _EXPLORER, str(tmp_path / "output"), state]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as explorer:
        assert explorer.stdout is not None
        assert explorer.stdout.readline() == b"started\n"
        assert _find_processes(tmp_path)
        explorer.send_signal(how)
    until = time.monotonic() + 60
    while _find_processes(tmp_path):
        assert time.monotonic() < until
        time.sleep(0.01)
