"""The instances of a controller: started, killed, started again, and asked whether they are idle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from podless.explore.process import ControllerProcess

Make = Callable[[str], ControllerProcess]  # makes the process of a client


class Instances:
    """The processes of a controller's instances, by the names of their clients. make: makes one that is not started."""

    def __init__(self, names: tuple[str, ...], make: Make) -> None:
        self.names = names
        self._make = make
        self._processes = {name: make(name) for name in names}
        self._restarts: list[asyncio.Task[None]] = []

    async def start(self, name: str) -> None:
        """Start one. Raises OSError where the command cannot be run."""
        await self._processes[name].start()

    @property
    def restarting(self) -> bool:
        """Whether one is being started again."""
        return not all(task.done() for task in self._restarts)

    @property
    def exited(self) -> dict[str, int]:
        """The codes with which instances ended by themselves."""
        codes = {name: process.exited for name, process in self._processes.items()}
        return {name: code for name, code in codes.items() if code is not None}

    def restart(self, name: str) -> None:
        """Kill an instance and start it again."""
        process = self._processes[name]
        process.kill()
        again = self._processes[name] = self._make(name)

        async def restart() -> None:
            await process.wait()
            await again.start()

        self._restarts.append(asyncio.get_running_loop().create_task(restart()))

    def are_idle(self) -> bool:
        """Return whether all are idle, and were since the last call."""
        idle = [process.is_idle() for process in self._processes.values()]  # each is asked
        return all(idle) and not self.restarting

    def are_still(self) -> bool:
        """Return whether no thread of any ran since the last call, and none will wake by itself in a moment."""
        still = [process.is_still() for process in self._processes.values()]  # each is asked
        return all(still) and not self.restarting

    @property
    def running(self) -> bool:
        """Whether a thread of any was about to run at the last look."""
        return any(process.last_look.running for process in self._processes.values())

    @property
    def ticks(self) -> int:
        """The CPU time of all at the last look, in clock ticks."""
        return sum(process.last_look.ticks for process in self._processes.values())

    def sleep(self, seconds: float, port: int) -> bool:
        """Return whether only the server at a port can wake any of them within some seconds."""
        return all(process.sleeps(seconds, port) for process in self._processes.values())

    async def end(self) -> None:
        """Kill all."""
        for task in self._restarts:
            task.cancel()
        for process in self._processes.values():
            process.kill()
            await process.wait()
