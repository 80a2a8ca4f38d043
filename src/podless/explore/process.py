"""A controller's process: started, killed, and asked whether it is idle."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from podless.explore.waits import (
    PROC,
    UNKNOWN,
    Look,
    find_next_wake,
    has_other_connections,
    list_sockets,
    look_at,
)

_MOMENT = 0.06  # seconds


class ControllerProcess:
    """A command that runs in its own process group.

    output: the file for its output. killed: whether `kill` ended it.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], output: Path) -> None:
        self.killed = False
        self._command = command
        self._environment = environment
        self._output = output
        self._process: asyncio.subprocess.Process | None = None
        self._looks: tuple[Look | None, Look | None] = (None, None)
        self._sockets: frozenset[str] | None = None  # for which `_elsewhere` is known
        self._elsewhere = False

    async def start(self) -> None:
        """Start it. Raises OSError where the command cannot be run."""
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
        except OSError as error:  # uvloop does not name the file
            number = error.errno or 0
            raise OSError(number, os.strerror(number), error.filename or self._command[0]) from None

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
        """Return whether all its threads wait, and used no CPU time since the last call.

        Without /proc, it counts as always idle, and only its requests show that it works.
        """
        if self._process is None or not PROC.is_dir():
            return True
        before, now = self._looks[1], look_at(self._process.pid)
        self._looks = (before, now)
        return not now.running and before is not None and before.ticks == now.ticks

    @property
    def last_look(self) -> Look:
        """The activity at the last call of `is_idle` or `is_still`."""
        return self._looks[1] or Look(False, 0, 0, ())

    def is_still(self) -> bool:
        """Return whether no thread ran since the last call, and none will wake by itself in a moment.

        Without /proc, it counts as always still.
        """
        if self._process is None or not PROC.is_dir():
            return True
        before, now = self._looks[1], look_at(self._process.pid)
        self._looks = (before, now)
        if now.running or before is None or (before.ran, before.threads) != (now.ran, now.threads):
            return False
        wake = find_next_wake(now.threads)
        return wake > _MOMENT or wake == UNKNOWN

    def sleeps(self, seconds: float, port: int) -> bool:
        """Return whether only the server at a port can wake it within some seconds.

        That is known if no thread ran between the last two calls of `is_idle`, none waits with a shorter limit, and
        there are no connections to other servers.
        """
        before, now = self._looks
        if before is None or now is None or now.running or (before.ran, before.threads) != (now.ran, now.threads):
            return False
        return find_next_wake(now.threads) > seconds and not self._is_connected_elsewhere(now, port)

    def _is_connected_elsewhere(self, now: Look, port: int) -> bool:
        sockets = list_sockets(now.threads)
        if sockets is None:
            return True
        if sockets != self._sockets:  # only new ones are worth the time
            self._sockets, self._elsewhere = sockets, has_other_connections(now.threads, sockets, port)
        return self._elsewhere
