"""A server with a controller, in which one run follows the other from the same state."""

from __future__ import annotations

import asyncio
import contextvars
import secrets
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from podless.app import App, Settings
from podless.auth.attributes import Attributes
from podless.auth.kubeconfig import by_token, make_kubeconfig
from podless.auth.user import User
from podless.explore.findings import Fault, Run
from podless.explore.gate import Control, Gate, Hooks
from podless.explore.points import Entry
from podless.explore.process import ControllerProcess
from podless.explore.scenario import Invariant, Scenario, UserStep
from podless.explore.schedule import Schedule
from podless.explore.states import read_state
from podless.http.record import RecentRequests
from podless.remote.cluster import Refused
from podless.runtime.clock import CURRENT, Clock
from podless.runtime.jsonobject import Object
from podless.testing.client import Client, Missing
from podless.testing.manifests import Manifests
from podless.testing.snapshot import Snapshot
from podless.testing.wait import Waited

_LOOK = 0.01  # seconds between two looks at whether a controller is idle
_START = 30.0  # seconds that a controller has for its first request
_WORDS = 4000  # characters of a controller's output that a report shows


@dataclass(frozen=True, slots=True)
class Setup:
    """What all runs of an exploration have in common.

    command: of the controller. apply: manifests that are there before it starts. clients: names of the controller's
    instances. quiet: seconds without requests and events after which an idle controller is at rest. patience: the same
    after an answer that it will want to try again. limit: seconds that a round may take at the most. requests: that a
    round may have at the most.
    """

    command: tuple[str, ...]
    scenario: Scenario
    apply: Manifests = ()
    clients: tuple[str, ...] = ("controller",)
    quiet: float = 0.15
    patience: float = 2.0
    limit: float = 30.0
    requests: int = 400
    settings: Mapping[str, Any] | None = None


class Laboratory:
    """One server, and a controller that is started anew for each run."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._tokens = {secrets.token_hex(16): name for name in setup.clients}
        self._gate = Gate(self._tokens)
        # informers list and watch; a streamed list could not be shown from the past
        settings = Settings(
            tokens={token: User(name, groups=("system:masters",)) for token, name in self._tokens.items()},
            feature_gates={"WatchList": False},
            **(setup.settings or {}),
        )
        self._app = App(settings, [self._gate.filter])
        self._clock = Clock()
        self._context = contextvars.copy_context()
        self._context.run(CURRENT.set, self._clock)
        self._folder = tempfile.TemporaryDirectory(prefix="podless-explore-")
        self._start: Snapshot | None = None
        self.client: Client

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        await loop.create_task(self._app.start(), context=self._context.copy())
        self.client = Client(self._app, loop, self._context, RecentRequests())
        authority = self._app.authority.read_bytes()
        for token, name in self._tokens.items():
            self._kubeconfig(name).write_bytes(make_kubeconfig(self._app.url, by_token(token), authority, name))
        await self.client.apply(self._setup.apply)
        self._start = await self.client.snapshot()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._app.stop()
        self._folder.cleanup()

    def _kubeconfig(self, name: str) -> Path:
        return Path(self._folder.name, f"{name}.kubeconfig")

    async def run(self, schedule: Schedule) -> Run:
        """Carry out the scenario once under a schedule. Raises OSError where the command cannot be run."""
        assert self._start is not None
        await self.client.restore(self._start)
        trial = _Trial(self, self._setup, schedule)
        self._gate.control = trial.control
        began = time.monotonic()
        try:
            await trial.carry_out()
        finally:
            self._gate.control = None
            await trial.end()
        snapshot = await self.client.snapshot()
        log = trial.control.log
        return Run(
            schedule=schedule,
            entries=tuple(log.entries),
            fingerprint=tuple(log.fingerprint()),
            state=read_state(snapshot.records, log.generated, self._setup.scenario.ignore),
            faults=tuple(trial.faults),
            unused=tuple(map(str, trial.control.unused)),
            output=trial.read_output(),
            seconds=time.monotonic() - began,
        )

    def revision(self) -> int:
        """Return the revision of the present state."""
        assert self._app.cluster is not None
        return self._app.cluster.api.cache.revision

    async def find_object(self, asked: Attributes, name: str) -> Object | None:
        """Return the object that a request is about as it is stored, None where there is none."""
        assert self._app.cluster is not None
        api = self._app.cluster.api
        kind = api.registry.get(asked.group, asked.resource)
        if kind is None or not name:
            return None
        entry = (await api.cache.loaded(kind.keys)).get(kind.keys.key(asked.namespace, name))
        return None if entry is None else dict(orjson.loads(entry.body))

    def advance_clock(self, seconds: float) -> None:
        """Advance the server's clock."""
        self._context.copy().run(self._clock.advance, seconds)

    def make_process(self, name: str) -> ControllerProcess:
        """Make the process of an instance of the controller. Nothing is started yet."""
        environment = {"KUBECONFIG": str(self._kubeconfig(name)), "PODLESS_EXPLORE": name}
        return ControllerProcess(self._setup.command, environment, Path(self._folder.name, f"{name}.output"))

    def read_output(self, names: Sequence[str]) -> str:
        """Return what instances have printed last, and forget it."""
        told = []
        for name in names:
            file = Path(self._folder.name, f"{name}.output")
            if file.exists():
                told.append(file.read_text("utf-8", "replace")[-_WORDS:])
                file.unlink()
        return "".join(told)


