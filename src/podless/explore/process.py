"""A controller's process: started, killed, and asked whether it is idle."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_PROC = Path("/proc")
_RUNNING = "RD"  # states of a thread that has something to do, in /proc/PID/stat


class ControllerProcess:
    """A command that runs in a process group of its own.

    output: the file that takes what it prints. killed: whether it was ended by `kill`.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], output: Path) -> None:
        self.killed = False
        self._command = command
        self._environment = environment
        self._output = output
        self._process: asyncio.subprocess.Process | None = None
        self._spent = -1

    async def start(self) -> None:
        """Start it. Raises OSError where the command cannot be run."""
        with self._output.open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                env={**os.environ, **self._environment},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    @property
    def exited(self) -> int | None:
        """The code with which it ended without having been killed, None where it did not."""
        if self._process is None or self.killed:
            return None
        return self._process.returncode

    def kill(self) -> None:
        """Kill it with all its children, at once."""
        self.killed = True
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def wait(self) -> None:
        """Wait until it is gone."""
        if self._process is not None:
            await self._process.wait()

    def is_idle(self) -> bool:
        """Return whether all its threads wait, and did so since the last call.

        Where there is no /proc, it is always idle, and only its requests say that it works.
        """
        if self._process is None or not _PROC.is_dir():
            return True
        spent = 0
        for state, ticks in _read_threads(self._process.pid):
            if state in _RUNNING:
                self._spent = -1
                return False
            spent += ticks
        before, self._spent = self._spent, spent
        return spent == before


def _read_threads(pid: int) -> Iterator[tuple[str, int]]:
    """Yield state and CPU time, in clock ticks, of the threads of a process and its children.

    Source: proc(5), /proc/PID/stat. The fields follow the command's name, which is in parentheses.
    """
    try:
        tasks = list((_PROC / str(pid) / "task").iterdir())
    except OSError:
        return
    for task in tasks:
        try:
            fields = (task / "stat").read_text().rpartition(")")[2].split()
            children = (task / "children").read_text().split()
        except OSError:  # it has ended meanwhile
            continue
        yield fields[0], int(fields[11]) + int(fields[12])
        for child in children:
            yield from _read_threads(int(child))
