"""ReplicaSets get their pods."""

from __future__ import annotations

import asyncio

from podless.controllers.workloads import ask, pods
from podless.controllers.workloads.owned import Object, Owner, pod_of
from podless.kinds.builtin.catalog import PODS, REPLICA_SETS

_AT_ONCE = 64  # requests


class ReplicaSets(Owner):
    """Makes and deletes pods until there are as many as wanted, and counts them."""

    name = "replicaset-controller"
    owners, things = REPLICA_SETS, PODS

    async def look(self, key: str, obj: Object, made: list[Object]) -> None:
        """Make what is missing, drop what is too much: first what is not ready, then the newest."""
        spec, metadata = obj["spec"], obj["metadata"]
        active = [pod for pod in made if pods.active(pod)]
        missing = (spec.get("replicas") or 0) - len(active)
        pod = pod_of(spec["template"], generateName=f"{metadata['name']}-")
        for start in range(0, missing, _AT_ONCE):
            await asyncio.gather(*(self.make(obj, pod) for _ in range(start, min(missing, start + _AT_ONCE))))
        if missing < 0:
            active.sort(key=lambda one: one["metadata"].get("creationTimestamp") or "")
            active.sort(key=pods.ready, reverse=True)
            for one in active[missing:]:
                await self.drop(one)
            del active[missing:]
        await self._report(key, obj, active)

    async def _report(self, key: str, obj: Object, active: list[Object]) -> None:
        ready, available, rest = pods.counts(active, obj["spec"].get("minReadySeconds") or 0)
        if rest:
            self.rest(key, rest)
        labels = (obj["spec"]["template"].get("metadata") or {}).get("labels") or {}
        whole = sum(labels.items() <= (pod["metadata"].get("labels") or {}).items() for pod in active)
        status: Object = {
            "replicas": len(active),
            "fullyLabeledReplicas": whole or None,
            "readyReplicas": ready or None,
            "availableReplicas": available or None,
            "observedGeneration": obj["metadata"]["generation"],
        }
        await ask.report(self.api, REPLICA_SETS, obj, status)
