"""The processes of a controller's instances: starts and kills them, and checks whether they are idle."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

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

    An explorer that gets SIGTERM or SIGKILL can no longer end its controllers. So this process reads their groups from
    a pipe that only the explorer writes to. The kernel closes the pipe when the explorer ends in any way. A controller
    that is being started has no known group yet, and one of its children may have left the group. On Linux, a variable
    in their environment identifies them. environment: variables for all controllers.
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


class ControllerProcess:
    """A command that runs in its own process group.

    output: the file for its output. orphans: kills it if this process ends first. killed: whether `kill` ended it.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], output: Path, orphans: OrphanKiller
    ) -> None:
        self.killed = False
        self._orphans = orphans
        self._command = command
        self._environment = {**environment, **orphans.environment}
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


class Instances:
    """The processes of a controller's instances, by client name. make: makes a process that is not started."""

    def __init__(self, names: tuple[str, ...], make: Callable[[str], ControllerProcess]) -> None:
        self.names = names
        self._make = make
        self._processes = {name: make(name) for name in names}
        self._restarts: list[asyncio.Task[None]] = []

    async def start_instance(self, name: str) -> None:
        """Start an instance. Raises OSError if the command cannot be run."""
        await self._processes[name].start()

    @property
    def is_restarting(self) -> bool:
        """Whether an instance is being restarted."""
        return not all(task.done() for task in self._restarts)

    @property
    def exited(self) -> dict[str, int]:
        """The exit codes of instances that ended by themselves."""
        codes = {name: process.exited for name, process in self._processes.items()}
        return {name: code for name, code in codes.items() if code is not None}

    def restart_instance(self, name: str) -> None:
        """Kill an instance and start it again."""
        process = self._processes[name]
        process.kill()
        successor = self._processes[name] = self._make(name)

        async def start_successor() -> None:
            await process.wait()
            await successor.start()

        self._restarts.append(asyncio.get_running_loop().create_task(start_successor()))

    def are_idle(self) -> bool:
        """Return whether all instances are idle, and were since the last call."""
        # a list, because each process must be checked
        idle = [process.is_idle() for process in self._processes.values()]
        return all(idle) and not self.is_restarting

    def are_still(self) -> bool:
        """Return whether no thread of any instance ran since the last call, and none will wake by itself soon."""
        # a list, because each process must be checked
        stills = [process.is_still() for process in self._processes.values()]
        return all(stills) and not self.is_restarting

    @property
    def is_running(self) -> bool:
        """Whether a thread of any instance was ready to run at the last check."""
        return any(process.last_activity.running for process in self._processes.values())

    @property
    def ticks(self) -> int:
        """The CPU time of all instances at the last check, in clock ticks."""
        return sum(process.last_activity.ticks for process in self._processes.values())

    def are_asleep(self, seconds: float, port: int) -> bool:
        """Return whether only the server at a port can wake an instance within some seconds."""
        return all(process.is_asleep(seconds, port) for process in self._processes.values())

    async def kill_all(self) -> None:
        """Kill all instances."""
        for task in self._restarts:
            task.cancel()
        for process in self._processes.values():
            process.kill()
            await process.wait()
