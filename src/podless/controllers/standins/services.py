"""Creates Endpoints and EndpointSlices for Services with a selector, and gives load balancers an address."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from podless.apis.core.group import ENDPOINTS, NODES, PODS, SERVICES
from podless.apis.discovery.group import ENDPOINT_SLICES
from podless.apis.podspec.amounts import is_sidecar
from podless.cache.entry import Entry
from podless.cache.events import CacheEvent
from podless.cache.watchcache import WatchCache
from podless.controllers.controller import Controller
from podless.controllers.standins import pods, requests
from podless.kinds.kind import Kind
from podless.meta.errors import AlreadyExists
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge

_SERVICE = "kubernetes.io/service-name"
_HEADLESS, _ZONE = "service.kubernetes.io/headless", "topology.kubernetes.io/zone"
_OF_ENDPOINTS = "endpoints.kubernetes.io/managed-by"
_MANAGER = "endpointslice.kubernetes.io/managed-by"
_SLICE_CONTROLLER = "endpointslice-controller.k8s.io"  # the name of the real controller, which clients look for
_MAX_ADDRESSES = 1000  # maximum addresses
_DECODE_STEPS = 16  # steps of decoding a pod
_Target = tuple[str | int | None, str]


class _PortGroup(NamedTuple):
    """Pods in which the ports of a Service have the same numbers."""

    ports: list[Object]
    pods: list[Object]


class ServiceEndpoints(Controller):
    """Maintains Endpoints and EndpointSlices for each Service with a selector, with IPv4 addresses.

    There is one EndpointSlice for each set of port numbers. Keys are those of Services.
    """

    name = "endpoint-controller"

    async def begin(self) -> None:
        await self.follow_kind(SERVICES)
        await self.watch_kind(PODS, self._note_pod)

    def _note_pod(self, events: Sequence[CacheEvent]) -> None:
        homes = {entry.namespace for event in events if (entry := event.after or event.before) is not None}
        services = self.api.collection(SERVICES)
        for home in homes:
            for entry in services.list_entries(home):
                self.queue.add(entry.key)

    async def reconcile(self, key: str) -> None:
        entry = self.api.collection(SERVICES).get(key)
        if entry is None or entry.terminating:
            return
        service = entry.decode()
        selector = service["spec"].get("selector")
        if not selector or service["spec"].get("type") == "ExternalName":
            return
        run = self.api.off_loop.slices.run
        entries = (await self.api.load_collection(PODS)).list_entries(service["metadata"]["namespace"])
        groups = await run(_group_by_ports, service, await run(_find_pods, service, entries))
        await self._put_object(ENDPOINTS, await run(_make_endpoints, service, groups))
        nodes = await self.api.load_collection(NODES)
        for number, group in enumerate(groups, 1):
            await self._put_object(ENDPOINT_SLICES, await run(_make_slice, service, number, group, nodes))
        await self._drop_slices(service, len(groups))

    async def _drop_slices(self, service: Object, count: int) -> None:
        """Delete the slices beyond a number."""
        slices = await self.api.load_collection(ENDPOINT_SLICES)
        namespace, number = service["metadata"]["namespace"], count + 1
        while (entry := slices.get(ENDPOINT_SLICES.key(namespace, _slice_name(service, number)))) is not None:
            await requests.delete_object(self.api, ENDPOINT_SLICES, entry.decode())
            number += 1

    async def _put_object(self, kind: Kind, desired: Object) -> None:
        metadata = desired["metadata"]
        entry = (await self.api.load_collection(kind)).get(kind.key(metadata["namespace"], metadata["name"]))
        if entry is None:
            with suppress(AlreadyExists):
                await requests.create_object(self.api, kind, desired)
            return
        stored = entry.decode()
        changes = {name: value for name, value in desired.items() if name != "metadata" and stored.get(name) != value}
        labels = stored["metadata"].get("labels") or {}
        if metadata["labels"] != labels:
            changes["metadata"] = {"labels": {**dict.fromkeys(labels), **metadata["labels"]}}
        if changes:
            await requests.patch_object(self.api, kind, stored, changes)


class LoadBalancerController(Controller):
    """Sets the load balancer address of a Service: the requested one, or its cluster IP.

    Keys are those of Services.
    """

    name = "service-lb-controller"

    async def begin(self) -> None:
        await self.follow_kind(SERVICES)

    async def reconcile(self, key: str) -> None:
        """Set the address of a Service without one. Services with a loadBalancerClass are skipped."""
        entry = self.api.collection(SERVICES).get(key)
        if entry is None or entry.terminating:
            return
        service = entry.decode()
        spec, load_balancer = service["spec"], (service.get("status") or {}).get("loadBalancer") or {}
        if spec.get("type") != "LoadBalancer" or spec.get("loadBalancerClass") or load_balancer.get("ingress"):
            return
        address: Object = {"ip": spec.get("loadBalancerIP") or spec["clusterIP"], "ipMode": "VIP"}
        await requests.report_status(self.api, SERVICES, service, {"loadBalancer": {"ingress": [address]}})


def _find_pods(service: Object, entries: Sequence[Entry]) -> list[Object]:
    """Return the pods that a Service selects, that have an IPv4 address and have not finished."""
    selector, selected = service["spec"]["selector"], []
    for entry in entries:
        charge(_DECODE_STEPS)
        pod = entry.decode()
        labels, address = pod["metadata"].get("labels") or {}, (pod.get("status") or {}).get("podIP", ":")
        if selector.items() <= labels.items() and not pods.is_ended(pod) and ":" not in address:
            selected.append(pod)
    return sorted(selected, key=lambda pod: str(pod["metadata"]["name"]))[:_MAX_ADDRESSES]


def _group_by_ports(service: Object, chosen: list[Object]) -> list[_PortGroup]:
    """Return the pods by their port numbers, at least one group."""
    targets = set(map(_port_target, service["spec"].get("ports") or ()))
    groups: dict[frozenset[tuple[_Target, int]], _PortGroup] = {}
    for pod in chosen:
        named = _named_ports(pod)
        port_targets = frozenset((key, named[key]) for key in named.keys() & targets)
        if port_targets not in groups:
            groups[port_targets] = _PortGroup(_resolve_ports(service, named), [])
        groups[port_targets].pods.append(pod)
    return list(groups.values()) or [_PortGroup([], [])]


def _port_target(port: Object) -> _Target:
    """Return the port of pods that a port of a Service stands for: number or name, and protocol."""
    return port.get("targetPort") or port["port"], port.get("protocol") or "TCP"


def _named_ports(pod: Object) -> dict[_Target, int]:
    """Return the numbers of a pod's ports by name and protocol."""
    containers = [*pod["spec"]["containers"], *filter(is_sidecar, pod["spec"].get("initContainers") or ())]
    ports = [port for container in containers for port in container.get("ports") or ()]
    charge(len(containers) + len(ports))
    return {(port.get("name"), port.get("protocol") or "TCP"): port["containerPort"] for port in ports}


