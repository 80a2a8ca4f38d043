"""One run: the controller is started, the steps of the scenario are taken, and what goes wrong meanwhile is noted."""

from __future__ import annotations

import asyncio
import time

from podless.explore.findings import Fault, Run
from podless.explore.gate import Control, Hooks, Watched
from podless.explore.laboratory import Laboratory
from podless.explore.points import Entry
from podless.explore.scenario import Invariant, UserStep
from podless.explore.schedule import Schedule
from podless.explore.states import State
from podless.remote.cluster import Refused
from podless.testing.client import Missing
from podless.testing.wait import Waited

_LOOK = 0.01  # seconds between two looks at whether a controller is idle
_HELD = 3.0  # seconds, and
_TRIED = 40  # requests, after which a controller that does not rest without the events that are held is given them
_START = 60.0  # seconds that a controller has for its first request
_START_QUIET = 0.3  # seconds of rest after a start: controller-runtime waits for its caches in steps of 0.1 s
_RETURN = 10.0  # seconds that an idle client has to open a watch again; client-go waits for 0.8 to 1.6 s at first


async def carry_out_run(laboratory: Laboratory, schedule: Schedule, expected: frozenset[Watched] | None = None) -> Run:
    """Carry out the scenario once under a schedule. Raises OSError where the command cannot be run.

    expected: the watches that the controller opens when it starts, None where that is not known yet.
    """
    await laboratory.reset()
    trial = _Trial(laboratory, schedule, expected)
    log = trial.control.log
    laboratory.admit(trial.control)
    began = time.monotonic()
    try:
        await trial.carry_out()
    finally:
        laboratory.admit(None)
        await trial.end()
    return Run(
        schedule=schedule,
        entries=tuple(log.entries),
        fingerprint=tuple(log.fingerprint()),
        state=await laboratory.read_state(log),
        faults=tuple(trial.faults),
        unused=tuple(map(str, trial.control.unused)),
        watched=trial.watched,
        states=trial.states,
        elects=trial.control.election.held and len(laboratory.setup.clients) > 1,
        output=laboratory.read_output(laboratory.setup.clients),
        seconds=time.monotonic() - began,
    )


