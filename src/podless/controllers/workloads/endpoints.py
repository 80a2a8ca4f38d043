"""Creates Endpoints and an EndpointSlice for Services with a selector."""

from __future__ import annotations

from collections.abc import Sequence

from podless.apis.core.group import ENDPOINTS, PODS, SERVICES
from podless.apis.discovery.group import ENDPOINT_SLICES
from podless.cache.events import CacheEvent
from podless.controllers.controller import Controller
from podless.controllers.workloads import ask, pods
from podless.kinds.kind import Kind
from podless.meta.errors import AlreadyExists
from podless.runtime.jsonobject import Object

_SERVICE = "kubernetes.io/service-name"
_MANAGER = "endpointslice.kubernetes.io/managed-by"
_SLICES = "endpointslice-controller.k8s.io"  # the name of the real controller, which clients look for
_MOST = 1000  # maximum addresses


class ServiceEndpoints(Controller):
    """Maintains Endpoints and one EndpointSlice for each Service with a selector, with IPv4 addresses.

    Keys are those of Services.
    """

    name = "endpoint-controller"

    async def begin(self) -> None:
        await self.follow_kind(SERVICES)
        self.leave.append((await self.api.load_collection(PODS)).add_event_handler(self._note_pod))

    def _note_pod(self, events: Sequence[CacheEvent]) -> None:
        homes = {entry.namespace for event in events if (entry := event.after or event.before) is not None}
        services = self.api.collection(SERVICES)
        for home in homes:
            for entry in services.entries_under(SERVICES.keys.scope(home))[0]:
                self.queue.add(entry.key)

    async def reconcile(self, key: str) -> None:
        entry = self.api.collection(SERVICES).get(key)
        if entry is None or entry.terminating:
            return
        service = entry.decode()
        selector = service["spec"].get("selector")
        if not selector or service["spec"].get("type") == "ExternalName":
            return
        namespace = entry.namespace
        chosen = []
        for one in (await self.api.load_collection(PODS)).entries_under(PODS.keys.scope(namespace))[0]:
            pod = one.decode()
            labels, status = pod["metadata"].get("labels") or {}, pod.get("status") or {}
            if selector.items() <= labels.items() and pods.is_active(pod) and ":" not in status.get("podIP", ":"):
                chosen.append(pod)
        chosen.sort(key=lambda pod: pod["metadata"]["name"])
        ports = _ports(service, chosen)
        await self._put_object(ENDPOINTS, _endpoints(service, chosen[:_MOST], ports))
        await self._put_object(ENDPOINT_SLICES, _slice(service, chosen[:_MOST], ports))

    async def _put_object(self, kind: Kind, wanted: Object) -> None:
        """Create an object, or update it if it differs."""
        metadata = wanted["metadata"]
        entry = (await self.api.load_collection(kind)).get(kind.key(metadata["namespace"], metadata["name"]))
        if entry is None:
            try:
                await ask.create_object(self.api, kind, wanted)
            except AlreadyExists:
                return
            return
        known = entry.decode()
        changes = {name: value for name, value in wanted.items() if name != "metadata" and known.get(name) != value}
        labels = known["metadata"].get("labels") or {}
        if not metadata["labels"].items() <= labels.items():
            changes["metadata"] = {"labels": metadata["labels"]}
        if changes:
            await ask.change_object(self.api, kind, known, changes)


def _ports(service: Object, chosen: list[Object]) -> list[Object]:
    """Return the ports of a Service with the pods' port numbers. Named ports are looked up in the first pod."""
    given = [one for pod in chosen[:1] for each in pod["spec"]["containers"] for one in each.get("ports") or ()]
    named = {one["name"]: one["containerPort"] for one in given if one.get("name")}
    found: list[Object] = []
    for port in service["spec"].get("ports") or ():
        target = port.get("targetPort") or port["port"]
        number = named.get(target) if isinstance(target, str) else target
        if number is not None:
            name = {"name": port["name"]} if port.get("name") else {}
            found.append({**name, "port": number, "protocol": port.get("protocol") or "TCP"})
    return found


def _target(pod: Object) -> Object:
    metadata = pod["metadata"]
    return {"kind": "Pod", "namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"]}


def _endpoints(service: Object, chosen: list[Object], ports: list[Object]) -> Object:
    metadata = service["metadata"]
    ready: list[Object] = []
    others: list[Object] = []
    for pod in chosen:
        fits = pods.is_ready(pod) or service["spec"].get("publishNotReadyAddresses")
        (ready if fits else others).append({"ip": pod["status"]["podIP"], "targetRef": _target(pod)})
    one: Object = {"addresses": ready} if ready else {}
    one |= {"notReadyAddresses": others} if others else {}
    subsets = [{**one, **({"ports": ports} if ports else {})}] if one else None
    head = {"name": metadata["name"], "namespace": metadata["namespace"], "labels": metadata.get("labels") or {}}
    return {"metadata": head, "subsets": subsets}


def _slice(service: Object, chosen: list[Object], ports: list[Object]) -> Object:
    metadata = service["metadata"]
    ref = {"apiVersion": "v1", "kind": "Service", "name": metadata["name"], "uid": metadata["uid"]}
    ref |= {"controller": True, "blockOwnerDeletion": True}
    labels = {**(metadata.get("labels") or {}), _SERVICE: metadata["name"], _MANAGER: _SLICES}
    head = {"name": f"{metadata['name']}-podless", "namespace": metadata["namespace"], "labels": labels}
    found: list[Object] = []
    for pod in chosen:
        ready = pods.is_ready(pod)
        shown = bool(ready or service["spec"].get("publishNotReadyAddresses"))
        conditions = {"ready": shown, "serving": ready, "terminating": False}
        found.append({"addresses": [pod["status"]["podIP"]], "conditions": conditions, "targetRef": _target(pod)})
    named = [{"name": "", **port} for port in ports]
    return {
        "metadata": {**head, "ownerReferences": [ref]},
        "addressType": "IPv4",
        "endpoints": found,
        "ports": named or None,
    }
