"""IP families, addresses and ports of a Service: fields that the server chooses, keeps and drops.

As in an IPv4-only cluster. Source: Kubernetes' pkg/registry/core/service.
"""

from __future__ import annotations

from podless.apis.core.servicespec import EXPOSED, EXTERNAL, HEADLESS, is_externally_accessible, validate_addresses
from podless.meta import field
from podless.meta.errors import Invalid
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_CLUSTER_FAMILY = "IPv4"
_POLICY = "spec.ipFamilyPolicy"
_CHANGED = "may not change once set"
_BALANCED = "LoadBalancer"


def adopt_allocated(spec: Object, old: Object) -> None:
    """Keep allocated addresses and ports that an update omits."""
    addressed = EXTERNAL not in (spec["type"], old["type"])
    if addressed and not spec.get("clusterIP") and old.get("clusterIP"):
        spec["clusterIP"] = old["clusterIP"]
    is_same_ip, ips = spec.get("clusterIP") == old.get("clusterIP"), old.get("clusterIPs")
    if ips and not spec.get("clusterIPs") and (addressed or is_same_ip):
        spec["clusterIPs"] = ips
    if not is_same_ip and spec.get("clusterIPs") == ips:
        spec["clusterIPs"] = [spec["clusterIP"]] if spec.get("clusterIP") else []
    if not spec.get("clusterIPs"):
        spec.pop("clusterIPs", None)
    if spec["type"] in EXPOSED and old["type"] in EXPOSED:
        _adopt_ports(spec, old)
    port = old.get("healthCheckNodePort") if needs_health_check(spec) and needs_health_check(old) else 0
    if port and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = port


