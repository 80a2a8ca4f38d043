"""Sums of resources that the objects of a namespace use, updated as objects change.

The usage of an object is measured once per state, and cached. A sum is computed when a quota first needs it; after
that, it costs time in proportion to the changes since its last use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import Final

from podless.apis.core import usage
from podless.apis.core.usage import Usage
from podless.cache.entry import Entry
from podless.cache.events import CacheEvent
from podless.cache.watchcache import WatchCache
from podless.codec import quantity
from podless.kinds.kind import Kind
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge

MAX: Final = 1 << 19  # maximum amounts in all sums; each takes about 150 bytes
_SPACES: Final = 4096  # maximum namespaces of kinds with sums
_SUMS: Final = 1 << 15  # maximum sums; one without objects takes about 300 bytes
_CHANGES: Final = 4096  # changes by which a sum can be behind before it is computed again
_STEPS: Final = 8  # steps to add one object to a sum
_BYTES: Final = 16  # bytes of an object that one step decodes and measures


class _Sum:
    """The usage of one resource by some objects of a namespace. seen: the number of included changes.

    amounts: usage by object key, in billionths, with the suffix of its quantity.
    """

    def __init__(self, seen: int) -> None:
        self.seen = seen
        self.amounts: dict[str, tuple[int, str]] = {}
        self._amount = 0
        self._keys: list[str] = []  # a heap of the keys in `amounts`, and possibly of others

    def put_amount(self, key: str, text: str | None) -> None:
        """Set the usage of an object. text: None if it uses nothing or was deleted."""
        before = self.amounts.pop(key, None)
        if before is not None:
            self._amount -= before[0]
        amount, suffix = quantity.parse_amount(text or "0")
        if not amount:
            return
        self._amount += amount
        self.amounts[key] = amount, suffix
        if before is None:
            heappush(self._keys, key)
            if len(self._keys) > 2 * len(self.amounts) + _STEPS:
                self._keys = sorted(self.amounts)

    def format_sum(self) -> str:
        """Return the sum, with the kind of suffix of the first object that uses something."""
        while self._keys and self._keys[0] not in self.amounts:
            heappop(self._keys)
        return quantity.format_quantity(self._amount, self.amounts[self._keys[0]][1]) if self._keys else "0"


class _Space:
    """The objects of a kind in a namespace. sums: by the scopes of a quota and a resource name.

    changed: keys of changed objects in order, starting with change number `first`.
    """

    def __init__(self) -> None:
        self.sums: dict[tuple[str, str], _Sum] = {}
        self.changed: list[str] = []
        self.first = 0

    @property
    def last(self) -> int:
        """Return the number of changes so far."""
        return self.first + len(self.changed)

    def note_object(self, key: str) -> None:
        """Record a changed object."""
        self.changed.append(key)
        if len(self.changed) > _CHANGES:
            self.first += _CHANGES // 2
            del self.changed[: _CHANGES // 2]


class Meter:
    """Computes sums of usage. Other requests can run at each charge, so no step relies on the state before it.

    amount_count: the number of amounts in all sums.
    """

    def __init__(self) -> None:
        self.amount_count = 0
        self._sums = 0
        self._spaces: dict[str, _Space] = {}  # the least recently used one is first
        self._followed: dict[str, WatchCache] = {}

    def measure_usage(
        self, kind: Kind, collection: WatchCache, namespace: str, quota: Object, names: Sequence[str]
    ) -> dict[str, str]:
        """Return the usage of some resources by the objects of a namespace that match the quota's scopes."""
        measure = usage.find_measure(kind)
        if measure is None:
            return dict.fromkeys(names, "0")
        self._follow_collection(kind, collection)
        scope, scopes, applies = kind.keys.scope(namespace), _format_scopes(quota), usage.make_scope_matcher(quota)
        result = {}
        for name in names:
            charge(_STEPS)
            result[name] = self._sum_usage(measure, collection, scope, (scopes, name), applies)
        return result

    def _sum_usage(
        self,
        measure: Callable[[Object], Usage],
        collection: WatchCache,
        scope: str,
        sum_key: tuple[str, str],
        applies: Callable[[Usage], bool],
    ) -> str:
        def usage_text(entry: Entry) -> str | None:
            usage: Usage = entry.forms["usage"]
            return usage.amounts.get(sum_key[1]) if applies(usage) else None

        self._spaces[scope] = space = self._spaces.pop(scope, None) or _Space()
        total = space.sums.get(sum_key)
        if total is None or total.seen < space.first:
            total = _Sum(space.last)
            for entry in collection.entries_under(scope)[0]:
                _measure_entry(measure, entry)
                total.put_amount(entry.key, usage_text(entry))
            if self._spaces.get(scope) is space:
                self._store_sum(space, sum_key, total)
        while True:
            charge(_STEPS)  # charge first, because other requests can update this sum or change objects meanwhile
            if total.seen < space.first or self._spaces.get(scope) is not space:
                return self._sum_usage(measure, collection, scope, sum_key, applies)
            if total.seen == space.last:
                return total.format_sum()
            position = total.seen
            key = space.changed[position - space.first]
            changed = collection.get(key)
            if changed is not None and "usage" not in changed.forms:
                _measure_entry(measure, changed)
                continue
            text = usage_text(changed) if changed is not None else None
            if total.seen != position:  # another request has included the change meanwhile
                continue
            before = len(total.amounts)
            total.put_amount(key, text)
            total.seen += 1
            self.amount_count += len(total.amounts) - before if space.sums.get(sum_key) is total else 0

    def _store_sum(self, space: _Space, sum_key: tuple[str, str], total: _Sum) -> None:
        """Store a new sum. Sums of the least recently used namespaces are dropped, one by one."""
        before = space.sums.pop(sum_key, None)
        space.sums[sum_key] = total
        self._sums += before is None
        self.amount_count += len(total.amounts) - (len(before.amounts) if before is not None else 0)
        while self.amount_count > MAX or self._sums > _SUMS or len(self._spaces) > _SPACES:
            scope, oldest = next(iter(self._spaces.items()))
            if oldest is space and len(space.sums) == 1:
                break
            if oldest.sums:
                self._sums -= 1
                self.amount_count -= len(oldest.sums.pop(next(iter(oldest.sums))).amounts)
            if not oldest.sums:
                del self._spaces[scope]

    def _follow_collection(self, kind: Kind, collection: WatchCache) -> None:
        if self._followed.get(kind.prefix) is not collection:
            self._followed[kind.prefix] = collection
            collection.add_event_handler(partial(self._note_events, kind, collection))

    def _note_events(self, kind: Kind, collection: WatchCache, events: Sequence[CacheEvent]) -> None:
        if self._followed.get(kind.prefix) is not collection:
            return
        for event in events:
            entry = event.after or event.before
            if entry is not None and (space := self._spaces.get(kind.keys.scope(entry.namespace))) is not None:
                space.note_object(event.key)
        if not events:  # the resource was removed
            del self._followed[kind.prefix]
            for scope in [scope for scope in self._spaces if scope.startswith(kind.prefix)]:
                sums = self._spaces.pop(scope).sums
                self._sums -= len(sums)
                self.amount_count -= sum(len(item.amounts) for item in sums.values())


def _measure_entry(measure: Callable[[Object], Usage], entry: Entry) -> None:
    """Measure an object, unless it has been measured."""
    charge(_STEPS)
    if "usage" not in entry.forms:
        charge(len(entry.body) // _BYTES)
        entry.forms["usage"] = measure(entry.decode())


def _format_scopes(quota: Object) -> str:
    """Return a text that identifies the scopes of a quota."""
    spec = quota["spec"]
    return repr((spec.get("scopes"), spec.get("scopeSelector")))
