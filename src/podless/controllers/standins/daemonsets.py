"""Creates the pods of DaemonSets, one on each node."""

from __future__ import annotations

from collections.abc import Sequence

from podless.apis.apps.group import DAEMON_SETS
from podless.apis.core.group import NODES, PODS
from podless.cache.events import CacheEvent
from podless.controllers.standins import owned, pods, requests
from podless.controllers.standins.owned import OwnerController, make_pod
from podless.runtime.jsonobject import Object

# taints of nodes that pods of DaemonSets tolerate, as in kube-controller-manager
_NODE = "node.kubernetes.io"
_TOLERATED = (
    (f"{_NODE}/not-ready", "NoExecute"),
    (f"{_NODE}/unreachable", "NoExecute"),
    (f"{_NODE}/disk-pressure", "NoSchedule"),
    (f"{_NODE}/memory-pressure", "NoSchedule"),
    (f"{_NODE}/pid-pressure", "NoSchedule"),
    (f"{_NODE}/unschedulable", "NoSchedule"),
)


class DaemonSetController(OwnerController):
    """Creates a pod for each node that the template selects, and replaces outdated pods one after the other."""

    name = "daemonset-controller"
    owners, dependent_kind = DAEMON_SETS, PODS

    async def begin(self) -> None:
        await self.watch_kind(NODES, self._note_node)
        await super().begin()

    def _note_node(self, events: Sequence[CacheEvent]) -> None:
        for entry in self.api.collection(DAEMON_SETS).list_entries():
            self.queue.add(entry.key)

    async def reconcile_owner(self, key: str, obj: Object, owned_pods: list[Object]) -> None:
        template, name = obj["spec"]["template"], obj["metadata"]["name"]
        revision, nodes = (
            owned.hash_template(template),
            self._matching_nodes(template["spec"].get("nodeSelector") or {}),
        )
        used = {f"{name}-{pods.get_revision(pod)}" for pod in owned_pods}
        await self.record_revision(obj, f"{name}-{revision}", {pods.REVISION: revision}, used)
        live = [pod for pod in owned_pods if pods.is_active(pod)]
        for pod in owned_pods:
            is_surplus = pod["spec"].get("nodeName") not in nodes or not pods.is_active(pod)
            if is_surplus and not pods.is_terminating(pod):
                await self.delete_owned(pod)
        occupied = {pod["spec"].get("nodeName") for pod in owned_pods}  # also by pods that are terminating
        for node in sorted(nodes - occupied):
            await self._create_pod(obj, node, revision)
        live = [pod for pod in live if pod["spec"].get("nodeName") in nodes]
        old = [pod for pod in live if pods.get_revision(pod) != revision]
        strategy = (obj["spec"].get("updateStrategy") or {}).get("type")
        if old and strategy != "OnDelete" and len(live) == len(nodes) and all(map(pods.is_ready, live)):
            await self.delete_owned(old[0])
        await self._report_status(key, obj, live, len(nodes), revision)

    def _matching_nodes(self, selector: Object) -> set[str]:
        nodes = [entry.decode()["metadata"] for entry in self.api.collection(NODES).list_entries()]
        return {node["name"] for node in nodes if selector.items() <= (node.get("labels") or {}).items()}

    async def _create_pod(self, obj: Object, node: str, revision: str) -> None:
        labels = {pods.REVISION: revision}
        pod = make_pod(obj["spec"]["template"], labels, generateName=f"{obj['metadata']['name']}-")
        pod["spec"]["nodeName"] = node
        given = pod["spec"].get("tolerations") or []
        present = {toleration.get("key") for toleration in given if toleration.get("operator") == "Exists"}
        added = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in _TOLERATED]
        pod["spec"]["tolerations"] = [*given, *(toleration for toleration in added if toleration["key"] not in present)]
        await self.create_owned(obj, pod)

    async def _report_status(self, key: str, obj: Object, live: list[Object], desired: int, revision: str) -> None:
        ready, available = self.count_pods(key, obj, live)
        status: Object = {
            "observedGeneration": obj["metadata"]["generation"],
            "currentNumberScheduled": len(live),
            "desiredNumberScheduled": desired,
            "numberMisscheduled": 0,
            "numberReady": ready,
            "numberAvailable": available or None,
            "numberUnavailable": desired - available or None,
            "updatedNumberScheduled": sum(pods.get_revision(pod) == revision for pod in live) or None,
        }
        await requests.report_status(self.api, DAEMON_SETS, obj, status)
