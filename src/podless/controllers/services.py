"""Dependents of Services: Endpoints are deleted with their Service, and each cluster IP has an IPAddress.

The leader does this before it answers a write, another server right after its answer. The start completes the
work of a stopped server. Source: Kubernetes' pkg/registry/core/service, storage and ipallocator.
"""

from __future__ import annotations

from collections.abc import Sequence

from podless.apis.core.group import ENDPOINTS, SERVICES
from podless.apis.core.serviceallocation import list_addresses
from podless.apis.networking.group import IP_ADDRESSES
from podless.cache.entry import Entry
from podless.cache.events import CacheEvent
from podless.cache.watchcache import WatchCache
from podless.controllers.controller import Controller
from podless.controllers.write import delete_all, make_object
from podless.runtime.jsonobject import Object
from podless.verbs.call import API

_MANAGED, _ALLOCATOR = "ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io"
_FAMILY = "ipaddress.kubernetes.io/ip-family"
_HEADLESS = b'"clusterIP":"None"'


class ServiceDependents(Controller):
    """Deletes Endpoints of deleted Services; creates and deletes IPAddresses. Keys are those of Services.

    EndpointSlices, and IPAddresses of clients, are left alone.
    """

    name = "service-endpoints"
    awaited = (SERVICES,)

    def __init__(self, api: API) -> None:
        super().__init__(api)
        self._released: dict[str, set[str]] = {}  # former addresses of a Service, by its key
        self._addresses: WatchCache | None = None  # None if IPAddresses are not served

    async def begin(self) -> None:
        services = await self.api.load_collection(SERVICES)
        if self.api.registry.get(IP_ADDRESSES.group, IP_ADDRESSES.plural) is not None:
            self._addresses = await self.api.load_collection(IP_ADDRESSES)
            for entry in services.list_entries():
                if _HEADLESS not in entry.body and self._missing_addresses(_service_addresses(entry)):
                    self.queue.add(entry.key)
            for entry in self._addresses.list_entries():
                self._note_stale(entry)
        self.leave.append(services.add_event_handler(self._note_events))
        await self.reconcile_all()

    def _note_events(self, events: Sequence[CacheEvent]) -> None:
        for event in events:
            before, after = _service_addresses(event.before), _service_addresses(event.after)
            if before != after:
                self._released.setdefault(event.key, set()).update(before - after)
            if event.after is None or before != after:
                self.queue.add(event.key)

    def _note_stale(self, entry: Entry) -> None:
        """Queue the deletion of an IPAddress whose Service was deleted or has other addresses."""
        obj = entry.decode()
        key = _service_key(obj)
        if key is not None and (obj["metadata"].get("labels") or {}).get(_MANAGED) == _ALLOCATOR:
            service = self.api.collection(SERVICES).get(key)
            if service is None or entry.name not in _service_addresses(service):
                self._released.setdefault(key, set()).add(entry.name)
                self.queue.add(key)

    def _missing_addresses(self, addresses: set[str]) -> list[str]:
        """Return the addresses without an IPAddress."""
        cache = self._addresses
        return [ip for ip in sorted(addresses) if cache is not None and cache.get(IP_ADDRESSES.key("", ip)) is None]

    async def reconcile(self, key: str) -> None:
        """Delete the Endpoints of a deleted Service; create and delete IPAddresses."""
        entry = self.api.collection(SERVICES).get(key)
        addresses = _service_addresses(entry)
        if entry is None:
            endpoints = await self.api.load_collection(ENDPOINTS)
            stale = endpoints.get(ENDPOINTS.prefix + key.removeprefix(SERVICES.prefix))
            if stale is not None:
                await delete_all(self.api, ENDPOINTS, [stale])
        if self._addresses is None:
            return
        released = self._released.pop(key, set())
        try:
            entries = [self._addresses.get(IP_ADDRESSES.key("", ip)) for ip in released - addresses]
            stale_addresses = [item for item in entries if item and _service_key(item.decode()) == key]
            await delete_all(self.api, IP_ADDRESSES, stale_addresses)
            if entry is not None:
                for ip in self._missing_addresses(addresses):
                    await make_object(self.api, IP_ADDRESSES, _make_address(ip, entry))
        except BaseException:
            self._released.setdefault(key, set()).update(released)
            raise


def _service_addresses(entry: Entry | None) -> set[str]:
    return set(list_addresses(entry.decode()["spec"])) if entry is not None else set()


def _service_key(obj: Object) -> str | None:
    """Return the key of the Service that has the IPAddress."""
    parent = obj["spec"].get("parentRef") or {}
    if parent.get("group") or parent.get("resource") != SERVICES.plural:
        return None
    return SERVICES.key(parent.get("namespace") or "", parent.get("name") or "")


def _make_address(ip: str, service: Entry) -> Object:
    family = "IPv6" if ":" in ip else "IPv4"
    return {
        "metadata": {"name": ip, "labels": {_FAMILY: family, _MANAGED: _ALLOCATOR}},
        "spec": {"parentRef": {"resource": SERVICES.plural, "namespace": service.namespace, "name": service.name}},
    }
