"""No namespace gets more objects of a resource than its quotas allow.

Source: the ResourceQuota plugin of k8s.io/apiserver; what is counted here is the objects themselves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from weakref import WeakValueDictionary

from podless.admission.attributes import CREATE, AdmissionAttributes, Along
from podless.admission.chain import Step
from podless.admission.state import State
from podless.cache.watchcache import WatchCache
from podless.kinds import view
from podless.kinds.builtin.quotas import QUOTAS, counts, limits
from podless.kinds.kind import Kind
from podless.meta import quantity
from podless.meta.errors import Forbidden
from podless.store import Operation


class ObjectQuota(Step):
    """Counts what is there; the last step, for what it lets pass is stored next.

    Two creations that are looked at before either is stored would both find room for one. So each is committed with the
    status of the quotas that it is charged to, as they were when it was counted: who comes second counts again.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._quotas = state.cache.collection(QUOTAS.keys)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Creations in namespaces, where there are quotas at all."""
        return operation == CREATE and not subresource and kind.namespaced and len(self._quotas) > 0

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Raises Forbidden where a quota is used up."""
        kind, namespace = attr.kind, attr.namespace
        if not counts(kind) or not self._quotas.count(QUOTAS.keys.scope(namespace)):
            return
        charge = partial(self._charge, kind, namespace, attr.name, await self._state.loaded(kind))
        if charge() and not attr.dry_run:
            lock = self._locks.setdefault(namespace, asyncio.Lock())
            attr.along = Along((lock,), charge)

    def _charge(self, kind: Kind, namespace: str, name: str, collection: WatchCache) -> Sequence[Operation]:
        """Counts one more. Raises Forbidden."""
        used = collection.count(kind.keys.scope(namespace))
        charges = []
        for entry in self._quotas.under(QUOTAS.keys.scope(namespace))[0]:
            quota = entry.decode()
            hard = limits(quota)
            names = [name for name in sorted(counts(kind)) if name in hard]
            exceeded = [name for name in names if used + 1 > quantity.parse(hard[name])]
            if exceeded:
                raise Forbidden(kind.plural, kind.named, name, _text(entry.name, exceeded, used, hard))
            if names:
                status = quota.setdefault("status", {})
                amounts = {**(status.get("used") or {}), **dict.fromkeys(names, str(used + 1))}
                status["used"] = dict(sorted(amounts.items()))
                charges.append(Operation(entry.key, view.encode(QUOTAS, quota), entry.revision))
        return charges


def _text(quota: str, exceeded: list[str], used: int, hard: dict[str, str]) -> str:
    def listed(amount: dict[str, str]) -> str:
        return ",".join(f"{name}={amount[name]}" for name in exceeded)

    requested, present = dict.fromkeys(exceeded, "1"), dict.fromkeys(exceeded, quantity.canonical(str(used)))
    return f"exceeded quota: {quota}, requested: {listed(requested)}, used: {listed(present)}, limited: {listed(hard)}"
