"""ResourceQuota: rejects writes that exceed a quota of their namespace.

Source: the ResourceQuota plugin of k8s.io/apiserver. podless counts the stored objects.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from weakref import WeakValueDictionary

from podless.admission.attributes import CREATE, UPDATE, AdmissionAttributes, CombinedCommit
from podless.admission.plugin import Plugin
from podless.apis.core import usage
from podless.apis.core.group import PODS, QUOTAS
from podless.apis.core.metering import Meter
from podless.apis.core.resourcequotas import list_counted_names, read_limits
from podless.apis.core.usage import Usage
from podless.cache.entry import Entry
from podless.cache.watchcache import WatchCache
from podless.codec import quantity
from podless.kinds import view
from podless.kinds.kind import Kind
from podless.kinds.state import State
from podless.meta.errors import Forbidden
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each
from podless.store import Operation

_RESIZE = "resize"
_STEPS = 16  # steps to handle an amount
_BYTES, _SEARCHED_BYTES = 64, 2048  # bytes of a quota that one step decodes, and searches
_MAX_SEARCHED = 4096  # results of searches that are kept, each about 300 bytes


class ResourceQuota(Plugin):
    """Enforces quotas. It is the last plugin, because a write that it accepts is stored next.

    Two concurrent creates could both find room for one object. So each is committed together with the status of its
    quotas at the revision that was counted; the second one conflicts and counts again.
    """

    custom = True

    def __init__(self, state: State, meter: Meter) -> None:
        self._state = state
        self._quotas = state.collection(QUOTAS)
        self.sources = (self._quotas,)
        self._meter = meter
        self._searched: dict[tuple[str, str], tuple[int, bool]] = {}  # by key and resource: a revision and the result
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def is_active(self) -> bool:
        return bool(len(self._quotas))

    async def start(self) -> None:
        await self._quotas.load()

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Return True for creates, and for updates of measured kinds, in namespaces."""
        if not kind.namespaced:
            return False
        if subresource:
            return subresource == _RESIZE and operation == UPDATE
        return operation == CREATE or (operation == UPDATE and usage.find_measure(kind) is not None)

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Raise Forbidden if the write exceeds a quota."""
        kind, namespace = attr.kind, attr.namespace
        has_quotas = self._quotas.count_entries(QUOTAS.keys.scope(namespace))
        if not has_quotas or not list_counted_names(kind) or _is_unmeasured(attr):
            return
        collection = await self._state.load_collection(kind)
        book = _Booking(partial(self._charge_quotas, attr, collection), (self._quotas, collection))
        if book() and not attr.dry_run:
            attr.along = CombinedCommit((self._locks.setdefault(namespace, asyncio.Lock()),), book)

    def _charge_quotas(self, attr: AdmissionAttributes, collection: WatchCache) -> Sequence[Operation]:
        """Return the operations that add the write to the used amounts. Raises Forbidden if a quota is exceeded."""
        charges = []
        measure = usage.find_measure(attr.kind)
        new = measure(attr.obj) if measure is not None and attr.obj is not None else None
        old = measure(attr.old) if measure is not None and attr.old is not None else None
        names = [f'"{name}"'.encode() for name in list_counted_names(attr.kind)]
        for entry in self._quotas.list_entries(attr.namespace):
            if measure is None and not self._has_name(entry, attr.kind.resource, names):
                continue  # because decoding a quota for 3,000 resources takes 0.5 ms
            charge(len(entry.body) // _BYTES)
            quota = entry.decode()
            hard = quota["spec"].get("hard") or {}
            requested, used = self._measure_request(attr, collection, entry.name, quota, new, old)
            totals, exceeded = dict[str, str](), list[str]()
            for name, text in requested.items():
                charge(_STEPS)
                totals[name] = quantity.add_quantities((used[name], text))
                if quantity.parse_nanos(totals[name]) > quantity.parse_nanos(hard[name]):
                    exceeded.append(name)
            if exceeded:
                raise _make_refusal(attr, _format_exceeded(entry.name, sorted(exceeded), requested, used, hard))
            if totals:
                status = quota.setdefault("status", {})
                status["used"] = dict(sorted({**(status.get("used") or {}), **totals}.items()))
                charges.append(Operation(entry.key, view.encode_object(QUOTAS, quota), entry.revision))
        return charges

    def _has_name(self, entry: Entry, resource: str, names: list[bytes]) -> bool:
        """Return whether the text of a quota has one of the names of a resource, which is searched once a revision."""
        cache_key = entry.key, resource
        revision, is_mentioned = self._searched.get(cache_key, (0, False))
        if revision != entry.revision:
            charge(len(entry.body) // _SEARCHED_BYTES)
            is_mentioned = any(name in entry.body for name in names)
            self._searched[cache_key] = entry.revision, is_mentioned
            if len(self._searched) > _MAX_SEARCHED:
                del self._searched[next(iter(self._searched))]
        return is_mentioned

    def _measure_request(
        self,
        attr: AdmissionAttributes,
        collection: WatchCache,
        name: str,
        quota: Object,
        new: Usage | None,
        old: Usage | None,
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return the amounts that a write requests of a quota, and the used amounts. Raises Forbidden.

        new, old: the usage of the object after and before the write; None if there is none.
        """
        kind, hard = attr.kind, quota["spec"].get("hard") or {}
        requested: dict[str, str] = {}
        used: dict[str, str] = {}
        measured = usage.list_measured_names(kind, each(hard))
        if measured and new is not None and (applies := usage.make_scope_matcher(quota))(new):
            assert attr.obj is not None
            if old is None and kind.is_same_as(PODS) and (unset := usage.find_unset_resources(attr.obj, hard)):
                raise _make_refusal(attr, f"failed quota: {name}: must specify {unset}")
            before = old.amounts if old is not None and applies(old) else {}
            for resource in measured:
                charge(_STEPS)
                text = quantity.subtract_quantity(new.amounts.get(resource, "0"), before.get(resource, "0"))
                if quantity.parse_nanos(text) > 0:
                    requested[resource] = text
            if requested:
                used = self._meter.measure_usage(kind, collection, attr.namespace, quota, list(requested))
        if attr.operation == CREATE:
            limits, names = read_limits(quota), list_counted_names(kind)
            for counted in names:
                if counted in limits and counted not in usage.list_measured_names(kind, names):
                    count = collection.count_entries(kind.keys.scope(attr.namespace))
                    requested[counted], used[counted] = "1", quantity.canonicalize_quantity(str(count))
        return requested, used


