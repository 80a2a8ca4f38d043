"""Explorations from a Python program: as a blocking function, and as a decorator of tests."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

from podless.explore.explorer import Options, explore, replay
from podless.explore.findings import ExplorationReport
from podless.explore.laboratory import Setup, name_clients
from podless.explore.report import read_replay
from podless.explore.scenario import Scenario
from podless.runtime.arguments import reject_unknown_names
from podless.runtime.jsonobject import Object
from podless.runtime.system import new_event_loop
from podless.testing.manifests import Manifests
from podless.testing.snapshot import Snapshot

Command = str | Sequence[str]


class Steps:
    """Collects a scenario: the user's steps, in order, and the invariants. Runs nothing."""

    def __init__(self) -> None:
        self._document: dict[str, list[Any]] = {"steps": [], "always": [], "finally": [], "ignore": []}

    def apply(self, *objects: Object | str) -> None:
        """Apply objects: dicts, or the path of a file or folder."""
        self._add_step("apply", objects[0] if len(objects) == 1 else [*objects])

    def patch(self, kind: str, name: str, patch: Object, *, namespace: str = "default") -> None:
        """Change an object with a JSON merge patch."""
        self._add_step("patch", {"kind": kind, "name": name, "namespace": namespace, "patch": patch})

    def delete(self, kind: str, name: str, *, namespace: str = "default") -> None:
        """Delete an object."""
        self._add_step("delete", {"kind": kind, "name": name, "namespace": namespace})

    def wait(
        self, kind: str, name: str, for_: str | None = None, timeout: float = 10.0, *, namespace: str = "default"
    ) -> None:
        """Wait up to `timeout` seconds for an object: for a condition, "delete", or a CEL expression."""
        self._add_step("wait", {"kind": kind, "name": name, "namespace": namespace, "for": for_, "timeout": timeout})

    def advance(self, seconds: float) -> None:
        """Advance the server's clock."""
        self._add_step("advance", seconds)

    def always(self, kind: str, expression: str, message: str = "") -> None:
        """Require a CEL expression about `items`, all objects of a kind, after each write."""
        self._document["always"].append({"kind": kind, "expression": expression, "message": message})

    def finally_(self, kind: str, expression: str, message: str = "") -> None:
        """Require a CEL expression about `items` when the controller has settled after the last step."""
        self._document["finally"].append({"kind": kind, "expression": expression, "message": message})

    def ignore(self, *paths: str) -> None:
        """Allow fields to differ between runs, such as "status.lastSeen"."""
        self._document["ignore"] += paths

    def _add_step(self, verb: str, value: Any) -> None:
        self._document["steps"].append({verb: value})

    def read(self) -> Scenario:
        """Return the scenario. Raises BadScenario."""
        return Scenario.parse(self._document)


def explore_controller(
    command: Command,
    scenario: Scenario | str | os.PathLike[str],
    *,
    apply: Manifests = (),
    start: Snapshot | None = None,
    instances: int = 1,
    quiet: float | None = None,
    schedule: str | os.PathLike[str] | None = None,
    times: int = 1,
    settings: dict[str, Any] | None = None,
    **options: Any,
) -> ExplorationReport:
    """Look for schedules that break a controller, and block until that is done.

    command: of the controller, as a list or as one line. scenario: or the path of its file. apply: manifests that are
    there before the controller starts. start: the server's state before that. instances: number of controllers. quiet:
    seconds without requests after which an idle controller has settled, None for as long as is necessary. schedule: a
    replay file; it is run `times` times instead of exploring. options: as Options has them. Raises BadScenario,
    BadSchedule, OSError, StartError.
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.read(Path(scenario))
    clients = name_clients(instances)
    words = tuple(shlex.split(command) if isinstance(command, str) else command)
    setup = Setup(words, scenario, apply, clients, quiet=quiet, start=start, settings=settings)
    if schedule is None:
        work = explore(setup, Options(**options))
    else:
        work = replay(setup, read_replay(Path(schedule).read_bytes()), times)
    return _run_in_thread(work)


def run_exploration(work: Coroutine[Any, Any, ExplorationReport]) -> ExplorationReport:
    """Run an exploration on a fast event loop. Meanwhile the servers log only errors."""
    log = logging.getLogger("podless")
    level = log.level
    log.setLevel(logging.ERROR)  # controllers and servers compete for processors, so slow steps are no news
    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            return runner.run(work)
    finally:
        log.setLevel(level)


def _run_in_thread(work: Coroutine[Any, Any, ExplorationReport]) -> ExplorationReport:
    """Run an exploration in another thread, because the caller's may have an event loop. Ctrl-C ends it in order."""
    stop: list[Callable[[], object]] = []

    async def run() -> ExplorationReport:
        task = asyncio.current_task()
        assert task is not None
        stop.append(partial(asyncio.get_running_loop().call_soon_threadsafe, task.cancel))
        return await work

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run_exploration, run())
        try:
            return future.result()
        except KeyboardInterrupt:
            for cancel in stop:
                cancel()
            raise


def explore_test(command: Command, **options: Any) -> Callable[[Callable[[Steps], None]], Callable[[], None]]:
    """Make a test of a function that describes a scenario. It fails with the report if there is a finding.

    The arguments are those of `explore_controller`, without the scenario.
    """

    option_names = signature(explore_controller).parameters | signature(Options).parameters
    reject_unknown_names(options, option_names, "explore has no argument")

    def decorate(describe: Callable[[Steps], None]) -> Callable[[], None]:
        def run_test() -> None:
            __tracebackhide__ = True
            steps = Steps()
            describe(steps)
            report = explore_controller(command, steps.read(), **options)
            if not report.passed:
                raise AssertionError(str(report))

        # without functools.wraps, because pytest would see a fixture in the function's argument
        for name in ("__name__", "__doc__", "__module__"):
            setattr(run_test, name, getattr(describe, name))
        return run_test

    return decorate