def _resolve_ports(service: Object, pod_ports: dict[_Target, int]) -> list[Object]:
    """Return the ports of a Service with the numbers that they have in a pod. pod_ports: the ports of the pod."""
    ports: list[Object] = []
    for port in service["spec"].get("ports") or ():
        charge(1)
        target, protocol = _port_target(port)
        number = pod_ports.get((target, protocol)) if isinstance(target, str) else target
        if number is not None:
            common = {name: port[name] for name in ("name", "appProtocol") if port.get(name)}
            ports.append({**common, "port": number, "protocol": protocol})
    return ports


def _pod_address(service: Object, pod: Object) -> Object:
    """Return what Endpoints and EndpointSlices say about a pod besides its address."""
    metadata, spec = pod["metadata"], pod["spec"]
    target = {"kind": "Pod", "namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"]}
    result: Object = {"targetRef": target}
    if spec.get("nodeName"):
        result["nodeName"] = spec["nodeName"]
    if spec.get("hostname") and spec.get("subdomain") == service["metadata"]["name"]:
        result["hostname"] = spec["hostname"]
    return result


def _endpoint_labels(service: Object) -> Object:
    """Return the labels that a Service gives to its Endpoints and EndpointSlices."""
    labels = service["metadata"].get("labels") or {}
    return {**labels, _HEADLESS: ""} if service["spec"].get("clusterIP") == "None" else labels


def _make_endpoints(service: Object, groups: list[_PortGroup]) -> Object:
    metadata, spec = service["metadata"], service["spec"]
    unready = bool(spec.get("publishNotReadyAddresses"))
    subsets: list[Object] = []
    for ports, chosen in groups:
        sides: dict[str, list[Object]] = {}
        charge(len(chosen))
        for pod in chosen if ports or not spec.get("ports") else ():
            if unready or not pods.is_terminating(pod):
                side = "addresses" if unready or pods.is_ready(pod) else "notReadyAddresses"
                sides.setdefault(side, []).append({"ip": pod["status"]["podIP"], **_pod_address(service, pod)})
        if sides:
            subsets.append({**sides, **({"ports": ports} if ports else {})})
    labels = {**_endpoint_labels(service), _OF_ENDPOINTS: "endpoint-controller"}
    head = {"name": metadata["name"], "namespace": metadata["namespace"], "labels": labels}
    return {"metadata": head, "subsets": subsets or None}


def _slice_name(service: Object, number: int) -> str:
    return f"{service['metadata']['name']}-podless" + (f"-{number}" if number > 1 else "")


def _make_slice(service: Object, number: int, group: _PortGroup, nodes: WatchCache) -> Object:
    metadata, unready = service["metadata"], bool(service["spec"].get("publishNotReadyAddresses"))
    ref = {"apiVersion": "v1", "kind": "Service", "name": metadata["name"], "uid": metadata["uid"]}
    ref |= {"controller": True, "blockOwnerDeletion": True}
    labels = {**_endpoint_labels(service), _SERVICE: metadata["name"], _MANAGER: _SLICE_CONTROLLER}
    head = {"name": _slice_name(service, number), "namespace": metadata["namespace"], "labels": labels}
    endpoints: list[Object] = []
    charge(len(group.ports))
    for pod in group.pods:
        charge(1)
        serving, ending = pods.is_ready(pod), pods.is_terminating(pod)
        conditions = {"ready": unready or (serving and not ending), "serving": serving, "terminating": ending}
        endpoint = {"addresses": [pod["status"]["podIP"]], "conditions": conditions, **_pod_address(service, pod)}
        node = nodes.get(NODES.key("", endpoint["nodeName"])) if "nodeName" in endpoint else None
        if node is not None and node.labels.get(_ZONE):
            endpoint["zone"] = node.labels[_ZONE]
        endpoints.append(endpoint)
    return {
        "metadata": {**head, "ownerReferences": [ref]},
        "addressType": "IPv4",
        "endpoints": endpoints or None,
        "ports": [{"name": "", **port} for port in group.ports] or None,
    }
