"""Measures how much one object uses of a quota: compute, storage, ports and load balancers.

Source: the evaluators of Kubernetes' pkg/quota/v1/evaluator/core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from podless.apis.podspec.amounts import (
    HUGE_PAGES,
    add_totals,
    compute_qos_class,
    format_totals,
    parse_totals,
    sum_totals,
)
from podless.codec import quantity
from podless.kinds.kind import Kind
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each

Amounts = dict[str, str]

_PLAIN = ("cpu", "memory", "ephemeral-storage")
# resource that a quota limits and containers must then set: its field in the container
_PLACES = {
    "cpu": ("requests", "cpu"),
    "memory": ("requests", "memory"),
    "requests.cpu": ("requests", "cpu"),
    "requests.memory": ("requests", "memory"),
    "limits.cpu": ("limits", "cpu"),
    "limits.memory": ("limits", "memory"),
}
_CLASS = ".storageclass.storage.k8s.io/"
_DEVICES = ".deviceclass.resource.k8s.io/devices"
_MAX_DEVICES = 32  # maximum devices of a request; a request for all devices counts as many
_TERMINAL_PHASES = ("Succeeded", "Failed")


class Usage(NamedTuple):
    """The usage of an object. scopes: matching quota scopes, except those with values.

    named: scopes with values, and the object's value.
    """

    amounts: Amounts
    scopes: frozenset[str]
    named: dict[str, tuple[str, ...]]


def find_measure(kind: Kind) -> Callable[[Object], Usage] | None:
    """Return the function that measures an object of a kind; None if objects are only counted."""
    return _MEASURED.get(kind.resource)


def list_measured_names(kind: Kind, hard: Iterable[str]) -> list[str]:
    """Return the resource names of a quota that are measured on objects of a kind."""
    is_measured = _NAMED.get(kind.resource)
    return [name for name in hard if is_measured is not None and is_measured(name)]


def make_scope_matcher(quota: Object) -> Callable[[Usage], bool]:
    """Return a function that returns whether a quota's scopes match a usage."""
    spec = quota["spec"]
    scopes = frozenset(spec.get("scopes") or ())
    expressions = (spec.get("scopeSelector") or {}).get("matchExpressions") or []
    requirements = [
        (expression["scopeName"], expression["operator"], frozenset(expression.get("values") or ()))
        for expression in each(expressions)
    ]
    if not scopes and not requirements:
        return lambda usage: True

    def matches_usage(usage: Usage) -> bool:
        if not scopes <= usage.scopes | {name for name, values in usage.named.items() if values}:
            return False
        return all(_matches_scope(scope, operator, values, usage) for scope, operator, values in each(requirements))

    return matches_usage


def _matches_scope(scope: str, operator: str, values: frozenset[str], usage: Usage) -> bool:
    scope_values = usage.named.get(scope)
    if scope_values is None:
        return (scope in usage.scopes) == (operator in ("Exists", "In"))
    if operator in ("In", "Exists"):
        return not values.isdisjoint(scope_values) if operator == "In" else bool(scope_values)
    return values.isdisjoint(scope_values) if operator == "NotIn" else not scope_values


def find_unset_resources(pod: Object, hard: Iterable[str]) -> str:
    """Return the resources that a quota limits and the pod's containers do not set; "" for none."""
    needed = sorted(_PLACES.keys() & hard)
    unset: dict[str, set[str]] = {}
    spec = pod["spec"]
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        charge(1)
        resources = container.get("resources") or {}
        for name in needed:
            field_name, amount = _PLACES[name]
            if amount not in (resources.get(field_name) or {}):
                unset.setdefault(name, set()).add(container["name"])
    return "; ".join(f"{name} for: {','.join(sorted(unset[name]))}" for name in each(needed) if name in unset)


def _measure_pod(pod: Object) -> Usage:
    spec, status = pod["spec"], pod.get("status") or {}
    amounts: Amounts = {}
    if status.get("phase") not in _TERMINAL_PHASES:
        amounts = {"pods": "1", **_name_resources(total_resources(spec, "requests"), total_resources(spec, "limits"))}
    scopes = {"Terminating" if spec.get("activeDeadlineSeconds") is not None else "NotTerminating"}
    quality = status.get("qosClass") or compute_qos_class(spec)
    scopes.add("BestEffort" if quality == "BestEffort" else "NotBestEffort")
    if _has_namespace_terms(spec):
        scopes.add("CrossNamespacePodAffinity")
    priority = spec.get("priorityClassName")
    return Usage(amounts, frozenset(scopes), {"PriorityClass": (priority,) if priority else ()})


