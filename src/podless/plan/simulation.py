"""A server in memory on which a set is tried: no listener, the state of another API, and a record of every write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

from podless.apis.apiextensions.group import DEFINITIONS
from podless.app import App, Settings
from podless.kinds import view
from podless.kinds.kind import Kind
from podless.meta import gvk
from podless.plan.options import PlanOptions
from podless.plan.recording import Recorder, record_admission
from podless.plan.requests import JSON, RequestResult, SendRequest, read_warnings
from podless.remote.resources import APIResource, Discovery
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

    options: of the plan. release: the Kubernetes release, "" for the newest. recorder: of admission. as_admin, as_user:
    send requests, as the administrator and as the user who applies the set.
    """

    def __init__(self, options: PlanOptions, release: str) -> None:
        release_option: dict[str, Any] = {"kubernetes_version": release} if release else {}
        self._app = App(Settings(garbage_delay=0.0, services=dict(options.services), **release_option))
        self._call_webhooks = options.call_webhooks
        self.recorder = Recorder()
        headers: dict[str, str] = {}
        for name, value in options.acting.list_headers() if options.acting is not None else ():
            headers[name.lower()] = f"{headers[name.lower()]}\n{value}" if name.lower() in headers else value
        self.as_admin: SendRequest = partial(self._send_request, {})
        self.as_user: SendRequest = partial(self._send_request, headers)

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

    async def _send_request(
        self, headers: Mapping[str, str], method: str, path: str, body: Any = None, media: str = JSON, **query: str
    ) -> RequestResult:
        request = make_request(self._app, method, path, body, media, query)
        request.headers.update(headers)
        document, answer = await send_request(self._app, request)
        return RequestResult(document, read_warnings(value for name, value in answer.headers if name == "Warning"))

    def find_kind(self, api_version: str, kind: str) -> Kind | None:
        """Return a kind; None if it is not served."""
        version = gvk.parse_api_version(api_version)
        served = self.api.registry.list_kinds_of(version.group, version.version) if version is not None else ()
        return next((candidate for candidate in served if candidate.kind == kind and not candidate.virtual), None)

    def find_resource(self, api_version: str, kind: str) -> APIResource | None:
        """Return the resource of a kind; None if it is not served."""
        found = self.find_kind(api_version, kind)
        return None if found is None else APIResource(api_version, found.plural, found.kind, found.namespaced)

    def make_discovery(self) -> Discovery:
        """Return the discovery documents of the server."""

        async def get(path: str) -> Object:
            return (await self.as_admin("GET", path)).obj

        return Discovery(get)

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