def needs_health_check(spec: Object) -> bool:
    """Return whether a Service gets a healthCheckNodePort."""
    return bool(spec["type"] == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local")


def _adopt_ports(spec: Object, old: Object) -> None:
    """Keep node ports by port name, unless another port has taken them."""
    used = _node_ports(spec) & _node_ports(old)
    ports_before = {port.get("name") or "": port.get("nodePort") or 0 for port in each(old.get("ports") or ())}
    for port in each(spec.get("ports") or ()):
        node = ports_before.get(port.get("name") or "")
        if not port.get("nodePort") and node and node not in used:
            port["nodePort"] = node


def _node_ports(spec: Object) -> set[int]:
    return {port["nodePort"] for port in each(spec.get("ports") or ()) if port.get("nodePort")}


def choose_families(obj: Object, old: Object | None) -> None:
    """Set the default policy and families. old: None for a create. Raises Invalid."""
    spec, before = obj["spec"], old["spec"] if old is not None else {}
    if spec["type"] == EXTERNAL or _keeps_families(spec, before):
        return
    unselective = spec.get("clusterIP") == HEADLESS and not spec.get("selector")
    if spec.get("ipFamilyPolicy") is None:
        spec["ipFamilyPolicy"] = before.get("ipFamilyPolicy") or ("RequireDualStack" if unselective else "SingleStack")
    _raise_invalid(obj, list(validate_addresses(spec, before.get("clusterIPs") or ())))
    _raise_invalid(obj, [*_drop_secondary(spec, before), *_infer_families(spec)])
    if not unselective:
        _raise_invalid(obj, _validate_supported(spec))
    families = spec.get("ipFamilies") or [_CLUSTER_FAMILY]
    if unselective and len(families) < 2 and spec["ipFamilyPolicy"] != "SingleStack":
        families = [*families, "IPv6" if families[0] == "IPv4" else "IPv4"]
    spec["ipFamilies"] = families


def _keeps_families(spec: Object, old: Object) -> bool:
    """Return whether a PreferDualStack Service keeps the families that it has."""
    equal = all(spec.get(name) == old.get(name) for name in ("type", "ipFamilyPolicy", "clusterIPs", "ipFamilies"))
    return equal and spec.get("ipFamilyPolicy") == "PreferDualStack"


def _infer_families(spec: Object) -> list[FieldError]:
    """Set ipFamilies from the addresses. Returns errors for IPv6, which this server does not allocate."""
    errors, families = [], list(spec.get("ipFamilies") or [])
    for index, ip in enumerate(each(spec.get("clusterIPs") or [])):
        if ip == HEADLESS:
            break
        if index >= len(families):
            if ":" in ip:
                text = "IPv6 is not configured on this cluster"
                errors.append(field.invalid(f"spec.clusterIPs[{index}]", spec["clusterIPs"], text))
            else:
                families.append(_CLUSTER_FAMILY)
    if families:
        spec["ipFamilies"] = families
    return errors


def _raise_invalid(obj: Object, errors: list[FieldError]) -> None:
    if errors:
        raise Invalid("Service", "", obj["metadata"].get("name") or "", errors)


def _drop_secondary(spec: Object, old: Object) -> list[FieldError]:
    """Drop secondary addresses and families if the policy says so. Returns errors for those that violate it."""
    errors, policy = [], spec["ipFamilyPolicy"]
    for name, noun in (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")):
        values, before = spec.get(name) or [], old.get(name) or []
        if policy == "SingleStack":
            if values == before and len(values) > 1:
                spec[name] = values = values[:1]
            if len(values) == 2:
                several = "IP families" if name == "ipFamilies" else "cluster IPs"
                detail = f"must be 'RequireDualStack' or 'PreferDualStack' when multiple {several} are specified"
                errors.append(field.invalid(_POLICY, policy, detail))
        elif values and len(values) < len(before):
            errors.append(field.invalid(_POLICY, policy, f"must be 'SingleStack' to release the secondary {noun}"))
    return errors


def _validate_supported(spec: Object) -> list[FieldError]:
    """Reject policies and families that require IPv6."""
    errors, policy = [], spec["ipFamilyPolicy"]
    if policy == "RequireDualStack":
        errors.append(field.invalid(_POLICY, policy, "this cluster is not configured for dual-stack services"))
    for index, family in enumerate(each(spec.get("ipFamilies") or [])):
        if family != _CLUSTER_FAMILY:
            errors.append(field.invalid(f"spec.ipFamilies[{index}]", family, "not configured on this cluster"))
    return errors


def drop_unused(spec: Object, old: Object) -> None:
    """Drop unchanged fields that the Service's new type does not use."""
    useless: list[str] = []
    if old["type"] != EXTERNAL and spec["type"] == EXTERNAL:
        if spec.get("clusterIPs") == old.get("clusterIPs"):
            spec.pop("clusterIP", None)
            spec.pop("clusterIPs", None)
        useless += ("ipFamilies", "ipFamilyPolicy")
    if old["type"] in EXPOSED and spec["type"] not in EXPOSED and _node_ports(spec) <= _node_ports(old):
        for port in each(spec.get("ports") or ()):
            port.pop("nodePort", None)
    if needs_health_check(old) and not needs_health_check(spec):
        useless.append("healthCheckNodePort")
    if old["type"] == _BALANCED and spec["type"] != _BALANCED:
        useless += ("allocateLoadBalancerNodePorts", "loadBalancerClass")
    if is_externally_accessible(old) and not is_externally_accessible(spec):
        useless.append("externalTrafficPolicy")
    for name in each(useless):
        if spec.get(name) == old.get(name):
            spec.pop(name, None)


def validate_kept(spec: Object, old: Object) -> field.Errors:
    """Reject changes of allocated addresses and families, except secondary ones."""
    if EXTERNAL in (spec["type"], old["type"]):
        return
    headless = [spec_of_state.get("clusterIPs") == [HEADLESS] for spec_of_state in (spec, old)]
    if not all(headless):
        ips = spec.get("clusterIPs") or []
        for index, (ip, before) in enumerate(zip(each(ips), old.get("clusterIPs") or (), strict=False)):
            if ip != before:
                yield field.invalid(f"spec.clusterIPs[{index}]", ips, _CHANGED)
    new, before = spec.get("ipFamilies") or [], old.get("ipFamilies") or []
    if not any(headless):
        moved = sum(family != family_before for family, family_before in zip(each(new), before, strict=False))
        value = new if len(new) == len(before) else spec.get("clusterIPs")
        yield from [field.invalid("spec.ipFamilies[0]", value, _CHANGED)] * moved


def validate_kept_health_check(spec: Object, old: Object) -> field.Errors:
    """Reject changes of healthCheckNodePort."""
    changed = spec.get("healthCheckNodePort") != old.get("healthCheckNodePort")
    if changed and needs_health_check(spec) and needs_health_check(old):
        yield field.forbidden("spec.healthCheckNodePort", "field is immutable")