class _Trial:
    """One run."""

    def __init__(self, laboratory: Laboratory, setup: Setup, schedule: Schedule) -> None:
        hooks = Hooks(laboratory.revision, laboratory.find_object, self._crash, self._check_invariants)
        self.control = Control(schedule, hooks)
        self.faults: list[Fault] = []
        self._laboratory = laboratory
        self._setup = setup
        self._processes = {name: laboratory.make_process(name) for name in setup.clients}
        self._restarts: list[asyncio.Task[None]] = []
        self._broken: set[Invariant] = set()

    async def carry_out(self) -> None:
        """Start the controller, carry out all steps, and look at what must hold in the end."""
        for process in self._processes.values():
            await process.start()
        await self._wait_for_start()
        await self._settle()
        for number, step in enumerate(self._setup.scenario.steps, 1):
            point = f"step {number}"
            self.control.begin_step(point, f"{point}: {step}", self._setup.clients)
            await self._take_step(step)
            await self._settle()
            while self.control.holds and self.control.release():
                await self._settle()
            if any(fault.oracle in ("restless", "exited") for fault in self.faults):
                return
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

    def read_output(self) -> str:
        """Return what the controller has printed last."""
        return self._laboratory.read_output(self._setup.clients)

    async def _wait_for_start(self) -> None:
        until = time.monotonic() + _START
        while not self.control.log.entries and not self._note_exits():
            if time.monotonic() > until:
                self.faults.append(Fault("silent", f"for {_START:g} s"))
                return
            await asyncio.sleep(_LOOK)

    async def _settle(self) -> None:
        """Wait until the controller has seen what it is to see, is idle, and asks for nothing."""
        control, setup = self.control, self._setup
        began, asked, revision = time.monotonic(), len(control.log.entries), -1
        while True:
            now = time.monotonic()
            if self._note_exits():
                return
            if now - began > setup.limit or len(control.log.entries) - asked > setup.requests:
                self.faults.append(Fault("restless", self._describe_rush(asked)))
                return
            busy = sum(not process.is_idle() for process in self._processes.values())  # each is asked
            if busy or revision != self._laboratory.revision() or not all(task.done() for task in self._restarts):
                control.active, revision = now, self._laboratory.revision()
            wanted = setup.patience if control.failed else setup.quiet
            if not control.open and now - control.active >= wanted:
                control.failed = False
                return
            await asyncio.sleep(_LOOK)

    def _describe_rush(self, since: int) -> str:
        """Describe what a controller that does not come to rest does last."""
        last = [one.text for one in self.control.log.entries[since:] if one.kind in ("write", "read")][-40:]
        often = max(set(last), key=last.count) if last else "it computes"
        return often.partition(" #")[0]

    def _note_exits(self) -> bool:
        """Note processes that ended by themselves. Return whether there are any."""
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
        process.kill()
        self.control.forget_client(name)
        self.control.log.add(Entry("process", name, f"{name} is killed and started again"))
        again = self._processes[name] = self._laboratory.make_process(name)

        async def restart() -> None:
            await process.wait()
            await again.start()

        self._restarts.append(asyncio.get_running_loop().create_task(restart()))
