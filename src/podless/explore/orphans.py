"""Kills remaining controllers if the explorer ends without killing them.

An explorer that gets SIGTERM or SIGKILL can no longer end its controllers. So a small process reads their process
groups from a pipe that only the explorer writes to. The kernel closes the pipe when the explorer ends in any way. A
controller that is being started has no known group yet, and one of its children may have left the group. On Linux, a
variable in their environment identifies them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import sys
from collections.abc import Mapping

_VARIABLE = "PODLESS_EXPLORE_ID"
# a string, because it must start within milliseconds and must not import this package
_PROGRAM = """
import os, signal, sys
mark, groups = os.fsencode(sys.argv[1]), set()
for line in sys.stdin:
    group = int(line)
    groups.add(group) if group > 0 else groups.discard(-group)
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
    try:
        with open(f"/proc/{int(name)}/environ", "rb") as file:
            if mark in file.read().split(b"\\0"):
                os.kill(int(name), signal.SIGKILL)
    except (OSError, ValueError):
        pass
"""


class OrphanKiller:
    """A process that survives this one briefly, to kill the process groups that were added.

    environment: variables for all controllers.
    """

    def __init__(self) -> None:
        self.environment: Mapping[str, str] = {_VARIABLE: secrets.token_hex(8)}
        self._process: asyncio.subprocess.Process | None = None
        self._pipe = -1

    async def start(self) -> None:
        """Start the process. Raises OSError."""
        reading, self._pipe = os.pipe()  # no other child inherits them
        try:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", "-c", _PROGRAM, f"{_VARIABLE}={self.environment[_VARIABLE]}"),
                stdin=reading,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C in a terminal must not end it
            )
        finally:
            os.close(reading)

    def add_group(self, group: int) -> None:
        """Kill a process group when this process ends."""
        self._send_group(group)

    def drop_group(self, group: int) -> None:
        """Forget a process group that has ended: the kernel may give its number to another one."""
        self._send_group(-group)

    def _send_group(self, number: int) -> None:
        with contextlib.suppress(OSError):  # it was killed
            os.write(self._pipe, b"%d\n" % number)

    async def end(self) -> None:
        """End the process. It kills the remaining groups."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
        if self._process is not None:
            await self._process.wait()