class _Trial:
    """A run that is going on."""

    def __init__(self, laboratory: Laboratory, schedule: Schedule, expected: frozenset[Watched] | None) -> None:
        hooks = Hooks(
            laboratory.revision, laboratory.find_object, self._crash, self._check_invariants, laboratory.free_lease
        )
        self.control = Control(schedule, hooks, expected, laboratory.setup.clients)
        self.faults: list[Fault] = []
        self.watched: frozenset[Watched] = frozenset()
        self.states: dict[str, State] = {}
        self._laboratory = laboratory
        self._setup = laboratory.setup
        self._processes = {name: laboratory.make_process(name) for name in laboratory.setup.clients}
        self._restarts: list[asyncio.Task[None]] = []
        self._broken: set[Invariant] = set()
        self._started = True

    async def carry_out(self) -> None:
        """Start the controller, carry out all steps, and look at what must hold in the end."""
        for process in self._processes.values():  # one after the other: the first one leads
            await process.start()
            await self._wait_for_start()
            await self._settle()
        self.watched = self.control.watched
        for number, step in enumerate(self._setup.scenario.steps, 1):
            point = f"step {number}"
            self.control.begin_step(point, f"{point}: {step}", self._setup.clients)
            await self._take_step(step)
            rested = await self._settle()
            while self.control.holds and (self.control.release() or not rested):
                rested = await self._settle()
            if any(fault.oracle in ("restless", "exited") for fault in self.faults):
                return
            if number < len(self._setup.scenario.steps) and not self.control.holds:
                self.states[point] = await self._laboratory.read_state(self.control.log)
        while self.control.holds:
            self.control.release()
            await self._settle()
        for invariant in self._setup.scenario.last:
            await self._check(invariant)

    async def end(self) -> None:
        """Kill the controller."""
        for task in self._restarts:
            task.cancel()
        for process in self._processes.values():
            process.kill()
            await process.wait()
        self.control.close()

    async def _wait_for_start(self) -> None:
        until = time.monotonic() + _START
        while not (self.control.log.entries or self.control.watched or self._note_exits()):
            if time.monotonic() > until:
                self.faults.append(Fault("silent", f"for {_START:g} s"))
                return
            await asyncio.sleep(_LOOK)

    async def _settle(self) -> bool:
        """Wait until the controller has seen what it is to see, is idle, and asks for nothing. Return whether it is.

        Time is counted in looks of at least 10 ms: where a busy machine delays the controller, it delays them, too.
        """
        control, setup = self.control, self._setup
        asked, revision = len(control.log.entries), -1
        looks = idle = held = 0
        while not self._note_exits():
            requests = len(control.log.entries) - asked
            starting = bool(control.lost) or not all(task.done() for task in self._restarts)
            held = held + 1 if control.holds and not starting else 0
            if held > _HELD / _LOOK or (held and requests > _TRIED):
                return False  # it tries again until it sees what is held
            if looks > setup.limit / _LOOK or requests > setup.requests:
                self.faults.append(Fault("restless", self._describe_rush(asked)))
                return False
            looks += 1
            busy = sum(not process.is_idle() for process in self._processes.values())  # each is asked
            busy += control.take_activity() + bool(control.open) + control.election.awaited
            busy += sum(not task.done() for task in self._restarts)
            idle = 0 if busy or revision != self._count_changes() else idle + 1
            revision = self._count_changes()
            if idle * _LOOK >= self._wanted_rest():
                await self._laboratory.finish_controllers()
                if revision == self._count_changes():
                    control.failed = False
                    self._started = False
                    control.lost.clear()
                    return True
            await asyncio.sleep(_LOOK)
        return False

    def _count_changes(self) -> int:
        """Return the number of changes, without those of leases and events: leaders renew their lease all the time."""
        return self._laboratory.revision() - self.control.noise

    def _wanted_rest(self) -> float:
        """Return the seconds that the controller must be idle for."""
        if self.control.lost:  # it waits before it connects again, and sends nothing meanwhile
            return _RETURN
        quiet = max(self._setup.quiet, _START_QUIET) if self._started else self._setup.quiet
        return self._setup.patience if self.control.failed else quiet

    def _describe_rush(self, since: int) -> str:
        """Describe what a controller that does not come to rest does last."""
        last = [one.text for one in self.control.log.entries[since:] if one.kind in ("write", "read")][-40:]
        often = max(set(last), key=last.count) if last else "it computes"
        return often.partition(" #")[0]

    def _note_exits(self) -> bool:
        """Note processes that ended by themselves. Return whether there are any.

        A leader that was deposed ends itself, as client-go demands. It is started again, as a Deployment would do.
        """
        for name, process in self._processes.items():
            if process.exited is not None and name in self.control.election.deposed:
                self._crash(name)
                self.control.election.deposed.discard(name)
        ended = {name: process.exited for name, process in self._processes.items() if process.exited is not None}
        if ended and not any(fault.oracle == "exited" for fault in self.faults):
            self.faults += [Fault("exited", f"{name}, with code {code}") for name, code in ended.items()]
        return bool(ended)

    async def _take_step(self, step: UserStep) -> None:
        client, given = self._laboratory.client, step.given
        try:
            if step.verb == "apply":
                await client.apply(given, manager="explore")
            elif step.verb == "advance":
                self._laboratory.advance_clock(given)
            else:
                namespace = given.get("namespace", "default")
                if step.verb == "delete":
                    await client.delete(given["kind"], given["name"], namespace=namespace)
                elif step.verb == "patch":
                    await client.patch(given["kind"], given["name"], given["patch"], namespace=namespace)
                else:
                    wanted, seconds = given.get("for"), float(given.get("timeout", 10))
                    await client.wait(given["kind"], given["name"], wanted, seconds, namespace=namespace)
        except Waited as error:
            self.faults.append(
                Fault("wait", f"{step}: {'it was not as expected' if error.last else 'it was not there'}")
            )
        except (Refused, Missing) as error:
            self.faults.append(Fault("wait", f"{step}: {error}"))

    async def _check_invariants(self, entry: Entry) -> None:
        if entry.changed:
            for invariant in self._setup.scenario.always:
                await self._check(invariant)

    async def _check(self, invariant: Invariant) -> None:
        if invariant in self._broken:
            return
        if not invariant.holds(await self._laboratory.client.list(invariant.kind, namespace=None)):
            self._broken.add(invariant)
            self.faults.append(Fault("invariant", str(invariant)))

    def _crash(self, name: str) -> None:
        """Kill an instance and start it again."""
        process = self._processes[name]
        deposed = process.exited is not None
        process.kill()
        self._started = True
        self.control.forget_client(name)
        ended = "ends, because it no longer leads," if deposed else "is killed"
        self.control.log.add(Entry("process", name, f"{name} {ended} and is started again"))
        again = self._processes[name] = self._laboratory.make_process(name)

        async def restart() -> None:
            await process.wait()
            await again.start()

        self._restarts.append(asyncio.get_running_loop().create_task(restart()))
