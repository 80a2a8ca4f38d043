"""Sums of the resources that a pod's containers request. Quotas use it too, so it imports no other rules of pods.

Init containers run one after the other; sidecars run next to all containers that follow. Source: Kubernetes'
component-helpers/resource and pkg/apis/core/v1/helper/qos.
"""

from __future__ import annotations

from collections import Counter

from podless.codec import quantity
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each

Totals = dict[str, tuple[int, str]]  # amounts in billionths, each with the suffix of a quantity that it is written like
HUGE_PAGES = "hugepages-"
# the resources of Kubernetes: compute resources with their names in quotas, and objects that quotas count
COMPUTE = frozenset(
    f"{part}{name}" for part in ("", "limits.", "requests.") for name in ("cpu", "ephemeral-storage", "memory")
)
COUNTED = frozenset(
    {
        "configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets",
        "services", "services.loadbalancers", "services.nodeports",
    }
)  # fmt: skip
_COMPUTE = ("cpu", "memory")
_STEPS = 8  # steps to parse a quantity and to add it


def is_sidecar(container: Object) -> bool:
    """Return whether an init container is a sidecar, which keeps running."""
    return container.get("restartPolicy") == "Always"


def sum_resources(spec: Object, key: str) -> dict[str, str]:
    """Return the most that the containers of a pod need at one time. key: "requests" or "limits"."""
    return format_totals(sum_totals(spec, key))


def sum_totals(spec: Object, key: str) -> Totals:
    """Return the same as numbers."""
    sums: Totals = {}
    for container in each(spec.get("containers") or ()):
        add_totals(sums, _read_totals(container, key))
    sidecars: Totals = {}
    peaks: Totals = {}
    for container in each(spec.get("initContainers") or ()):
        totals = _read_totals(container, key)
        if is_sidecar(container):
            add_totals(sums, totals)
            add_totals(sidecars, totals)
            totals = {name: sidecars[name] for name in totals}  # other resources of the sidecars have not grown
        else:
            add_totals(totals, {name: sidecars[name] for name in totals if name in sidecars})
        _raise_to(peaks, totals)
    _raise_to(sums, peaks)
    return sums


def parse_totals(amounts: dict[str, str]) -> Totals:
    """Return amounts by resource, parsed."""
    charge(_STEPS * len(amounts))
    return {name: quantity.parse_amount(text) for name, text in amounts.items()}


def format_totals(totals: Totals) -> dict[str, str]:
    """Return amounts by resource as quantities."""
    return {name: quantity.format_quantity(*total) for name, total in each(totals).items()}


def add_totals(totals: Totals, added: Totals) -> None:
    """Add amounts. A sum is written like its first amount that is not zero."""
    for name, (amount, suffix) in each(added).items():
        total, total_suffix = totals.get(name, (0, suffix))
        totals[name] = total + amount, total_suffix if total else suffix


def _read_totals(container: Object, key: str) -> Totals:
    return parse_totals((container.get("resources") or {}).get(key) or {})


def _raise_to(peaks: Totals, totals: Totals) -> None:
    for name, total in each(totals).items():
        if name not in peaks or total[0] > peaks[name][0]:
            peaks[name] = total


def compute_qos_class(spec: Object) -> str:
    """Return the quality of service class of a pod."""
    pod_resources = spec.get("resources")
    if pod_resources is not None:
        holders = [pod_resources]
    else:
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        holders = [container.get("resources") or {} for container in each(containers)]
    requests, limits = Counter[str](), Counter[str]()
    guaranteed = True
    for resources in holders:
        requests.update(_parse_compute(resources.get("requests")))
        limits_of_holder = _parse_compute(resources.get("limits"))
        limits.update(limits_of_holder)
        guaranteed = guaranteed and len(limits_of_holder) == len(_COMPUTE)
    if not requests and not limits:
        return "BestEffort"
    if guaranteed and requests == limits:
        return "Guaranteed"
    return "Burstable"


def _parse_compute(amounts: dict[str, str] | None) -> dict[str, int]:
    parsed = {name: quantity.parse_nanos(amounts[name]) for name in _COMPUTE if name in amounts} if amounts else {}
    return {name: amount for name, amount in parsed.items() if amount > 0}
