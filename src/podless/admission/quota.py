"""No namespace gets more objects of a resource than its quotas allow.

Source: the ResourceQuota plugin of k8s.io/apiserver; what is counted here is the objects themselves.
"""

from __future__ import annotations

import time

from podless.admission.attributes import CREATE, AdmissionAttributes
from podless.admission.chain import Step
from podless.admission.state import State
from podless.cache.watchcache import WatchCache
from podless.kinds.builtin.quotas import QUOTAS, counts, limits
from podless.kinds.kind import Kind
from podless.meta import quantity
from podless.meta.errors import Forbidden

_PATIENCE = 5.0  # seconds that a creation may take from here to the store


class ObjectQuota(Step):
    """Counts what is there and what is on its way; the last step, for what it lets pass is stored next.

    Two creations that are looked at before either is stored would both find room for one: each is remembered until it
    is stored, or has had more time than it needs.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._quotas = state.cache.collection(QUOTAS.prefix, QUOTAS.namespaced)
        self._coming: dict[str, float] = {}  # key -> when it was let pass

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Creations in namespaces, where there are quotas at all."""
        return operation == CREATE and not subresource and kind.namespaced and len(self._quotas) > 0

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Raises Forbidden where a quota is used up."""
        kind = attr.kind
        under = counts(kind)
        quotas = self._quotas.under(f"{QUOTAS.prefix}{attr.namespace}/")[0] if under else []
        if not quotas:
            return
        collection = await self._state.loaded(kind)
        key = kind.key(attr.namespace, attr.name)
        used = self._used(kind, attr.namespace, collection, key)
        limited = False
        for entry in quotas:
            hard = limits(entry.decode())
            limited |= any(name in hard for name in under)
            exceeded = [name for name in sorted(under) if name in hard and used + 1 > quantity.parse(hard[name])]
            if exceeded:
                raise Forbidden(kind.plural, kind.named, attr.name, _text(entry.name, exceeded, used, hard))
        if limited and not attr.dry_run:
            self._coming[key] = time.monotonic()

    def _used(self, kind: Kind, namespace: str, collection: WatchCache, key: str) -> int:
        """How many there are and will be, without the one that is asked about."""
        prefix = f"{kind.prefix}{namespace}/"
        late = time.monotonic() - _PATIENCE
        coming = [one for one in self._coming if one.startswith(prefix)]
        for one in coming:
            if self._coming[one] < late or collection.get(one) is not None:
                del self._coming[one]
        there = sum(one.startswith(prefix) and one != key for one in self._coming)
        return collection.count(prefix) + there

    def stored(self, keys: list[str]) -> None:
        """What was on its way is there, or gone again already."""
        for key in keys:
            self._coming.pop(key, None)


def _text(quota: str, exceeded: list[str], used: int, hard: dict[str, str]) -> str:
    def listed(amount: dict[str, str]) -> str:
        return ",".join(f"{name}={amount[name]}" for name in exceeded)

    requested, present = dict.fromkeys(exceeded, "1"), dict.fromkeys(exceeded, quantity.canonical(str(used)))
    return f"exceeded quota: {quota}, requested: {listed(requested)}, used: {listed(present)}, limited: {listed(hard)}"
