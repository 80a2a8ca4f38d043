"""What the spec of a Service has to be. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from typing import Any

from podless.kinds.strategy import Object
from podless.meta import field, names
from podless.meta.field import FieldError

EXTERNAL, HEADLESS = "ExternalName", "None"
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_AFFINITIES = ("ClientIP", "None")
_POLICIES = ("Cluster", "Local")
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_FAMILIES = ("IPv4", "IPv6")
_FAMILY_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_MOST_SECONDS = 86400
_KUBELET_PORT = 10250
_PORT_RANGE = "must be between 1 and 65535, inclusive"
_BALANCED = "may only be used when `type` is 'LoadBalancer'"
_PORT_NAME = re.compile(r"[-a-z0-9]+")
_LETTER = re.compile(r"[a-z]")
_NOT_EXTERNAL = "may not be set for ExternalName services"
_LEADING = re.compile(r"(?<![0-9])0+(?=[0-9])")


def headless(spec: Object) -> bool:
    """Whether a service has no address of its own, though it could."""
    return bool(spec["type"] == "ClusterIP" and spec.get("clusterIP") == HEADLESS)


def accessible(spec: Object) -> bool:
    """Whether traffic from outside can get there."""
    return spec["type"] in ("LoadBalancer", "NodePort") or (
        spec["type"] == "ClusterIP" and bool(spec.get("externalIPs"))
    )


def check(spec: Object) -> list[FieldError]:
    """All that is wrong with a spec that has its defaults."""
    return [error for part in _PARTS for error in part(spec)]


def _type(spec: Object) -> Iterator[FieldError]:
    kind, ports = spec["type"], spec.get("ports") or []
    if not ports and not headless(spec) and kind != EXTERNAL:
        yield field.required("spec.ports")
    if kind == EXTERNAL:
        for name in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if spec.get(name):
                yield field.forbidden(f"spec.{name}", _NOT_EXTERNAL)
        host = (spec.get("externalName") or "").removesuffix(".")
        if not host:
            yield field.required("spec.externalName")
        yield from (field.invalid("spec.externalName", host, text) for text in (names.subdomain(host) if host else ()))
    elif kind in ("LoadBalancer", "NodePort") and spec.get("clusterIP") == HEADLESS:
        yield field.invalid("spec.clusterIPs[0]", HEADLESS, f"may not be set to 'None' for {kind} services")
    elif kind not in _TYPES:
        yield field.not_supported("spec.type", kind, _TYPES)
    if kind == "LoadBalancer":
        for place, port in enumerate(ports):
            if port["port"] == _KUBELET_PORT:
                text = f"may not expose port {_KUBELET_PORT} externally since it is used by kubelet"
                yield field.invalid(f"spec.ports[{place}]", _KUBELET_PORT, text)


def _ports(spec: Object) -> Iterator[FieldError]:
    ports = spec.get("ports") or []
    seen: set[str] = set()
    for place, port in enumerate(ports):
        yield from _port(port, f"spec.ports[{place}]", len(ports) > 1, seen)
    nodes: set[tuple[str, int]] = set()
    pairs: set[tuple[str, int]] = set()
    for place, port in enumerate(ports):
        path, node = f"spec.ports[{place}]", port.get("nodePort") or 0
        if node and spec["type"] == "ClusterIP":
            yield field.forbidden(f"{path}.nodePort", "may not be used when `type` is 'ClusterIP'")
        if node and (port["protocol"], node) in nodes:
            yield field.duplicate(f"{path}.nodePort", node)
        nodes.add((port["protocol"], node))
        pair = port["protocol"], port["port"]
        if pair in pairs:
            yield field.duplicate(path, _as_go(*pair))
        pairs.add(pair)


def _as_go(protocol: str, port: int) -> Object:
    """A port as errors show it: under the names of its Go fields, with nothing but what must not be there twice."""
    head = {"Name": "", "Protocol": protocol, "AppProtocol": None, "Port": port}
    return {**head, "TargetPort": 0, "NodePort": 0}


def _port(port: Object, path: str, named: bool, seen: set[str]) -> Iterator[FieldError]:
    name, target = port.get("name") or "", port["targetPort"]
    if name:
        yield from (field.invalid(f"{path}.name", name, text) for text in names.label(name))
        if name in seen:
            yield field.duplicate(f"{path}.name", name)
        seen.add(name)
    elif named:
        yield field.required(f"{path}.name")
    if not 0 < port["port"] < 65536:
        yield field.invalid(f"{path}.port", port["port"], _PORT_RANGE)
    if port["protocol"] not in _PROTOCOLS:
        yield field.not_supported(f"{path}.protocol", port["protocol"], _PROTOCOLS)
    if isinstance(target, str):
        yield from (field.invalid(f"{path}.targetPort", target, text) for text in _port_name(target))
    elif not 0 < target < 65536:
        yield field.invalid(f"{path}.targetPort", target, _PORT_RANGE)
    protocol = port.get("appProtocol")
    if protocol is not None:
        yield from (field.invalid(f"{path}.appProtocol", protocol, text) for text in names.qualified_name(protocol))


def _port_name(name: str) -> Iterator[str]:
    if len(name.encode()) > 15:
        yield "must be no more than 15 characters"
    if not _PORT_NAME.fullmatch(name):
        yield "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not _LETTER.search(name):
        yield "must contain at least one letter (a-z)"
    if "--" in name:
        yield "must not contain consecutive hyphens"
    if name.startswith("-") or name.endswith("-"):
        yield "must not begin or end with a hyphen"


def _selection(spec: Object) -> Iterator[FieldError]:
    for key, value in (spec.get("selector") or {}).items():
        yield from (field.invalid("spec.selector", key, text) for text in names.qualified_name(key))
        yield from (field.invalid("spec.selector", value, text) for text in names.label_value(value))
    affinity = spec["sessionAffinity"]
    if affinity not in _AFFINITIES:
        yield field.not_supported("spec.sessionAffinity", affinity, _AFFINITIES)
    if affinity == "ClientIP":
        seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
        if not 0 < seconds <= _MOST_SECONDS:
            text = f"must be greater than 0 and less than {_MOST_SECONDS}"
            yield field.invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, text)


def addresses(spec: Object) -> Iterator[FieldError]:
    """What is wrong with the addresses and families of a service that may have some."""
    if spec["type"] == EXTERNAL:
        return
    path, given, ips = "spec.clusterIPs", spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    if given and not ips:
        yield field.required(path)
    elif given and ips[0] != given:
        yield field.invalid(path, ips, "first value must match `clusterIP`")
    elif ips and not given:
        yield field.invalid(path, ips, "must be empty when `clusterIP` is not specified")
    yield from _families(spec)
    faults = list(_cluster_ips(ips, path))
    yield from faults
    if len(ips) > 2:
        yield field.invalid(path, ips, "may only hold up to 2 values")
    if not faults and len(ips) > 1 and len({":" in ip for ip in ips}) == 1:
        yield field.invalid(path, ips, "may specify no more than one IP for each IP family")
    if not faults and not headless(spec):
        yield from _of_family(spec.get("ipFamilies") or [], ips, path)


def _of_family(families: Sequence[str], ips: Sequence[str], path: str) -> Iterator[FieldError]:
    for place, (family, ip) in enumerate(zip(families, ips, strict=False)):
        if family in _FAMILIES and (":" in ip) != (family == "IPv6"):
            text = f"expected an {family} value as indicated by `ipFamilies[{place}]`"
            yield field.invalid(f"{path}[{place}]", ip, text)


def _families(spec: Object) -> Iterator[FieldError]:
    families, policy = spec.get("ipFamilies") or [], spec.get("ipFamilyPolicy")
    for place, family in enumerate(families):
        if family not in _FAMILIES:
            yield field.not_supported(f"spec.ipFamilies[{place}]", family, _FAMILIES)
        if family in families[:place][:2]:
            yield field.duplicate(f"spec.ipFamilies[{place}]", family)
    if policy is not None and policy not in _FAMILY_POLICIES:
        yield field.not_supported("spec.ipFamilyPolicy", policy, _FAMILY_POLICIES)


def _cluster_ips(ips: Sequence[str], path: str) -> Iterator[FieldError]:
    for place, ip in enumerate(ips):
        if place or ip != HEADLESS:
            yield from (field.invalid(f"{path}[{place}]", ip, text) for text in _ip(ip))
        elif len(ips) > 1:
            yield field.invalid(path, ips, "'None' must be the first and only value")


def _external(spec: Object) -> Iterator[FieldError]:
    for place, ip in enumerate(spec.get("externalIPs") or []):
        faults = list(_ip(ip)) or list(special(ip))
        yield from (field.invalid(f"spec.externalIPs[{place}]", ip, text) for text in faults)


def _ip(text: str) -> Iterator[str]:
    """What is wrong with an address."""
    parsed = _parsed(text, ipaddress.ip_address)
    if parsed is None:
        zeros = _parsed(_LEADING.sub("", text), ipaddress.ip_address) is not None
        yield "must not have leading 0s" if zeros else "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
    elif parsed.version == 6 and parsed.ipv4_mapped is not None:
        yield "must not be an IPv4-mapped IPv6 address"


def _parsed(text: str, parse: Any) -> Any:
    try:
        return None if "%" in text else parse(text)
    except ValueError:
        return None


def special(text: str) -> Iterator[str]:
    """What is wrong with a good address that is to be that of somebody else."""
    ip = ipaddress.ip_address(text)
    if ip.is_unspecified:
        yield f"may not be unspecified ({text})"
    if ip.is_loopback:
        yield "may not be in the loopback range (127.0.0.0/8, ::1/128)"
    if ip.is_link_local:
        yield "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
    if ip in _LINK_LOCAL_MULTICAST[ip.version]:
        yield "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"


_LINK_LOCAL_MULTICAST: dict[int, Any] = {
    4: ipaddress.ip_network("224.0.0.0/24"),
    6: ipaddress.ip_network("ff02::/16"),
}


def _balancing(spec: Object) -> Iterator[FieldError]:
    balanced, path = spec["type"] == "LoadBalancer", "spec.LoadBalancerSourceRanges"
    ranges = spec.get("loadBalancerSourceRanges") or []
    if ranges and not balanced:
        yield field.forbidden(path, _BALANCED)
    for place, value in enumerate(ranges):
        yield from (field.invalid(f"{path}[{place}]", value.strip(), text) for text in _cidr(value.strip()))
    if spec.get("allocateLoadBalancerNodePorts") is not None and not balanced:
        yield field.forbidden("spec.allocateLoadBalancerNodePorts", _BALANCED)
    yield from load_balancer_class(spec)


def changed_class(spec: Object, old: Object) -> list[FieldError]:
    """The class of a load balancer stays; what is no load balancer has none."""
    given, before = spec.get("loadBalancerClass"), old.get("loadBalancerClass")
    found = load_balancer_class(spec)
    if spec["type"] == old["type"] == "LoadBalancer" and given != before:
        found.insert(0, field.invalid("spec.loadBalancerClass", given, "may not change once set"))
    return found


def load_balancer_class(spec: Object) -> list[FieldError]:
    """Only a load balancer is of a class. A real server says so twice of an update."""
    given, path = spec.get("loadBalancerClass"), "spec.loadBalancerClass"
    if given is None:
        return []
    if spec["type"] != "LoadBalancer":
        return [field.forbidden(path, _BALANCED)]
    return [field.invalid(path, given, text) for text in names.qualified_name(given)]


def _cidr(text: str) -> Iterator[str]:
    """What is wrong with a range of addresses."""
    _, slash, length = text.partition("/")
    if not slash or not length.isdigit() or _parsed(text, ipaddress.ip_interface) is None:
        yield "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
    elif _parsed(text, ipaddress.ip_network) is None:
        yield "must not have bits set beyond the prefix length"


def _traffic(spec: Object) -> Iterator[FieldError]:
    policy, port = spec.get("externalTrafficPolicy"), spec.get("healthCheckNodePort")
    if policy and not accessible(spec):
        yield field.invalid("spec.externalTrafficPolicy", policy, "may only be set for externally-accessible services")
    elif policy and policy not in _POLICIES:
        yield field.not_supported("spec.externalTrafficPolicy", policy, _POLICIES)
    if port and not (spec["type"] == "LoadBalancer" and policy == "Local"):
        text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        yield field.invalid("spec.healthCheckNodePort", port, text)
    inner, spread = spec.get("internalTrafficPolicy"), spec.get("trafficDistribution")
    if inner is not None and inner not in _POLICIES:
        yield field.not_supported("spec.internalTrafficPolicy", inner, _POLICIES)
    if spread is not None and spread not in _DISTRIBUTIONS:
        yield field.not_supported("spec.trafficDistribution", spread, _DISTRIBUTIONS)


_PARTS = (_type, _ports, _selection, addresses, _external, _balancing, _traffic)
