"""Validates the spec of a Service. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from podless.apis.shared import checks
from podless.codec.gotext import Named
from podless.meta import field, names
from podless.meta.addresses import find_address_faults, find_dual_stack_fault, find_range_faults, parse_address
from podless.meta.field import FieldError
from podless.runtime import lazy
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs.structfiles import load_struct

if TYPE_CHECKING:
    from podless.structs import gostructs
else:
    gostructs = lazy.LateModule("podless.structs.gostructs")

_PORT = load_struct("core/v1", "ServicePort")
_LINK_LOCAL_MULTICAST = ipaddress.ip_network("224.0.0.0/24")
_KUBELET = 10250  # port
_KUBELET_PORT = f"may not expose port {_KUBELET} externally since it is used by kubelet"

EXTERNAL, HEADLESS = "ExternalName", "None"
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_AFFINITIES = ("ClientIP", "None")
_POLICIES = ("Cluster", "Local")
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_FAMILIES = ("IPv4", "IPv6")
_FAMILY_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_MAX_SECONDS = 86400
EXPOSED = ("LoadBalancer", "NodePort")
OLD_HINTS, HINTS = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"
_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
_MODES = ("Proxy", "VIP")
_BALANCED = "may only be used when `type` is 'LoadBalancer'"
_NOT_EXTERNAL = "may not be set for ExternalName services"


def is_headless(spec: Object) -> bool:
    """Return whether the Service is headless: a ClusterIP Service without a cluster IP."""
    return bool(spec["type"] == "ClusterIP" and spec.get("clusterIP") == HEADLESS)


def is_externally_accessible(spec: Object) -> bool:
    """Return whether the Service accepts external traffic."""
    return spec["type"] in ("LoadBalancer", "NodePort") or (
        spec["type"] == "ClusterIP" and bool(spec.get("externalIPs"))
    )


def validate_service_spec(obj: Object, old: Object | None = None) -> field.Errors:
    """Validate a defaulted Service. old: the Service before an update, whose addresses and ranges are accepted."""
    spec, before = obj["spec"], old["spec"] if old is not None else {}
    notes, noted = (state["metadata"].get("annotations") or {} if state is not None else {} for state in (obj, old))
    yield from _validate_modes(notes)
    yield from _validate_type_fields(spec)
    seen: set[str] = set()
    for port, path in checks.list_items(spec, "ports", "spec"):
        yield from _validate_port(port, path, len(spec["ports"]) > 1, seen)
    yield from _validate_selection(spec)
    yield from validate_addresses(spec, before.get("clusterIPs") or ())
    for ip, path in checks.list_items(spec, "externalIPs", "spec"):
        faults = (ip not in (before.get("externalIPs") or ()) and find_address_faults(ip)) or find_external_faults(ip)
        yield from field.invalid_details(path, ip, faults)
    yield from field.one_of("spec.type", spec["type"], _TYPES)
    yield from _validate_distinct_ports(spec)
    yield from _validate_load_balancer(spec, notes, before.get("loadBalancerSourceRanges") or (), noted.get(_RANGES))


def _validate_modes(annotations: dict[str, str]) -> field.Errors:
    """Require the old and the new annotation for topology hints to agree."""
    old, new = annotations.get(OLD_HINTS), annotations.get(HINTS)
    if old is not None and new is not None and old != new:
        reason = f"must match annotations[{OLD_HINTS}] when both are specified"
        yield field.invalid(f"metadata.annotations[{HINTS}]", new, reason)


def _validate_type_fields(spec: Object) -> field.Errors:
    """Validate the fields that a type requires or forbids."""
    kind, is_headless = spec["type"], spec.get("clusterIPs") == [HEADLESS]
    if not spec.get("ports") and not is_headless and kind != EXTERNAL:
        yield field.required("spec.ports")
    if kind == EXTERNAL:
        for name in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if spec.get(name):
                yield field.forbidden(f"spec.{name}", _NOT_EXTERNAL)
        host = (spec.get("externalName") or "").removesuffix(".")
        yield from checks.validate_name("spec.externalName", host, names.check_subdomain)
    elif kind == "LoadBalancer" and not has("KubeletPorts"):
        for port, path in checks.list_items(spec, "ports", "spec"):
            if port["port"] == _KUBELET:
                yield field.invalid(path, _KUBELET, _KUBELET_PORT)
    if kind in EXPOSED and is_headless:
        yield field.invalid("spec.clusterIPs[0]", HEADLESS, f"may not be set to 'None' for {kind} services")


def _validate_distinct_ports(spec: Object) -> field.Errors:
    """Reject duplicate ports and node ports, and node ports of ClusterIP Services."""
    ports = [*checks.list_items(spec, "ports", "spec")]
    on_nodes = [(port, f"{path}.nodePort") for port, path in ports if port.get("nodePort")]
    for _, path in on_nodes if spec["type"] == "ClusterIP" else ():
        yield field.forbidden(path, "may not be used when `type` is 'ClusterIP'")
    seen: set[tuple[str, int]] = set()
    for port, path in on_nodes:
        pair = port["protocol"], port["nodePort"]
        if pair in seen:
            yield field.duplicate(path, port["nodePort"])
        seen.add(pair)
    seen = set()
    for port, path in ports:
        pair = port["protocol"], port["port"]
        if pair in seen:
            shown_port = {"protocol": port["protocol"], "port": port["port"]}
            yield field.duplicate(path, gostructs.format_struct(_PORT, shown_port))
        seen.add(pair)


def _validate_port(port: Object, path: str, named: bool, seen: set[str]) -> field.Errors:
    yield from checks.validate_string(port, path, "name", names.check_label_name)
    if port.get("name"):
        yield from checks.validate_unique(f"{path}.name", port["name"], seen)
    elif named:
        yield field.required(f"{path}.name")
    yield from checks.validate_port_number(f"{path}.port", port["port"])
    yield from field.one_of(f"{path}.protocol", port["protocol"], _PROTOCOLS)
    yield from checks.validate_port(f"{path}.targetPort", port["targetPort"])
    yield from checks.validate_pointer(port, path, "appProtocol", names.check_qualified_name)


def _validate_selection(spec: Object) -> field.Errors:
    for key, value in each(spec.get("selector") or {}).items():
        yield from field.invalid_details("spec.selector", key, names.check_qualified_name(key))
        yield from field.invalid_details("spec.selector", value, names.check_label_value(value))
    affinity = spec["sessionAffinity"]
    yield from field.one_of("spec.sessionAffinity", affinity, _AFFINITIES)
    if affinity == "ClientIP":
        seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
        if not 0 < seconds <= _MAX_SECONDS:
            text = f"must be greater than 0 and less than {_MAX_SECONDS}"
            yield field.invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, text)


def validate_addresses(spec: Object, old_addresses: Sequence[str] = ()) -> field.Errors:
    """Validate addresses and families. old_addresses: the addresses before an update."""
    if spec["type"] == EXTERNAL:
        return
    path, cluster_ip, ips = "spec.clusterIPs", spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    if cluster_ip and not ips:
        yield field.required(path)
    elif cluster_ip and ips[0] != cluster_ip:
        yield field.invalid(path, ips, "first value must match `clusterIP`")
    elif ips and not cluster_ip:
        yield field.invalid(path, ips, "must be empty when `clusterIP` is not specified")
    yield from _validate_families(spec)
    wrong = list(_validate_cluster_ips(ips, path, old_addresses))
    yield from wrong
    if len(ips) > 2:
        yield field.invalid(path, ips, "may only hold up to 2 values")
    if wrong:
        return
    fault = find_dual_stack_fault(ips) if len(ips) > 1 else ""
    if fault:
        yield field.internal(path, fault)
    if fault or (len(ips) > 1 and len({":" in ip for ip in each(ips)}) == 1):
        yield field.invalid(path, ips, "may specify no more than one IP for each IP family")
    for index, (family, ip) in enumerate(zip(each(spec.get("ipFamilies") or []), ips, strict=False)):
        if ips != [HEADLESS] and family in _FAMILIES and (":" in ip) != (family == "IPv6"):
            text = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            yield field.invalid(f"{path}[{index}]", ip, text)


def _validate_families(spec: Object) -> field.Errors:
    families = spec.get("ipFamilies") or []
    for index, family in enumerate(each(families)):
        yield from field.one_of(f"spec.ipFamilies[{index}]", family, _FAMILIES)
        if family in families[: min(index, 2)]:
            yield field.duplicate(f"spec.ipFamilies[{index}]", Named(family))
    yield from field.one_of("spec.ipFamilyPolicy", spec.get("ipFamilyPolicy"), _FAMILY_POLICIES)


def _validate_cluster_ips(ips: Sequence[str], path: str, old_addresses: Sequence[str]) -> field.Errors:
    for index, ip in enumerate(each(ips)):
        if ip == HEADLESS and not index:
            if len(ips) > 1:
                yield field.invalid(path, ips, "'None' must be the first and only value")
        elif ip not in old_addresses:
            yield from field.invalid_details(f"{path}[{index}]", ip, find_address_faults(ip))


def find_external_faults(text: str) -> Iterator[str]:
    """Yield the faults of an address outside the cluster."""
    parsed = parse_address(text)
    ip = getattr(parsed, "ipv4_mapped", None) or parsed
    if ip is None:
        yield "must be a valid IP address"
        return
    if ip.is_unspecified:
        yield f"may not be unspecified ({text})"
    if ip.is_loopback:
        yield "may not be in the loopback range (127.0.0.0/8, ::1/128)"
    if ip.is_link_local:
        yield "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
    if ip in _LINK_LOCAL_MULTICAST or (ip.version == 6 and ip.packed[0] == 255 and ip.packed[1] & 15 == 2):
        yield "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"


def _validate_load_balancer(
    spec: Object, annotations: dict[str, str], old_ranges: Sequence[str], old_annotation: str | None
) -> field.Errors:
    """Validate the fields of load balancers, and the traffic policies. old_ranges, old_annotation: before an update."""
    balanced, path = spec["type"] == "LoadBalancer", "spec.LoadBalancerSourceRanges"
    ranges = spec.get("loadBalancerSourceRanges") or []
    noted = annotations.get(_RANGES) if not ranges else None
    range_paths = [(f"{path}[{index}]", value.strip()) for index, value in enumerate(each(ranges))]
    if noted is not None:
        path = f"metadata.annotations[{_RANGES}]"
        texts = noted.split(",") if noted.strip() and noted != old_annotation else ()
        range_paths = [(path, value.strip()) for value in each(texts)]
    if (ranges or noted is not None) and not balanced:
        yield field.forbidden(path, _BALANCED)
    accepted = {value.strip() for value in each(old_ranges)} if ranges else set()
    for range_path, value in each(range_paths):
        if value not in accepted:
            yield from field.invalid_details(range_path, value, find_range_faults(value))
    if spec.get("allocateLoadBalancerNodePorts") is not None and not balanced:
        yield field.forbidden("spec.allocateLoadBalancerNodePorts", _BALANCED)
    yield from _validate_class(spec)
    yield from _validate_traffic(spec)


def validate_changed_class(spec: Object, old: Object) -> field.Errors:
    """Reject changes of loadBalancerClass while the type stays LoadBalancer, and validate it."""
    class_name = spec.get("loadBalancerClass")
    if spec["type"] == old["type"] == "LoadBalancer" and class_name != old.get("loadBalancerClass"):
        yield field.invalid("spec.loadBalancerClass", class_name and Named(class_name), "may not change once set")
    yield from _validate_class(spec)  # again: in updates, kube-apiserver reports these errors twice


def _validate_class(spec: Object) -> list[FieldError]:
    if spec["type"] == "LoadBalancer":
        return checks.validate_pointer(spec, "spec", "loadBalancerClass", names.check_qualified_name)
    if spec.get("loadBalancerClass") is None:
        return []
    return [field.forbidden("spec.loadBalancerClass", _BALANCED)]


def _validate_traffic(spec: Object) -> field.Errors:
    policy, port = spec.get("externalTrafficPolicy"), spec.get("healthCheckNodePort")
    path = "spec.externalTrafficPolicy"
    if policy and not is_externally_accessible(spec):
        yield field.invalid(path, Named(policy), "may only be set for externally-accessible services")
    else:
        yield from field.one_of(path, policy or None, _POLICIES)
    if port and not (spec["type"] == "LoadBalancer" and policy == "Local"):
        text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        yield field.invalid("spec.healthCheckNodePort", port, text)
    elif port:
        yield from checks.validate_port_number("spec.healthCheckNodePort", port)
    internal_policy, distribution = spec.get("internalTrafficPolicy"), spec.get("trafficDistribution")
    yield from field.one_of("spec.internalTrafficPolicy", internal_policy, _POLICIES)
    allowed = _DISTRIBUTIONS if distribution and has("PreferSameTrafficDistribution") else _DISTRIBUTIONS[:1]
    yield from field.one_of("spec.trafficDistribution", distribution, allowed, named=False)


def validate_load_balancer_status(status: Object, old: Object) -> field.Errors:
    """Validate the ingress addresses in the status of a load balancer. old: the status before, whose ones are kept."""
    old_addresses = {ingress.get("ip") for ingress in each((old.get("loadBalancer") or {}).get("ingress") or ())}
    for ingress, path in checks.list_items(status.get("loadBalancer") or {}, "ingress", "status.loadBalancer"):
        ip, mode, host = (ingress.get(key) for key in ("ip", "ipMode", "hostname"))
        if ip and ip not in old_addresses:
            yield from field.invalid_details(f"{path}.ip", ip, find_address_faults(ip))
        if mode is not None and not ip:
            yield field.forbidden(f"{path}.ipMode", "may not be specified when `ip` is not set")
        else:
            yield from field.one_of(f"{path}.ipMode", mode, _MODES)
        yield from checks.validate_string(ingress, path, "hostname", names.check_subdomain)
        if host and parse_address(host) is not None:
            yield field.invalid(f"{path}.hostname", host, "must be a DNS name, not an IP address")
