"""A server in memory on which a set is tried: no listener, the state of another API, and a record of every write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from podless.apis.apiextensions.group import DEFINITIONS
from podless.app import App, Settings
from podless.kinds import view
from podless.kinds.kind import Kind
from podless.meta import gvk
from podless.plan.applyset import GroupKind
from podless.plan.recording import Recorder, record_admission
from podless.plan.requests import JSON, ActingUser, Endpoint, Requester, RequestResult, read_warnings
from podless.runtime.jsonobject import Object
from podless.store import Operation, Record, StoredValue
from podless.store.keys import OWN
from podless.testing.ask import make_request, send_request
from podless.verbs import storage
from podless.verbs.call import API

_PAGE = 1000  # records in one read


class LoadedRecord(NamedTuple):
    """A key and the value to store, None if it must be absent."""

    key: str
    stored: StoredValue | None


class Simulation:
    """A server in memory, as an asynchronous context manager.

    release: the Kubernetes release, "" for the newest. call_webhooks, services: as in PlanOptions. acting: the user who
    applies the set, None for the administrator. recorder: of admission. actor: sends requests as that user.
    """

    def __init__(
        self,
        release: str = "",
        *,
        call_webhooks: bool = False,
        services: Mapping[str, str] | None = None,
        acting: ActingUser | None = None,
    ) -> None:
        release_option: dict[str, Any] = {"kubernetes_version": release} if release else {}
        self._app = App(Settings(garbage_delay=0.0, services=dict(services or {}), **release_option))
        self._call_webhooks = call_webhooks
        self.recorder = Recorder()
        self.actor: Requester = self if acting is None else _SimulatedUser(self, acting)

    async def __aenter__(self) -> Self:
        await self._app.start(listen=False)
        await record_admission(self.api, self._app.admission, self.recorder, call_webhooks=self._call_webhooks)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._app.stop()

    @property
    def api(self) -> API:
        """The API that verbs work on."""
        assert self._app.cluster is not None
        return self._app.cluster.api

    async def settle(self) -> None:
        """Wait until the controllers have processed all writes so far."""
        assert self._app.cluster is not None
        await self._app.cluster.settle()

    # requests

    async def send_request(
        self, method: str, path: str, body: Any = None, media: str = JSON, **query: str
    ) -> RequestResult:
        """Send a request as the administrator and return the answer. Raises Refused."""
        return await self.send({}, method, path, body, media, **query)

    async def send(
        self, headers: Mapping[str, str], method: str, path: str, body: Any = None, media: str = JSON, **query: str
    ) -> RequestResult:
        """Send a request with additional headers and return the answer. Raises Refused."""
        app = self._app
        request = make_request(app, method, path, body, media, query)
        request.headers.update(headers)
        document, answer = await send_request(app, request)
        warned = [value for name, value in answer.headers if name == "Warning"]
        return RequestResult(document, read_warnings(warned))

    def find_endpoint(self, api_version: str, kind: str) -> Endpoint | None:
        """Return the endpoint of a kind; None if it is not served."""
        group_version = gvk.parse_api_version(api_version)
        if group_version is None:
            return None
        for candidate in self.api.registry.list_kinds_of(group_version.group, group_version.version):
            if candidate.kind == kind and not candidate.virtual:
                return Endpoint(api_version, candidate.plural, candidate.kind, candidate.namespaced, candidate)
        return None

    def find_kind(self, group_kind: GroupKind) -> Endpoint | None:
        """Return the endpoint of a kind in its first version; None if it is not served."""
        for kind in self.api.registry:
            if (kind.group, kind.kind) == group_kind and not kind.virtual:
                return _endpoint_of(kind)
        return None

    def find_resource(self, resource: str, group: str) -> Endpoint | None:
        """Return the endpoint of a resource. resource: plural, singular or short name. group: its start, "" for any."""
        kinds = [
            kind
            for kind in self.api.registry
            if not kind.virtual and resource in (kind.plural, kind.singular, *kind.short_names)
        ]
        for kind in kinds:
            if not group or kind.group == group:
                return _endpoint_of(kind)
        return next((_endpoint_of(kind) for kind in kinds if kind.group.startswith(group)), None)

    # state

    async def load(self, records: Sequence[LoadedRecord]) -> None:
        """Store keys as they are, without requests. Definitions among them are served afterwards."""
        states = {record.key: record.stored for record in records}

        async def plan_operations() -> list[Operation]:
            present = {record.key: record for record in await self.read_records() if record.key in states}
            return [
                Operation(key, stored, present[key].revision if key in present else 0)
                for key, stored in states.items()
                if (stored is not None and (key not in present or present[key].stored != stored))
                or (stored is None and key in present)
            ]

        if states and await storage.commit_together(self.api, plan_operations):
            definitions = self.api.follow_ups.find_follow_up(DEFINITIONS)
            if definitions is not None:
                await definitions.reconcile_all()

    async def read_records(self) -> list[Record]:
        """Return all stored records except the server's own."""
        store = self.api.store
        revision, after, records = await store.read_revision(), "", list[Record]()
        while True:
            page, after = await store.read_page(revision, after, _PAGE)
            records += [record for record in page if not record.key.startswith(OWN)]
            if not after:
                return records


class _SimulatedUser:
    """Sends requests to a simulation as a user."""

    def __init__(self, simulation: Simulation, acting: ActingUser) -> None:
        self._simulation = simulation
        headers: dict[str, list[str]] = {}
        for name, value in acting.list_headers():
            headers.setdefault(name.lower(), []).append(value)
        self._headers = {name: "\n".join(values) for name, values in headers.items()}

    async def send_request(
        self, method: str, path: str, body: Any = None, media: str = JSON, **query: str
    ) -> RequestResult:
        return await self._simulation.send(self._headers, method, path, body, media, **query)


def _endpoint_of(kind: Kind) -> Endpoint:
    return Endpoint(kind.api_version(kind.versions[0].name), kind.plural, kind.kind, kind.namespaced, kind)


def encode_loaded(kind: Kind, obj: Object) -> LoadedRecord:
    """Return the record for an object of another API. obj: in any version that the kind has a struct for.

    Raises ValueError if it is not an object of the kind.
    """
    version = kind.by_version.get(str(obj["apiVersion"]).rpartition("/")[2])
    if version is None:
        raise ValueError(f"version {obj['apiVersion']} of {kind.kind} is not known")
    metadata = obj["metadata"]
    if not kind.custom:
        obj = kind.strategy.decode(kind, version, obj, [])
        metadata = obj["metadata"]
    obj = kind.strategy.make_stored(kind, obj)
    return LoadedRecord(kind.key(metadata.get("namespace") or "", metadata["name"]), view.encode_object(kind, obj))
