"""APIServices: one for each served group-version, and those of clients in discovery and with their availability.

podless does not proxy requests to other servers, so an APIService with a service is never available. Source:
kube-aggregator's apiserver, its autoregister controller, and controllers/status.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from podless.apis import catalog
from podless.apis.apiregistration.apiservices import set_available, set_local
from podless.apis.apiregistration.group import API_SERVICES
from podless.apis.core.group import SERVICES
from podless.apis.discovery.group import ENDPOINT_SLICES
from podless.cache.entry import Entry
from podless.cache.events import CacheEvent
from podless.controllers.controller import KindController
from podless.controllers.write import SELF, amend_object, make_object, report_status
from podless.kinds.kind import Kind
from podless.kinds.registry import AnnouncedVersion
from podless.runtime import clock
from podless.runtime.bounded import bounded_cache
from podless.runtime.jsonobject import Object
from podless.store.keys import name_of
from podless.verbs.call import API

_MANAGED = "kube-aggregator.kubernetes.io/automanaged"  # this label is missing on APIServices of clients
_RESTORED, _AT_START = "true", "onstart"  # always restored, or created at the start and then left to clients
_DELAY = 0.05  # seconds to collect changes
_ALL_KEY = "all"
_OF_SERVICE = "kubernetes.io/service-name"


class APIServiceController(KindController):
    """Creates and deletes APIServices as the registry changes. Keys are those of APIServices."""

    name = "autoregister-completion"
    kind = API_SERVICES

    def __init__(self, api: API) -> None:
        super().__init__(api)
        self._begun = False

    async def begin(self) -> None:
        await self._collection.load()
        registry = self.api.registry
        self.leave.append(registry.follow_versions(lambda *served: self.queue.add(self._make_key(*served), _DELAY)))
        self.leave.append(self._collection.add_event_handler(self._note_events))
        keys = [self._make_key(*served) for served in registry.group_versions()]
        for key in dict.fromkeys([*keys, *(entry.key for entry in self._list_stored())]):
            self.queue.add(key)
        await self.reconcile_all()
        self._begun = True

    def _make_key(self, group: str, version: str) -> str:
        return self.kind.key("", f"{version}.{group}")

    def _note_events(self, events: Sequence[CacheEvent]) -> None:
        """Reconcile managed and deleted APIServices, to undo changes by clients."""
        for event in events:
            if event.after is None or _is_managed(event.after):
                self.queue.add(event.key, _DELAY)

    async def reconcile(self, key: str) -> None:
        version, _, group = name_of(key).partition(".")
        # the group apiregistration.k8s.io itself has no APIService
        kinds = self.api.registry.list_kinds_of(group, version) if group != self.kind.group else []
        entry = self._collection.get(key)
        if not kinds:
            if entry is not None and _is_managed(entry):
                await amend_object(self.api, self.kind, key, lambda _: None)
            return
        custom = kinds[-1].custom
        if self._begun and not custom:
            return
        spec = _make_spec(group, version)
        if entry is None:
            metadata = {"name": f"{version}.{group}", "labels": {_MANAGED: _RESTORED if custom else _AT_START}}
            service = {"metadata": metadata, "spec": spec}
            await make_object(self.api, self.kind, service, constant="" if custom else clock.now())
        elif _is_managed(entry) and entry.decode()["spec"] != spec:
            await amend_object(self.api, self.kind, key, lambda obj: {**obj, "spec": spec})


def _is_managed(entry: Entry) -> bool:
    """Return whether an APIService belongs to `APIServiceController`."""
    return entry.labels.get(_MANAGED) in (_RESTORED, _AT_START)


@bounded_cache(4096)
def _make_spec(group: str, version: str) -> Object:
    named = {"group": group, "version": version} if group else {"version": version}
    priority = catalog.version_priority(group, version)
    return {**named, "groupPriorityMinimum": catalog.group_priority(group), "versionPriority": priority}


class APIServiceRegistration(KindController):
    """Updates the registry with clients' APIServices. Every server does so for itself."""

    name = "poststarthook/apiservice-registration-controller"
    kind = API_SERVICES
    awaited = (API_SERVICES,)
    leads = False

    def __init__(self, api: API) -> None:
        super().__init__(api)
        self._client_services: dict[str, Entry] = {}  # APIServices of clients, by key

    async def begin(self) -> None:
        await super().begin()
        self.queue.add(_ALL_KEY)
        await self.reconcile_all()

    def _note_events(self, events: Sequence[CacheEvent]) -> None:
        for event in events:
            service = self._client_services.pop(event.key, None)
            if event.after is not None and _MANAGED not in event.after.labels:
                self._client_services[event.key] = service = event.after
            if service is not None:
                self.queue.add(_ALL_KEY)

    def find_due_keys(self, key: str) -> Iterable[str]:
        return (_ALL_KEY,)

    async def reconcile(self, key: str) -> None:
        announced = {}
        for key in sorted(self._client_services):
            spec = self._client_services[key].decode()["spec"]
            priorities = spec["groupPriorityMinimum"], spec["versionPriority"]
            announcement = AnnouncedVersion(*priorities, remote=spec.get("service") is not None)
            announced[spec.get("group", ""), spec.get("version", "")] = announcement
        self.api.registry.set_announced(announced)


