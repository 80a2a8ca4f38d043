"""A server with a controller, on which runs follow each other from the same state."""

from __future__ import annotations

import asyncio
import contextvars
import os
import secrets
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import orjson

from podless.app import App, Settings
from podless.auth.authorizer import Attributes
from podless.auth.kubeconfig import by_token, make_kubeconfig
from podless.auth.user import User
from podless.cluster import Cluster
from podless.explore.gate import Gate, GatedRun
from podless.explore.points import Log
from podless.explore.process import ControllerProcess, OrphanKiller
from podless.explore.scenario import Scenario
from podless.explore.states import State, StateReader
from podless.http.record import RecentRequests
from podless.runtime.clock import CURRENT, Clock
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.testing.client import AdminClient
from podless.testing.manifests import Manifests
from podless.testing.snapshot import Snapshot

_QUIET_SECONDS = 0.15  # seconds without requests after which a controller is at rest that can wake by itself
_MAX_OUTPUT = 4000  # maximum characters of a controller's output in a report


@dataclass(frozen=True, slots=True)
class Setup:
    """The setup of all runs of an exploration."""

    command: tuple[str, ...]  # starts the controller
    scenario: Scenario
    apply: Manifests = ()  # applied to the server before the controller starts
    clients: tuple[str, ...] = ("controller",)  # names of the controller's instances
    # seconds without requests and events after which an idle controller has settled; None: 0 if Linux shows that only
    # the server can wake it, otherwise 0.15
    quiet: float | None = None
    start: Snapshot | None = None  # initial state of the server, None for an empty one
    settings: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if not self.clients:
            raise ValueError("instances: must be at least 1")
        if self.quiet is not None and self.quiet < 0:
            raise ValueError("quiet: must be 0 or more")

    @property
    def rest_seconds(self) -> float:
        """Seconds without requests after which a controller that can wake by itself is at rest."""
        return _QUIET_SECONDS if self.quiet is None else self.quiet


def name_clients(instances: int) -> tuple[str, ...]:
    """Return the names of a controller's instances."""
    return tuple("controller" if number == 1 else f"controller-{number}" for number in range(1, instances + 1))


class Laboratory:
    """One server, and the operations of a run on it. setup: that of its runs. report_problem: takes a text."""

    def __init__(self, setup: Setup, report_problem: Callable[[str], None] = lambda line: None) -> None:
        self.setup = setup
        self._report_problem = report_problem
        self._tokens = {secrets.token_hex(16): name for name in setup.clients}
        self._gate = Gate(self._tokens)
        # informers must list and watch, because a streamed list could not show an earlier state
        settings = Settings(
            tokens={token: User(name, groups=("system:masters",)) for token, name in self._tokens.items()},
            feature_gates={"WatchList": False},
            garbage_delay=0.0,  # at once, before clients see the deletion that causes it
            **(setup.settings or {}),
        )
        self._app = App(settings, [self._gate.wrap_handler])
        self._clock = Clock()
        self._context = contextvars.copy_context()
        self._context.run(CURRENT.set, self._clock)
        self._folder = tempfile.TemporaryDirectory(prefix="podless-explore-")
        self._orphans = OrphanKiller()
        self.final: Counter[str] = Counter()  # number of rests after each failure; the controller will not retry soon
        self._cluster: Cluster
        self._start: Snapshot
        self._reader: StateReader
        self.client: AdminClient

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        await loop.create_task(self._app.start(), context=self._context.copy())
        assert self._app.cluster is not None
        self._cluster = self._app.cluster
        await self._orphans.start()
        self.client = AdminClient(self._app, loop, self._context, RecentRequests())
        authority = self._app.authority.read_bytes()
        for token, name in self._tokens.items():
            self._kubeconfig_of(name).write_bytes(make_kubeconfig(self._app.url, by_token(token), authority, name))
        if self.setup.start is not None:
            await self.client.restore(self.setup.start)
        await self.client.apply(self.setup.apply)
        self._start = await self.client.snapshot()
        self._reader = StateReader(self._start.records, self.setup.scenario.ignore)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._orphans.end()
        await self._app.stop()
        self._folder.cleanup()

    def _kubeconfig_of(self, name: str) -> Path:
        return Path(self._folder.name, f"{name}.kubeconfig")

    async def reset_state(self, state: Snapshot | None = None) -> None:
        """Restore a state, by default the one before the first run."""
        await self.client.restore(state or self._start)

    def admit_run(self, control: GatedRun | None) -> None:
        """Set the run that controls the requests of clients. None rejects the requests of all clients."""
        self._gate.control = control

    async def read_state(self, log: Log) -> State:
        """Return the present state, without parts that may differ between runs."""
        return self._reader.read_state((await self.client.snapshot()).records, log.generated)

    @property
    def port(self) -> int:
        """The port of the server."""
        return urlsplit(self._app.url).port or 0

    @property
    def is_connecting(self) -> bool:
        """Whether a client waits for a new connection."""
        return self._app.is_connecting

    @property
    def is_delivering(self) -> bool:
        """Whether events have not reached watches yet: the server delivers them in batches, with pauses."""
        return bool(self._cluster.api.cache.deliveries.pending)

    def read_revision(self) -> int:
        """Return the revision of the present state."""
        return self._cluster.api.cache.revision

    async def finish_controllers(self) -> None:
        """Wait until the server's own controllers have processed all writes."""
        await self._cluster.settle(0.0)
        await self._cluster.api.cache.refresh()

    async def free_lease(self, lease: tuple[str, str]) -> None:
        """Take a lease from its holder."""
        namespace, name = lease
        await self.client.patch(
            "leases.coordination.k8s.io", name, {"spec": {"holderIdentity": ""}}, namespace=namespace
        )

    async def find_object(self, attributes: Attributes, name: str) -> Object | None:
        """Return the stored object of a request, None if it does not exist."""
        api = self._cluster.api
        kind = api.registry.get(attributes.group, attributes.resource)
        if kind is None or not name:
            return None
        entry = (await api.cache.load_collection(kind.keys)).get(kind.keys.key(attributes.namespace, name))
        return None if entry is None else dict(orjson.loads(entry.body))

    def advance_clock(self, seconds: float) -> None:
        """Advance the server's clock."""
        self._context.copy().run(self._clock.advance, seconds)

    def make_process(self, name: str) -> ControllerProcess:
        """Make the process of an instance of the controller, without starting it."""
        environment = {"KUBECONFIG": str(self._kubeconfig_of(name)), "PODLESS_EXPLORE": name}
        output = Path(self._folder.name, f"{name}.output")
        return ControllerProcess(self.setup.command, environment, output, self._orphans)

    def note_silence(self, name: str, seconds: float, limit: float) -> None:
        """Report that an instance has sent no request yet, and its kubeconfig."""
        self._report_problem(
            f"{name} has sent no request to {self._app.url} for {seconds:g} s: it must use the kubeconfig that "
            f"KUBECONFIG names ({self._kubeconfig_of(name)}); podless waits for {limit:g} s"
        )

    def read_output(self, names: Sequence[str]) -> str:
        """Return the recent output of instances, and clear it."""
        outputs = []
        for name in names:
            file = Path(self._folder.name, f"{name}.output")
            if file.exists():
                outputs.append(file.read_text("utf-8", "replace")[-_MAX_OUTPUT:])
                os.truncate(file, 0)  # the controller may continue to write
        return "".join(outputs)
