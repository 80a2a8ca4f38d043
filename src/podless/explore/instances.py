"""The instances of a controller: starts and kills them, and checks whether they are idle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from podless.explore.process import ControllerProcess

Make = Callable[[str], ControllerProcess]  # makes the process of a client


class Instances:
    """The processes of a controller's instances, by client name. make: makes a process that is not started."""

    def __init__(self, names: tuple[str, ...], make: Make) -> None:
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
