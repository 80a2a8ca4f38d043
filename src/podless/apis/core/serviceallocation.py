"""Allocates addresses and ports for one Service at a time, each from a range.

The stored Services are the record of taken addresses and ports. Source: Kubernetes' pkg/registry/core/service:
storage, ipallocator and portallocator.
"""

from __future__ import annotations

import ipaddress
import secrets
from collections import Counter
from collections.abc import Iterator
from typing import Any

from podless.apis.core.ipfamilies import needs_health_check
from podless.apis.core.servicespec import EXPOSED, EXTERNAL, HEADLESS
from podless.apis.shared.checks import validate_name
from podless.meta import field, names
from podless.meta.addresses import parse_address
from podless.meta.errors import APIError, Invalid
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

# the defaults of kube-apiserver
NETWORK = ipaddress.IPv4Network("10.0.0.0/24")
_FIRST, _LAST = int(NETWORK.network_address) + 1, int(NETWORK.broadcast_address) - 1
_PORTS = range(30000, 32768)
# left for clients that choose an address or port, as long as there are others
_KEPT_ADDRESSES = min(max(16, NETWORK.num_addresses // 16), 256)
_KEPT_PORTS = min(max(16, len(_PORTS) // 32), 128)
_AT_RANDOM = 16  # random attempts to find a free port
_GUESS = 32768  # first port of dry runs, which allocate none


class PortRefused(ValueError):
    """No port can be allocated. The text says why."""


class AllocationPool:
    """Taken addresses and ports. addresses, ports: how many Services (and IPAddresses) use each."""

    def __init__(self) -> None:
        self.addresses: Counter[str] = Counter()
        self.ports: Counter[int] = Counter()

    def note_service(self, before: Object | None, after: Object | None) -> None:
        """Record that a Service was created, changed or deleted."""
        for obj, step in ((before, -1), (after, 1)):
            if obj is not None:
                _count_items(self.addresses, list_addresses(obj["spec"]), step)
                _count_items(self.ports, list_node_ports(obj["spec"]), step)

    def note_address(self, ip: str, step: int) -> None:
        """Record that an IPAddress was created (step 1) or deleted (-1)."""
        _count_items(self.addresses, (ip,), step)

    def free_address(self) -> str:
        """Return a free address. Raises PortRefused if there is none."""
        for first, last in ((_FIRST + _KEPT_ADDRESSES, _LAST), (_FIRST, _FIRST + _KEPT_ADDRESSES - 1)):
            for number in _iterate_from_random(first, last):
                if (text := str(ipaddress.IPv4Address(number))) not in self.addresses:
                    return text
        raise PortRefused("range is full")

    def free_ports(self) -> Iterator[int]:
        """Yield each free port once: some at random, then the rest in order.

        Iterating over all takes time in proportion to the size of the range.
        """
        first, last = _PORTS[0], _PORTS[-1]
        for low, high in ((first + _KEPT_PORTS, last), (first, first + _KEPT_PORTS - 1)):
            freed = set[int]()
            for _ in range(_AT_RANDOM):
                port = low + secrets.randbelow(high - low + 1)
                if port not in self.ports and port not in freed:
                    freed.add(port)
                    yield port
            for port in _iterate_from_random(low, high):
                if port not in self.ports and port not in freed:
                    yield port


class Allocation:
    """The allocation for one write of a Service. addresses, ports: must still be free at the commit."""

    def __init__(self, pool: AllocationPool, obj: Object, old: Object | None, *, dry_run: bool) -> None:
        self._pool, self._dry_run = pool, dry_run
        self._name = obj["metadata"].get("name") or ""
        self.addresses: set[str] = set()
        self.ports: set[int] = set()
        self._free = pool.free_ports()
        self._highest = 0  # the highest allocated port
        spec, before = obj["spec"], old["spec"] if old is not None else None
        if before is None or before["type"] == EXTERNAL:
            self._give_addresses(spec)
        if spec["type"] in EXPOSED:
            self._give_ports(spec, before)
        self._give_check(spec, before)

    @property
    def has_conflict(self) -> bool:
        """Whether another Service has taken one of these addresses or ports."""
        pool = self._pool
        return any(ip in pool.addresses for ip in self.addresses) or any(port in pool.ports for port in self.ports)

    def _give_addresses(self, spec: Object) -> None:
        ips = spec.get("clusterIPs") or []
        if spec["type"] == EXTERNAL or ips[:1] == [HEADLESS]:
            return
        families = spec.get("ipFamilies") or []
        ips = [*ips, *("" for _ in families[len(ips) :])]
        addresses = list(ips)
        for index, ip in enumerate(ips[: len(families)]):
            ips[index] = self._named_address(ip, addresses) if ip else self._any_address(addresses)
        spec["clusterIP"], spec["clusterIPs"] = ips[0], ips

    def _named_address(self, ip: str, cluster_ips: list[str]) -> str:
        canonical, reason = _canonical_address(ip), ""
        if not _FIRST <= int(ipaddress.ip_address(canonical)) <= _LAST:
            reason = "the provided network does not match the current range"
            if (
                self._dry_run
            ):  # kube-apiserver's dry run checks the only range, a write looks for a matching range first
                reason = f"the provided IP ({ip}) is not in the valid range. The range of valid IPs is {NETWORK}"
        elif not self._dry_run and canonical in self._pool.addresses:
            reason = "provided IP is already allocated"
        if reason:
            self._raise_invalid(field.invalid("spec.clusterIPs", cluster_ips, f"failed to allocate IP {ip}: {reason}"))
        self._check_holder(ip, cluster_ips, f"failed to allocate IP {ip}")
        self.addresses.add(canonical)
        return ip

    def _check_holder(self, ip: str, cluster_ips: list[str], failed: str) -> None:
        """Raise Invalid for a Service whose name an IPAddress cannot reference."""
        if self._dry_run:
            return
        errors = validate_name("spec.parentRef.name", self._name, names.check_path_segment)
        if errors:
            detail = f'{failed}: IPAddress.networking.k8s.io "{ip}" is invalid: {field.join_errors(errors)}'
            self._raise_invalid(field.invalid("spec.clusterIPs", cluster_ips, detail))

    def _any_address(self, cluster_ips: list[str]) -> str:
        if self._dry_run:
            return str(NETWORK.network_address)
        try:
            ip = self._pool.free_address()
        except PortRefused as refusal:
            raise _internal_error(f"failed to allocate a serviceIP: {refusal}") from None
        self._check_holder(ip, cluster_ips, "failed to allocate IP")
        self.addresses.add(ip)
        return ip

    def _take_port(self, port: int) -> None:
        """Allocate a port. Raises PortRefused if it is taken or out of range."""
        if not self._dry_run and port not in _PORTS:
            raise PortRefused("provided port is not in the valid range. The range of valid ports is 30000-32767")
        if port in self._pool.ports or port in self.ports:
            raise PortRefused("provided port is already allocated")
        self._choose_port(port)

    def _choose_port(self, port: int) -> None:
        self.ports.add(port)
        self._highest = max(self._highest, port)

    def _next_port(self) -> int:
        """Allocate any free port. Raises PortRefused if there is none."""
        if self._dry_run:
            port = (self._highest or _GUESS) + 1
        else:
            port = next((free for free in self._free if free not in self.ports), 0)
            if not port:
                raise PortRefused("range is full")
        self._choose_port(port)
        return port

    def _give_ports(self, spec: Object, before: Object | None) -> None:
        ports = spec.get("ports") or []
        needs_all = spec["type"] == "NodePort" or bool(spec.get("allocateLoadBalancerNodePorts"))
        requested = [(index, port) for index, port in enumerate(ports) if needs_all or port.get("nodePort")]
        try:
            if before is None:
                self._new_ports(requested)
            else:
                self._changed_ports(requested, before)
        except PortRefused as refusal:
            raise _internal_error(f"failed to allocate a nodePort: {refusal}") from None

    def _new_ports(self, requested: list[tuple[int, Object]]) -> None:
        """Allocate node ports. Ports with the same number and different protocols share a node port."""
        named: dict[int, int] = {}
        for _, port in each(requested):
            if port.get("nodePort"):
                named.setdefault(port["port"], port["nodePort"])
        allocated: dict[int, int] = {}
        for index, port in each(requested):
            node = allocated.get(port["port"])
            if node is None:
                node = named.get(port["port"])
                if node is None:
                    node = self._next_port()
                else:
                    self._take_named(index, node)
                allocated[port["port"]] = port["nodePort"] = node
            elif not port.get("nodePort"):
                port["nodePort"] = node
            elif port["nodePort"] != node:
                self._take_named(index, port["nodePort"])

    def _changed_ports(self, requested: list[tuple[int, Object]], before: Object) -> None:
        ports_before = {port["nodePort"] for port in before.get("ports") or () if port.get("nodePort")}
        seen = set()
        for index, port in each(requested):
            node = port.get("nodePort")
            if not node:
                node = port["nodePort"] = self._next_port()
            elif node not in ports_before and node not in self.ports:
                self._take_named(index, node)
            pair = port["protocol"], node
            if pair in seen:
                raise _untyped_error(f"duplicate nodePort: {{{pair[0]} {node}}}")
            seen.add(pair)

    def _take_named(self, index: int, port: int) -> None:
        try:
            self._take_port(port)
        except PortRefused as refusal:
            self._raise_invalid(field.invalid(f"spec.ports[{index}].nodePort", port, str(refusal)))

    def _give_check(self, spec: Object, before: Object | None) -> None:
        """Allocate healthCheckNodePort for a load balancer whose externalTrafficPolicy is Local."""
        if not needs_health_check(spec) or (before is not None and needs_health_check(before)):
            return
        port = spec.get("healthCheckNodePort") or 0
        try:
            if port:
                self._take_port(port)
            else:
                spec["healthCheckNodePort"] = self._next_port()
        except PortRefused as refusal:
            described = f"requested HealthCheck NodePort {port}" if port else "a HealthCheck NodePort 0"
            raise _internal_error(f"failed to allocate {described}: {refusal}") from None

    def _raise_invalid(self, error: FieldError) -> None:
        raise Invalid("Service", "", self._name, [error])


def list_addresses(spec: Object) -> list[str]:
    """Return the cluster IPs of a Service, in canonical form."""
    return [_canonical_address(ip) for ip in spec.get("clusterIPs") or () if ip != HEADLESS]


def _canonical_address(ip: str) -> str:
    """Return an address in canonical form: without leading zeros, which older releases accept."""
    return str(parse_address(ip) or ip)


def list_node_ports(spec: Object) -> set[int]:
    """Return the node ports of a Service."""
    node_ports = {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}
    return node_ports | {spec["healthCheckNodePort"]} if spec.get("healthCheckNodePort") else node_ports


def _count_items(counter: Counter[Any], items: Any, step: int) -> None:
    for item in items:
        counter[item] += step
        if not counter[item]:
            del counter[item]


def _iterate_from_random(first: int, last: int) -> Iterator[int]:
    """Yield all numbers from first to last, starting at a random one."""
    size = last - first + 1
    start = secrets.randbelow(size)
    return (first + (start + step) % size for step in range(size))


def _internal_error(reason: str) -> APIError:
    return APIError(f"Internal error occurred: {reason}", {"causes": [{"message": reason}]})


def _untyped_error(reason: str) -> APIError:
    error = APIError(reason)
    error.reason = ""
    return error
