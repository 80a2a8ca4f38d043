"""A controller's process: starts and kills it, and checks whether it is idle."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from podless.explore.orphans import OrphanKiller
from podless.explore.waits import (
    PROC,
    Activity,
    Thread,
    find_next_wake,
    has_other_connections,
    list_sockets,
    read_activity,
)

_MOMENT = 0.06  # seconds: a thread with a shorter timeout counts as waking soon


class ControllerProcess:
    """A command that runs in its own process group.

    output: the file for its output. orphans: kills it if this process ends first, None if nothing does. killed: whether
    `kill` ended it.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], output: Path, orphans: OrphanKiller | None = None
    ) -> None:
        self.killed = False
        self._orphans = orphans
        self._command = command
        self._environment = {**environment, **(orphans.environment if orphans is not None else {})}
        self._output = output
        self._process: asyncio.subprocess.Process | None = None
        self._looks: tuple[Activity | None, Activity | None] = (None, None)
        self._looked = time.monotonic()  # start of the last check
        # run counter of each thread, and the earliest time since when it may wait
        self._waits: dict[Thread, tuple[int, float]] = {}
        self._sockets: frozenset[str] | None = None  # the sockets for which `_elsewhere` was determined
        self._elsewhere = False

    async def start(self) -> None:
        """Start the process. Raises OSError if the command cannot be run."""
        try:
            with self._output.open("ab") as output:
                self._process = await asyncio.create_subprocess_exec(
                    *self._command,
                    env={**os.environ, **self._environment},
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
        except OSError as error:  # uvloop's error lacks the file name
            number = error.errno or 0
            raise OSError(number, os.strerror(number), error.filename or self._command[0]) from None
        if self._orphans is not None:
            self._orphans.add_group(self._process.pid)

    @property
    def exited(self) -> int | None:
        """The exit code if the process ended without being killed, else None."""
        if self._process is None or self.killed:
            return None
        return self._process.returncode

    def kill(self) -> None:
        """Kill the process with all its children, at once."""
        self.killed = True
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def wait(self) -> None:
        """Wait until the process has ended."""
        if self._process is not None:
            await self._process.wait()
            if self._orphans is not None:
                self._orphans.drop_group(self._process.pid)

    def is_idle(self) -> bool:
        """Return whether all its threads wait, and used no CPU time since the last call.

        Without /proc, the process always counts as idle, and only its requests show that it works.
        """
        if self._process is None or not PROC.is_dir():
            return True
        before, now = self._check_threads(self._process.pid)
        return not now.running and before is not None and before.ticks == now.ticks

    @property
    def last_activity(self) -> Activity:
        """The activity at the last call of `is_idle` or `is_still`."""
        return self._looks[1] or Activity(False, 0, (), ())

    def is_still(self) -> bool:
        """Return whether no thread ran since the last call, and none will wake by itself soon.

        Without /proc, the process always counts as still.
        """
        if self._process is None or not PROC.is_dir():
            return True
        before, now = self._check_threads(self._process.pid)
        if now.running or before is None or (before.ran, before.threads) != (now.ran, now.threads):
            return False
        return find_next_wake(now.threads, self._list_waits(), unknown=math.inf) > _MOMENT

    def _check_threads(self, pid: int) -> tuple[Activity | None, Activity]:
        """Check the process once more. Return the last check and the new one."""
        before, looked = self._looks[1], self._looked
        self._looked, now = time.monotonic(), read_activity(pid)
        self._looks = (before, now)
        # a thread that ran since the last check may have started to wait right after it
        earlier, self._waits = self._waits, {}
        for thread, ran in zip(now.threads, now.ran, strict=True):
            former = earlier.get(thread)
            self._waits[thread] = former if former is not None and former[0] == ran else (ran, looked)
        return before, now

    def _list_waits(self) -> dict[Thread, float]:
        """Return the maximum time in seconds for which each thread may have waited."""
        now = time.monotonic()
        return {thread: now - since for thread, (_, since) in self._waits.items()}

    def is_asleep(self, seconds: float, port: int) -> bool:
        """Return whether only the server at a port can wake it within some seconds.

        True only if no thread ran between the last two calls of `is_idle`, none waits with a shorter timeout, and there
        are no connections to other servers.
        """
        before, now = self._looks
        if before is None or now is None or now.running or (before.ran, before.threads) != (now.ran, now.threads):
            return False
        wake = find_next_wake(now.threads, self._list_waits(), unknown=0.0)
        return wake > seconds and not self._is_connected_elsewhere(now, port)

    def _is_connected_elsewhere(self, now: Activity, port: int) -> bool:
        sockets = list_sockets(now.threads)
        if sockets is None:
            return True
        if sockets != self._sockets:  # reading them takes milliseconds, so only for new sockets
            self._sockets, self._elsewhere = sockets, has_other_connections(now.threads, sockets, port)
        return self._elsewhere
