"""One run of a schedule: starts the controller, takes the steps of the scenario, and records faults.

An Explorer makes a Trial for each run. After each step, a Trial waits until the controller has settled; most of this
module decides when that is, because the controller is a program that podless can only observe.
"""

from __future__ import annotations

import asyncio
import time

from podless.explore.findings import Fault, Run
from podless.explore.gate import GatedRun, RunHooks, Watched
from podless.explore.laboratory import Laboratory
from podless.explore.points import LogEntry
from podless.explore.process import Instances
from podless.explore.scenario import Invariant, UserStep
from podless.explore.schedule import Schedule
from podless.explore.states import State
from podless.explore.turns import Turns
from podless.remote.cluster import Refused
from podless.testing.client import Missing
from podless.testing.snapshot import Snapshot
from podless.testing.wait import Waited

_IDLE_INTERVAL = 0.01  # seconds between two checks whether a controller is idle
_SURE = 2  # checks after which an idle controller has settled, if only the server can wake it
_MAX_HELD_SECONDS = 3.0  # seconds: with held events, the wait for a controller ends after this time,
_MAX_RETRIES = 20  # or after this number of requests: it retries until it sees the events
_PATIENCE = 2.0  # seconds of rest after an answer that the client will retry
_MAX_ROUND, _MAX_REQUESTS = 30.0, 400  # maximum seconds and requests of a round
_START = 60.0  # maximum seconds until a controller's first request
_LATE_START = 5.0  # seconds without one after which podless reports that it waits
_START_QUIET = 0.3  # seconds of rest after a start: controller-runtime polls its caches every 0.1 s
_RETURN = 10.0  # maximum seconds until an idle client opens a watch again; client-go first waits for 0.8 to 1.6 s
# seconds until a cut watch is open again, after which the client is expected to wait longer after each further cut:
# client-go and kube-rs first wait for 0.8 s, double that up to 30 s, and start again at 0.8 s after 120 s
_SLOW_RETURN = 0.5
_FINAL = 2  # rests after the same failure, after which no retry is expected
_REWINDS = 2  # resets after which a controller may write something by itself
_PAUSE, _LONGEST_PAUSE = 0.001, 0.01  # minimum and maximum seconds between two checks
# limits after which a controller counts as never resting: checks without computing, clock ticks of computing, and
# seconds, because a busy machine may not let it compute for long
_LOOKS, _TICKS, _LONGEST = 150, 100, 60.0
_HOPELESS = 3  # failures to rest in a row, after which podless waits no longer
# iterations of the event loop in which the server answers, or lets pass, all requests that clients have sent
LOOP_TURNS = 20


