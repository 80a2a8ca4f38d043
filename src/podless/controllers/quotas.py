"""Updates the usage in the status of ResourceQuotas."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence

from podless.apis.core import usage
from podless.apis.core.group import QUOTAS
from podless.apis.core.metering import Meter
from podless.apis.core.resourcequotas import STANDARD, find_counted_kind
from podless.cache.entry import Entry
from podless.cache.events import CacheEvent
from podless.cache.watchcache import WatchCache
from podless.codec import quantity
from podless.controllers.controller import KindController, Leave
from podless.controllers.write import report_status
from podless.kinds.kind import Kind
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge
from podless.verbs.call import API

_MEASURED = (("", "pods"), ("", "persistentvolumeclaims"), ("", "services"), ("resource.k8s.io", "resourceclaims"))
_NAME_STEPS = 4  # steps to find the kind of a name
_MANAGER = "kube-controller-manager"  # the manager of a quota's status in a real cluster


class QuotaController(KindController):
    """Follows quotas and the objects that they count. Keys are those of namespaces."""

    name = "resourcequota-controller"
    kind = QUOTAS

    def __init__(self, api: API, meter: Meter) -> None:
        super().__init__(api)
        self._followed: dict[str, Leave] = {}
        self._meter = meter

    async def begin(self) -> None:
        """Load the quotas first, so that creates cannot exceed them; then count."""
        await super().begin()
        self.leave.append(self.api.registry.add_listener(self._recount_all))

    async def stop(self) -> None:
        self.leave += self._followed.values()
        await super().stop()

    def _recount_all(self) -> None:
        """Reconcile all namespaces that have quotas."""
        self._queue_quotas(entry.namespace for entry in self._list_stored())

    def _note_events(self, events: Sequence[CacheEvent]) -> None:
        self._queue_quotas(event.after.namespace for event in events if event.after is not None)

    def _handle_counted(self, events: Sequence[CacheEvent], *, measured: bool) -> None:
        """Reconcile quotas after counted objects were created or deleted. measured: also after updates."""
        moved = [entry for event in events if (entry := _counted_object(event, measured=measured)) is not None]
        if moved:
            self._queue_quotas(entry.namespace for entry in moved)

    def _queue_quotas(self, namespaces: Iterable[str]) -> None:
        for namespace in namespaces:
            self.queue.add(namespace)

    async def reconcile(self, key: str) -> None:
        # one after the other: a namespace can have many quotas for thousands of resources
        for entry in self._collection.list_entries(key):
            await self.api.off_loop.slices.slice_coroutine(self._update_usage(entry))
            await asyncio.sleep(0)  # many that end within their first slices would hold the loop together

    async def _update_usage(self, entry: Entry) -> None:
        """Update the status of a quota to the current usage."""
        obj = entry.decode()
        hard = obj["spec"].get("hard") or {}
        counted = self._counted_kinds(hard)
        caches = {name: await self._follow_counted(kind) for name, kind in counted.items()}
        metered = [(kind, names, await self._follow_counted(kind)) for kind, names in self._measured_kinds(hard)]

        def count_usage(obj: Object) -> Object:
            numbers = dict.fromkeys((name for name in hard if name in STANDARD), 0)
            numbers |= {name: cache.count_entries(cache.keys.scope(entry.namespace)) for name, cache in caches.items()}
            used = {name: quantity.canonicalize_quantity(str(number)) for name, number in numbers.items()}
            for kind, names, cache in metered:
                used |= self._meter.measure_usage(kind, cache, entry.namespace, obj, names)
            used = dict(sorted(used.items()))
            status = {name: amounts for name, amounts in (("hard", hard), ("used", used)) if amounts}
            return {**obj, "status": status}

        if obj != count_usage(obj):
            await report_status(self.api, self.kind, entry.key, count_usage, _MANAGER)

    def _counted_kinds(self, hard: Object) -> dict[str, Kind]:
        """Return the kinds that a quota counts, by their names in it."""
        result = {}
        for name in sorted(hard):
            charge(_NAME_STEPS)
            if (kind := find_counted_kind(self.api.registry, name)) is not None:
                result[name] = kind
        return result

    def _measured_kinds(self, hard: Object) -> Iterator[tuple[Kind, list[str]]]:
        """Yield the measured kinds of a quota, with the resources that it limits."""
        ordered = sorted(hard)
        for group, plural in _MEASURED:
            charge(len(ordered))
            kind = self.api.registry.get(group, plural)
            if kind is not None and (names := usage.list_measured_names(kind, ordered)):
                yield kind, names

    async def _follow_counted(self, kind: Kind) -> WatchCache:
        collection = await self.api.load_collection(kind)
        if kind.prefix not in self._followed:
            self._followed[kind.prefix] = collection.add_event_handler(lambda events: self._handle_events(kind, events))
        return collection

    def _handle_events(self, kind: Kind, events: Sequence[CacheEvent]) -> None:
        if events:
            self._handle_counted(events, measured=usage.find_measure(kind) is not None)
        else:  # the resource was removed
            self._followed.pop(kind.prefix, None)


def _counted_object(event: CacheEvent, *, measured: bool) -> Entry | None:
    """Return the object that was created or deleted. None for an update, unless objects are measured."""
    if event.before is None or (measured and event.after is not None):
        return event.after
    return event.before if event.after is None else None