class _Booking:
    """The operations for a write's quotas, computed again only if something that they depend on has changed.

    First called in admission, then in the commit. A change that comes while the work is suspended makes the commit
    conflict, because it expects each quota at the revision that was read.
    """

    def __init__(self, work: Callable[[], Sequence[Operation]], collections: Sequence[WatchCache]) -> None:
        self._work = work
        self._collections = collections
        self._cached: tuple[list[int], Sequence[Operation]] | None = None

    def __call__(self) -> Sequence[Operation]:
        """Return the operations to commit with the write. Raises Forbidden."""
        changes = [collection.changed for collection in self._collections]
        if self._cached is None or self._cached[0] != changes:
            self._cached = changes, self._work()
        return self._cached[1]


def _is_unmeasured(attr: AdmissionAttributes) -> bool:
    """Return whether an update of a pod changes neither its resources nor whether it has ended."""
    if attr.operation == CREATE or attr.subresource == _RESIZE or not attr.kind.is_same_as(PODS):
        return False
    return attr.obj is None or attr.old is None or _has_deadline(attr.obj) == _has_deadline(attr.old)


def _has_deadline(pod: Object) -> bool:
    return (pod["spec"].get("activeDeadlineSeconds") or -1) >= 0


def _make_refusal(attr: AdmissionAttributes, reason: str) -> Forbidden:
    return Forbidden(attr.kind.plural, attr.kind.stored_group, attr.name, reason)


def _format_exceeded(
    quota: str, exceeded: list[str], requested: dict[str, str], used: dict[str, str], hard: dict[str, str]
) -> str:
    def list_amounts(amounts: dict[str, str]) -> str:
        return ",".join(f"{name}={amounts[name]}" for name in exceeded)

    amounts = f"requested: {list_amounts(requested)}, used: {list_amounts(used)}, limited: {list_amounts(hard)}"
    return f"exceeded quota: {quota}, {amounts}"