class Trial:
    """A run in progress. after: the previous run, if its controller is kept."""

    def __init__(
        self,
        laboratory: Laboratory,
        schedule: Schedule,
        expected: frozenset[Watched] | None = None,
        after: Trial | None = None,
    ) -> None:
        hooks = RunHooks(
            laboratory.read_revision,
            laboratory.find_object,
            self._restart_instance,
            self._check_invariants,
            laboratory.free_lease,
        )
        self.faults: list[Fault] = []
        self._schedule = schedule
        self._laboratory = laboratory
        self._setup = laboratory.setup
        self._reused = after is not None
        self._watched: frozenset[Watched] = frozenset()
        self._states: dict[str, State] = {}
        self._broken: set[Invariant] = set()
        self._began = time.monotonic()
        self._start: Snapshot | None = None  # the state in which the controller rested after its start
        if after is None:
            self.instances = Instances(laboratory.setup.clients, laboratory.make_process)
            turns = Turns(Stillness(laboratory, self.instances).wait_for_stillness)
        else:
            self.instances, self._start, self._watched = after.instances, after._start, after._watched
            turns = after.control.turns
        self.control: GatedRun = GatedRun(schedule, hooks, turns, expected, laboratory.setup.clients)
        self._starting = after is None
        if after is not None:
            self.control.take_over(after.control)

    async def carry_out(self) -> Run:
        """Start the controller, carry out all steps, and check the final invariants.

        Raises OSError if the command cannot be run.
        """
        if not self._reused:
            await self._start_instances()
        if not self.faults:  # false if the controller does not start
            await self._take_steps()
        log = self.control.log
        return Run(
            schedule=self._schedule,
            entries=tuple(log.entries),
            fingerprint=tuple(log.list_requests()),
            state=await self._laboratory.read_state(log),
            faults=tuple(self.faults),
            unused=tuple(map(str, self.control.unused)),
            watched=self._watched,
            states=self._states,
            elects=self.control.election.is_used and len(self._setup.clients) > 1,
            reused=self._reused,
            output=self._laboratory.read_output(self._setup.clients),
            seconds=time.monotonic() - self._began,
        )

    @property
    def is_worn(self) -> bool:
        """Whether the controller waited before it opened a cut watch again, and may wait longer in the next run."""
        return self.control.longest_absence > _SLOW_RETURN

    async def rewind_state(self) -> bool:
        """Return to the state in which the controller settled after its start.

        Returns whether it settles there again.
        """
        if self._start is None or len(self._setup.clients) > 1 or self.faults or self.instances.exited:
            return False
        for _ in range(_REWINDS):
            await self._laboratory.reset_state(self._start)
            revision = self._count_changes()
            if not await self._wait_until_settled() or self.control.watched != self._watched:
                return False
            if self._count_changes() == revision:
                return True
        return False

    async def kill_controller(self) -> None:
        """Kill the controller."""
        self.control.turns.end_turns()
        await self.instances.kill_all()
        self.control.end_watches()

    async def _start_instances(self) -> None:
        for name in self.instances.names:  # one after the other, so that the first one becomes the leader
            await self.instances.start_instance(name)
            await self._wait_for_start(name)
            await self._wait_until_settled()
        self._watched = self.control.watched
        self._start = await self._laboratory.client.snapshot()

    async def _take_steps(self) -> None:
        for number, step in enumerate(self._setup.scenario.steps, 1):
            point = f"step {number}"
            self.control.begin_step(point, f"{point}: {step}", self._setup.clients)
            await self._take_step(step)
            rested = await self._wait_until_settled()
            while self.control.is_holding and (self.control.end_round() or not rested):
                rested = await self._wait_until_settled()
            if any(fault.oracle in ("restless", "exited") for fault in self.faults):
                return
            if number < len(self._setup.scenario.steps) and not self.control.is_holding:
                self._states[point] = await self._laboratory.read_state(self.control.log)
        while self.control.is_holding:
            self.control.end_round()
            await self._wait_until_settled()
        for invariant in self._setup.scenario.last:
            await self._check_invariant(invariant)

    async def _wait_for_start(self, name: str) -> None:
        began, reported = time.monotonic(), False
        while not (self.control.log.entries or self.control.watched or self._note_exits()):
            waited, was_heard = time.monotonic() - began, name in self.control.heard_clients
            if waited > _START:
                reason = "but discovery, leases and events" if was_heard else "although KUBECONFIG names its kubeconfig"
                self.faults.append(Fault("silent", f"for {_START:g} s, {reason}"))
                return
            if waited > _LATE_START and not (was_heard or reported):
                reported = True
                self._laboratory.note_silence(name, _LATE_START, _START)
            await asyncio.sleep(_IDLE_INTERVAL)

    async def _wait_until_settled(self) -> bool:
        """Wait until the controller has seen all events, is idle, and sends no requests. Returns whether it settled.

        Time is counted in checks of at least 10 ms, because a busy machine that delays the controller delays them, too.
        """
        control, setup = self.control, self._setup
        first, revision = len(control.log.entries), -1
        looks = idle = held_rounds = 0
        while not self._note_exits():
            requests = len(control.log.entries) - first
            starting = bool(control.lost_watches) or self.instances.is_restarting
            held_rounds = held_rounds + 1 if control.is_holding and not starting else 0
            if held_rounds > _MAX_HELD_SECONDS / _IDLE_INTERVAL or (held_rounds and requests > _MAX_RETRIES):
                return False  # the controller retries until it sees the held events
            if looks > (_MAX_ROUND + setup.rest_seconds) / _IDLE_INTERVAL or requests > _MAX_REQUESTS:
                self.faults.append(Fault("restless", self._describe_rush(first)))
                return False
            looks += 1
            idle = idle + 1 if self._is_quiet(revision) else 0
            revision = self._count_changes()
            if idle and await self._has_rested(idle):
                await self._laboratory.finish_controllers()
                if revision == self._count_changes():
                    if idle * _IDLE_INTERVAL >= _PATIENCE:
                        self._laboratory.final[control.last_failure] += 1
                    control.last_failure = ""
                    self._starting = False
                    control.lost_watches.clear()
                    return True
            await asyncio.sleep(_IDLE_INTERVAL)
        return False

    def _is_quiet(self, revision: int) -> bool:
        """Return whether no request, answer, event, computation or change occurred since the last check."""
        control = self.control
        waits = control.open_requests or control.turns.has_waiting or control.election.is_awaited
        quiet = not (
            control.take_activity() or waits or self._laboratory.is_connecting or self._laboratory.is_delivering
        )
        return self.instances.are_idle() and quiet and revision == self._count_changes()

    async def _has_rested(self, idle: int) -> bool:
        """Return whether a controller that was idle in `idle` checks will do nothing more."""
        needed = self._wanted_rest()
        if idle * _IDLE_INTERVAL >= needed:
            return True
        only_server_wakes = self._setup.quiet is None and idle >= _SURE
        if not only_server_wakes or not self.instances.are_asleep(needed, self._laboratory.port):
            return False
        for _ in range(LOOP_TURNS):
            await asyncio.sleep(0)
        idle_still = self.instances.are_idle() and self.instances.are_asleep(needed, self._laboratory.port)
        arriving = self._laboratory.is_connecting or self._laboratory.is_delivering
        return idle_still and self.control.is_silent and not arriving

    def _count_changes(self) -> int:
        """Return the number of changes except those of leases and events: leaders keep renewing their lease."""
        return self._laboratory.read_revision() - self.control.noise

    def _wanted_rest(self) -> float:
        """Return the seconds that a controller must be idle if it can wake by itself."""
        if self.control.lost_watches:  # a client waits before it connects again, and sends nothing meanwhile
            return _RETURN
        if self.control.last_failure and self._laboratory.final[self.control.last_failure] < _FINAL:
            return _PATIENCE
        return max(self._setup.rest_seconds, _START_QUIET) if self._starting else self._setup.rest_seconds

    def _describe_rush(self, since: int) -> str:
        """Describe the last requests of a controller that does not settle."""
        last = [entry.text for entry in self.control.log.entries[since:] if entry.kind in ("write", "read")][-40:]
        most_frequent = max(set(last), key=last.count) if last else "it computes"
        return most_frequent.partition(" #")[0]

    def _note_exits(self) -> bool:
        """Record processes that ended by themselves. Return whether there are any.

        A deposed leader exits, as client-go demands. It is started again, as a Deployment would do.
        """
        for name in self.instances.exited.keys() & self.control.election.deposed:
            self._restart_instance(name)
            self.control.election.deposed.discard(name)
        ended = self.instances.exited
        if ended and not any(fault.oracle == "exited" for fault in self.faults):
            self.faults += [Fault("exited", f"{name}, with code {code}") for name, code in ended.items()]
        return bool(ended)

    async def _take_step(self, step: UserStep) -> None:
        client, value = self._laboratory.client, step.value
        try:
            if step.verb == "apply":
                await client.apply(value, manager="explore")
            elif step.verb == "advance":
                self._laboratory.advance_clock(value)
            else:
                namespace = value.get("namespace", "default")
                if step.verb == "delete":
                    await client.delete(value["kind"], value["name"], namespace=namespace)
                elif step.verb == "patch":
                    await client.patch(value["kind"], value["name"], value["patch"], namespace=namespace)
                else:
                    condition, seconds = value.get("for"), float(value.get("timeout", 10))
                    await client.wait(value["kind"], value["name"], condition, seconds, namespace=namespace)
        except Waited as error:
            text = "it was not as expected" if error.last else "it was not there"
            self.faults.append(Fault("wait", f"{step}: {text}"))
        except (Refused, Missing) as error:
            self.faults.append(Fault("wait", f"{step}: {error}"))

    async def _check_invariants(self, entry: LogEntry) -> None:
        if entry.changed:
            for invariant in self._setup.scenario.always:
                await self._check_invariant(invariant)

    async def _check_invariant(self, invariant: Invariant) -> None:
        if invariant in self._broken:
            return
        try:
            is_true = invariant.is_met(await self._laboratory.client.list(invariant.kind, namespace=None))
            problem = str(invariant)
        except (Refused, Missing) as error:
            is_true, problem = False, f"{invariant}: {error}"
        if not is_true:
            self._broken.add(invariant)
            self.faults.append(Fault("invariant", problem))

    def _restart_instance(self, name: str) -> None:
        deposed = name in self.instances.exited
        self._starting = True
        self.control.forget_client(name)
        ended = "ends, because it no longer leads," if deposed else "is killed"
        self.control.log.entries.append(LogEntry("process", name, f"{name} {ended} and is started again"))
        self.instances.restart_instance(name)


