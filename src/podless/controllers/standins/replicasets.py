"""Creates and deletes the pods of ReplicaSets."""

from __future__ import annotations

import asyncio

from podless.apis.apps.group import REPLICA_SETS
from podless.apis.core.group import PODS
from podless.controllers.standins import pods, requests
from podless.controllers.standins.owned import CreationFailed, OwnerController, make_pod
from podless.controllers.write import with_conditions
from podless.runtime.jsonobject import Object
from podless.runtime.release import has

_CONCURRENT_CREATES = 64  # concurrent requests
_BURST_REPLICAS = 500  # pods created in one reconciliation, as in the real controller
_FAILURE = "ReplicaFailure"


class ReplicaSetController(OwnerController):
    """Creates and deletes pods until their number is the wanted one, and counts them."""

    name = "replicaset-controller"
    owners, dependent_kind = REPLICA_SETS, PODS

    async def reconcile_owner(self, key: str, obj: Object, owned_pods: list[Object]) -> None:
        """Create missing pods; delete surplus ones, first unready ones, then the newest."""
        spec, metadata = obj["spec"], obj["metadata"]
        active = [pod for pod in owned_pods if pods.is_active(pod)]
        missing = (spec.get("replicas") or 0) - len(active)
        pod = make_pod(spec["template"], {}, generateName=f"{metadata['name']}-")
        failure = await self._create_pods(obj, pod, min(missing, _BURST_REPLICAS))
        if missing < 0:
            active.sort(key=lambda surplus_pod: surplus_pod["metadata"].get("creationTimestamp") or "")
            active.sort(key=pods.is_ready, reverse=True)
            for surplus_pod in active[missing:]:
                await self.delete_owned(surplus_pod)
            del active[missing:]
        await self._report_status(key, obj, active, pods.count_terminating(owned_pods), failure)
        if failure:
            raise CreationFailed(failure)

    async def _create_pods(self, obj: Object, pod: Object, missing: int) -> str:
        """Create this many pods; stop at the first rejection. Returns its reason, or ""."""
        for start in range(0, missing, _CONCURRENT_CREATES):
            creations = (self.create_owned(obj, pod) for _ in range(start, min(missing, start + _CONCURRENT_CREATES)))
            for outcome in await asyncio.gather(*creations, return_exceptions=True):
                if isinstance(outcome, CreationFailed):
                    return str(outcome)
                if isinstance(outcome, BaseException):
                    raise outcome
        return ""

    async def _report_status(self, key: str, obj: Object, active: list[Object], terminating: int, failure: str) -> None:
        ready, available = self.count_pods(key, obj, active)
        labels = (obj["spec"]["template"].get("metadata") or {}).get("labels") or {}
        labelled = sum(labels.items() <= (pod["metadata"].get("labels") or {}).items() for pod in active)
        conditions = with_conditions(obj, (_FAILURE, bool(failure), "FailedCreate", failure))
        status: Object = {
            "replicas": len(active),
            "fullyLabeledReplicas": labelled or None,
            "readyReplicas": ready or None,
            "availableReplicas": available or None,
            "observedGeneration": obj["metadata"]["generation"],
            "conditions": [condition for condition in conditions if condition["type"] != _FAILURE or failure] or None,
        }
        if has("DeploymentReplicaSetTerminatingReplicas"):
            status["terminatingReplicas"] = terminating
        await requests.report_status(self.api, REPLICA_SETS, obj, status)