class APIServiceAvailability(KindController):
    """Reports in the status of an APIService why its service is unavailable. Keys are those of APIServices."""

    name = "poststarthook/apiservice-status-remote-available-controller"
    kind = API_SERVICES

    def __init__(self, api: API) -> None:
        super().__init__(api)
        self._remote: dict[str, tuple[str, str]] = {}  # namespace and name of the service, by key
        self._followed: set[Kind] = set()

    async def begin(self) -> None:
        await super().begin()
        await self.reconcile_all()

    def _note_events(self, events: Sequence[CacheEvent]) -> None:
        for event in events:
            if event.after is None:
                self._remote.pop(event.key, None)
            elif _MANAGED not in event.after.labels:
                self.queue.add(event.key)

    def _note_backend(self, events: Sequence[CacheEvent]) -> None:
        """Reconcile APIServices after changes of their service or endpoints."""
        entries = [entry for event in events if (entry := event.after or event.before) is not None]
        changed = {(entry.namespace, entry.labels.get(_OF_SERVICE) or entry.name) for entry in entries}
        for key, service in self._remote.items():
            if service in changed:
                self.queue.add(key)

    async def _watch_services(self) -> None:
        """Watch Services and EndpointSlices as soon as an APIService has a service."""
        for kind in (SERVICES, ENDPOINT_SLICES):
            if self.api.registry.get(kind.group, kind.plural) is not None:
                await self.api.load_collection(kind)
                if kind not in self._followed:
                    self._followed.add(kind)
                    await self.watch_kind(kind, self._note_backend)

    async def reconcile(self, key: str) -> None:
        entry = self._collection.get(key)
        if entry is None or entry.terminating:
            return
        spec = entry.decode()["spec"]
        service = spec.get("service")
        if service is None:
            self._remote.pop(key, None)
        else:
            self._remote[key] = service["namespace"], service["name"]
            await self._watch_services()

        def update_condition(obj: Object) -> Object:
            if service is None:
                set_local(obj)
            else:
                set_available(obj, "False", *self._find_fault(spec))
            return obj

        await report_status(self.api, self.kind, key, update_condition, SELF)

    def _list_entries(self, kind: Kind, namespace: str) -> Sequence[Entry]:
        served = self.api.registry.get(kind.group, kind.plural) is not None
        return self.api.collection(kind).list_entries(namespace) if served else ()

    def _find_fault(self, spec: Object) -> tuple[str, str]:
        """Return reason and message if the service is unreachable; ("", "") if it is reachable."""
        namespace, name, port = (spec["service"][field_name] for field_name in ("namespace", "name", "port"))
        key = SERVICES.key(namespace, name)
        services = {entry.key: entry for entry in self._list_entries(SERVICES, namespace)}
        entry = services.get(key)
        if entry is None:
            return "ServiceNotFound", f'service/{name} in "{namespace}" is not present'
        service = entry.decode()["spec"]
        if service.get("type") == "ClusterIP" and (fault := self._find_unready(service, namespace, name, port)):
            return fault
        host = service.get("externalName") or service.get("clusterIP") or ""
        address = f"https://{host}:{port}/apis/{spec['group']}/{spec['version']}"
        reason = f'failing or missing response from {address}: Get "{address}": there is no network behind this server'
        return "FailedDiscoveryCheck", reason

    def _find_unready(self, service: Object, namespace: str, name: str, port: int) -> tuple[str, str] | None:
        """Return reason and message if a service with an address lacks a port or endpoints, None if it is available."""
        port_entry = next((entry for entry in service.get("ports") or () if entry["port"] == port), None)
        if port_entry is None:
            return "ServicePortError", f'service/{name} in "{namespace}" is not listening on port {port}'
        of_namespace = self._list_entries(ENDPOINT_SLICES, namespace)
        slices = [entry.decode() for entry in of_namespace if entry.labels.get(_OF_SERVICE) == name]
        if not slices:
            return "EndpointsNotFound", f'cannot find endpointslices for service/{name} in "{namespace}"'
        called = port_entry.get("name", "")
        if not any(_has_ready_address(entry, called) for entry in slices):
            subject = f'endpointslices for service/{name} in "{namespace}"'
            return "MissingEndpoints", f'{subject} have no addresses with port name "{called}"'
        return None


def _has_ready_address(endpoint_slice: Object, port_name: str) -> bool:
    if all(port.get("name", "") != port_name for port in endpoint_slice.get("ports") or ()):
        return False
    endpoints = endpoint_slice.get("endpoints") or ()
    return any(
        endpoint.get("addresses") and (endpoint.get("conditions") or {}).get("ready") is not False
        for endpoint in endpoints
    )