class Stillness:
    """Checks whether the instances of a controller and the server's own controllers have finished their work."""

    def __init__(self, laboratory: Laboratory, instances: Instances) -> None:
        self._laboratory = laboratory
        self._instances = instances
        self._restless = 0

    async def wait_for_stillness(self, turns: Turns) -> None:
        """Return when all threads wait, and no request is being sent or carried out."""
        instances, pause, looks = self._instances, _PAUSE, 0
        ticks, until = instances.ticks, time.monotonic() + _LONGEST
        while looks < _LOOKS and instances.ticks < ticks + _TICKS and time.monotonic() < until:
            if await self._is_still(turns):
                self._restless = 0
                return
            looks += not instances.is_running
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, _LONGEST_PAUSE)
        self._restless += 1

    async def _is_still(self, turns: Turns) -> bool:
        if turns.busy or self._laboratory.is_connecting:
            return False
        await self._laboratory.finish_controllers()
        if self._laboratory.is_delivering:  # events go before the answer of the write that made them
            return False
        if self._restless >= _HOPELESS:
            return not turns.busy
        if not self._instances.are_still():
            return False
        count = turns.count
        for _ in range(LOOP_TURNS):
            await asyncio.sleep(0)
        changed = turns.busy or count != turns.count or self._laboratory.is_connecting
        return not changed and not self._laboratory.is_delivering and self._instances.are_still()