def _name_resources(requests: Amounts, limits: Amounts) -> Amounts:
    """Return requests and limits under all names that quotas have for them."""
    result: Amounts = {}
    for name, text in each(requests).items():
        result[f"requests.{name}"] = text
        if name in _PLAIN or name.startswith(HUGE_PAGES):
            result[name] = text
    for name, text in each(limits).items():
        if name in _PLAIN:
            result[f"limits.{name}"] = text
    return result


def total_resources(spec: Object, key: str) -> Amounts:
    """Return the most that a pod needs at one time, with its overhead. key: "requests" or "limits"."""
    containers = sum_totals(spec, key)
    total = containers | parse_totals((spec.get("resources") or {}).get(key) or {})
    overhead = parse_totals(spec.get("overhead") or {})
    add_totals(total, {name: extra for name, extra in overhead.items() if key == "requests" or name in containers})
    return format_totals(total)


def _has_namespace_terms(spec: Object) -> bool:
    """Return whether the pod has affinity terms for other namespaces."""
    for name in ("podAffinity", "podAntiAffinity"):
        rules = (spec.get("affinity") or {}).get(name) or {}
        terms = [*(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ())]
        preferred = rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [weighted.get("podAffinityTerm") or {} for weighted in each(preferred)]
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in each(terms)):
            return True
    return False


def _measure_claim(claim: Object) -> Usage:
    spec, status = claim["spec"], claim.get("status") or {}
    text = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    amounts: Amounts = {"persistentvolumeclaims": "1"} | ({"requests.storage": text} if text is not None else {})
    if name := spec.get("storageClassName"):
        amounts |= {f"{name}{_CLASS}{name_of_amount}": amount for name_of_amount, amount in each(amounts).items()}
    modified = (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName")
    classes = (spec.get("volumeAttributesClassName"), status.get("currentVolumeAttributesClassName"), modified)
    return Usage(amounts, frozenset(), {"VolumeAttributesClass": tuple(entry for entry in each(classes) if entry)})


def _measure_service(service: Object) -> Usage:
    spec, count = service["spec"], 0
    ports = spec.get("ports") or []
    if spec["type"] == "NodePort":
        count = len(ports)
    elif spec["type"] == "LoadBalancer":
        needs_all = spec.get("allocateLoadBalancerNodePorts") is not False
        count = len(ports) if needs_all else sum(bool(port.get("nodePort")) for port in each(ports))
    balanced = str(int(spec["type"] == "LoadBalancer"))
    amounts = {"services": "1", "services.nodeports": str(count), "services.loadbalancers": balanced}
    return Usage(amounts, frozenset(), {})


def _device_claim(claim: Object) -> Usage:
    """Return the maximum number of devices of each class for a claim."""
    counts: dict[str, int] = {}
    for request in each(((claim["spec"].get("devices") or {}).get("requests")) or ()):
        maxima: dict[str, int] = {}
        for choice in each(request.get("firstAvailable") or ([request["exactly"]] if request.get("exactly") else ())):
            name, mode = f"{choice.get('deviceClassName', '')}{_DEVICES}", choice.get("allocationMode")
            number = choice.get("count") or 0 if mode == "ExactCount" else _MAX_DEVICES if mode == "All" else 0
            maxima[name] = max(number, maxima.get(name, 0))
        for name, number in maxima.items():
            counts[name] = counts.get(name, 0) + number
    amounts = {name: quantity.canonicalize_quantity(str(number)) for name, number in each(counts).items()}
    return Usage(amounts, frozenset(), {})


def _of_pods(name: str) -> bool:
    return name in ("pods", *_PLAIN) or (
        name.startswith(("requests.", "limits.", HUGE_PAGES)) and name != "requests.storage"
    )


_MEASURED: dict[str, Callable[[Object], Usage]] = {
    "pods": _measure_pod,
    "persistentvolumeclaims": _measure_claim,
    "services": _measure_service,
    "resourceclaims.resource.k8s.io": _device_claim,
}
_NAMED: dict[str, Callable[[str], bool]] = {
    "pods": _of_pods,
    "persistentvolumeclaims": lambda name: name in ("persistentvolumeclaims", "requests.storage") or _CLASS in name,
    "services": lambda name: name in ("services", "services.nodeports", "services.loadbalancers"),
    "resourceclaims.resource.k8s.io": lambda name: name.endswith(_DEVICES),
}
