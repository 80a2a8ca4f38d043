"""The stand-in for kubelets: pods run and are ready immediately, as with kwok."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address

from podless.apis.core.group import PODS
from podless.cache.events import CacheEvent
from podless.controllers.controller import Controller
from podless.controllers.standins import pods, requests
from podless.controllers.write import with_conditions
from podless.runtime import clock
from podless.runtime.jsonobject import Object

_FIRST = int(IPv4Address("10.0.0.1"))
_ADDRESSES = (1 << 24) - 2


class PodReadiness(Controller):
    """Sets pods Running and Ready, whatever their probes and gates; pods of Jobs succeed immediately.

    Pods that are being deleted become unready and are then removed, unless they have finalizers.
    """

    name = "podless-ready"

    async def begin(self) -> None:
        self._given_addresses = 0
        await self.follow_kind(PODS, self._note_events)

    def _note_events(self, events: Sequence[CacheEvent]) -> None:
        for event in events:
            pod = event.after.decode() if event.after is not None else None
            if pod is not None and _needs_work(pod):
                self.queue.add(event.key)

    async def reconcile(self, key: str) -> None:
        """Set a pod Running, or remove it if it is being deleted."""
        entry = self.api.collection(PODS).get(key)
        if entry is None:
            return
        pod = entry.decode()
        if pods.is_terminating(pod):
            if pods.is_ready(pod):  # watchers see the change before the delete, and it queues the key again
                await requests.report_status(self.api, PODS, pod, _terminated_status(pod))
            elif not pod["metadata"].get("finalizers"):
                await requests.delete_object(self.api, PODS, pod, gracePeriodSeconds=0)
        elif pods.is_active(pod) and not pods.is_ready(pod):
            await requests.report_status(self.api, PODS, pod, self._make_status(pod))

    def _make_status(self, pod: Object) -> Object:
        status, ended = pod.get("status") or {}, _of_job(pod)
        conditions = _pod_conditions(pod, not ended, "PodCompleted" if ended else "", "", ("Initialized", True, "", ""))
        address, spec = status.get("podIP") or self._next_address(), pod["spec"]
        initial = [_container_status(container, True) for container in spec.get("initContainers") or ()]
        return {
            "phase": "Succeeded" if ended else "Running",
            "conditions": conditions,
            "startTime": status.get("startTime") or clock.now(),
            "podIP": address,
            "podIPs": [{"ip": address}],
            "containerStatuses": [_container_status(container, ended) for container in spec["containers"]],
            "initContainerStatuses": initial or None,
        }

    def _next_address(self) -> str:
        """Return a loopback address without a listener, unique since the start."""
        self._given_addresses += 1
        return str(IPv4Address(_FIRST + self._given_addresses % _ADDRESSES))


def _needs_work(pod: Object) -> bool:
    """Return whether a pod is being deleted, or is not ready yet."""
    return pods.is_terminating(pod) or (pods.get_phase(pod) in ("Pending", "Running") and not pods.is_ready(pod))


def _pod_conditions(
    pod: Object, ready: bool, reason: str, message: str, *changes: tuple[str, bool, str, str]
) -> list[Object]:
    readiness = [(name, ready, reason, message) for name in ("ContainersReady", "Ready")]
    conditions = with_conditions(pod, *changes, *readiness)
    return [{name: value for name, value in condition.items() if value != ""} for condition in conditions]


def _terminated_status(pod: Object) -> Object:
    containers = pod["spec"]["containers"]
    message = f"containers with unready status: [{' '.join(item['name'] for item in containers)}]"
    conditions = _pod_conditions(pod, False, "ContainersNotReady", message)
    return {"conditions": conditions, "containerStatuses": [_container_status(item, True) for item in containers]}


def _of_job(pod: Object) -> bool:
    refs = pod["metadata"].get("ownerReferences") or ()
    return any(ref.get("controller") and ref["kind"] == "Job" for ref in refs)


def _container_status(container: Object, completed: bool) -> Object:
    state: Object = {"running": {"startedAt": clock.now()}}
    if completed:
        ended = {"exitCode": 0, "reason": "Completed", "startedAt": clock.now(), "finishedAt": clock.now()}
        state = {"terminated": ended}
    return {
        "name": container["name"],
        "image": container.get("image") or "",
        "imageID": "",
        "ready": not completed,
        "started": not completed,
        "restartCount": 0,
        "state": state,
    }
