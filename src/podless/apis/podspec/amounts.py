"""Sums of the resources that a pod's containers request.

Init containers run one after the other; sidecars run next to all containers that follow. Source: Kubernetes'
component-helpers/resource and pkg/apis/core/v1/helper/qos.
"""

from __future__ import annotations

from podless.codec import quantity
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each

Amounts = dict[str, int]  # in billionths
_Totals = dict[str, tuple[int, str]]  # an amount in billionths, and a quantity whose kind of suffix it is written with
HUGE_PAGES = "hugepages-"
_COMPUTE = ("cpu", "memory")
_QUANTITY = 4  # steps to parse a quantity


def is_sidecar(container: Object) -> bool:
    """Return whether an init container is a sidecar, which keeps running."""
    return container.get("restartPolicy") == "Always"


def sum_resources(spec: Object, key: str) -> dict[str, str]:
    """Return the total of all containers. key: "requests" or "limits"."""
    sums: _Totals = {}
    for container in each(spec.get("containers") or ()):
        _add_totals(sums, _read_totals(container, key))
    sidecars: _Totals = {}
    peaks: _Totals = {}
    for container in each(spec.get("initContainers") or ()):
        totals = _read_totals(container, key)
        if is_sidecar(container):
            _add_totals(sums, totals)
            _add_totals(sidecars, totals)
            totals = {name: sidecars[name] for name in totals}  # other resources of the sidecars have not grown
        else:
            _add_totals(totals, {name: sidecars[name] for name in totals if name in sidecars})
        _raise_to(peaks, totals)
    _raise_to(sums, peaks)
    return {name: format_amount(*total) for name, total in sums.items()}


def format_amount(amount: int, like: str) -> str:
    """Format an amount in billionths as a quantity, with a binary suffix if `like` has one."""
    units, fraction = divmod(amount, quantity.NANO)
    if not like.endswith("i") or fraction:
        return quantity.format_quantity(amount, "")
    kibi, remainder = divmod(units, 1024)
    return str(units) if remainder else quantity.canonicalize_quantity(f"{kibi}Ki")


def _read_totals(container: Object, key: str) -> _Totals:
    totals = {}
    for name, text in ((container.get("resources") or {}).get(key) or {}).items():
        charge(_QUANTITY)
        totals[name] = quantity.parse_nanos(text), text
    return totals


def _add_totals(totals: _Totals, added: _Totals) -> None:
    for name, (amount, like) in each(added).items():
        total, total_like = totals.get(name, (0, like))
        totals[name] = total + amount, total_like if total else like


def _raise_to(peaks: _Totals, totals: _Totals) -> None:
    for name, total in each(totals).items():
        if name not in peaks or total[0] > peaks[name][0]:
            peaks[name] = total


def _add_amounts(sums: Amounts, added: Amounts) -> None:
    for name, amount in each(added).items():
        sums[name] = sums.get(name, 0) + amount


def qos_class(spec: Object) -> str:
    """Return the quality of service class of a pod."""
    pod_resources = spec.get("resources")
    if pod_resources is not None:
        holders = [pod_resources]
    else:
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        holders = [container.get("resources") or {} for container in each(containers)]
    requests: Amounts = {}
    limits: Amounts = {}
    guaranteed = True
    for resources in holders:
        _add_amounts(requests, _parse_compute(resources.get("requests")))
        limits_of_holder = _parse_compute(resources.get("limits"))
        _add_amounts(limits, limits_of_holder)
        guaranteed = guaranteed and len(limits_of_holder) == len(_COMPUTE)
    if not requests and not limits:
        return "BestEffort"
    if guaranteed and all(limits.get(name) == amount for name, amount in requests.items()):
        return "Guaranteed" if len(requests) == len(limits) else "Burstable"
    return "Burstable"


def _parse_compute(amounts: dict[str, str] | None) -> Amounts:
    parsed = {name: quantity.parse_nanos(amounts[name]) for name in _COMPUTE if name in amounts} if amounts else {}
    return {name: amount for name, amount in parsed.items() if amount > 0}
