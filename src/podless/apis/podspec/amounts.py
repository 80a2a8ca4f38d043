"""Sums of the resources that a pod's containers request.

Init containers run one after the other; sidecars run next to all containers that follow. Source: Kubernetes'
component-helpers/resource and pkg/apis/core/v1/helper/qos.
"""

from __future__ import annotations

from collections.abc import Callable

from podless.codec import quantity
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each

Amounts = dict[str, int]  # in billionths
HUGE_PAGES = "hugepages-"
_COMPUTE = ("cpu", "memory")
_QUANTITY = 4  # steps to parse a quantity


def is_sidecar(container: Object) -> bool:
    """Return whether an init container is a sidecar, which keeps running."""
    return container.get("restartPolicy") == "Always"


def sum_resources(spec: Object, part: str) -> dict[str, str]:
    """Return the total of all containers. part: "requests" or "limits"."""
    read = _amounts_reader(part)
    sums: Amounts = {}
    formats: dict[str, str] = {}
    for container in each(spec.get("containers") or ()):
        _add_amounts(sums, read(container, formats))
    stay: Amounts = {}
    most: Amounts = {}
    for container in each(spec.get("initContainers") or ()):
        asked = read(container, formats)
        if is_sidecar(container):
            _add_amounts(sums, asked)
            _add_amounts(stay, asked)
            _raise_to(most, {name: stay[name] for name in asked})  # other resources of the sidecars have not grown
        else:
            _raise_to(most, {name: amount + stay.get(name, 0) for name, amount in asked.items()})
    _raise_to(sums, most)
    return {name: format_amount(amount, formats[name]) for name, amount in sums.items()}


def format_amount(amount: int, like: str) -> str:
    """Format an amount in billionths as a quantity, with a binary suffix if `like` has one."""
    whole, part = divmod(amount, quantity.NANO)
    if not like.endswith("i") or part:
        return quantity.format_quantity(amount, "")
    kibi, rest = divmod(whole, 1024)
    return str(whole) if rest else quantity.canonical_quantity(f"{kibi}Ki")


def _amounts_reader(part: str) -> Callable[[Object, dict[str, str]], Amounts]:
    def read(container: Object, formats: dict[str, str]) -> Amounts:
        asked = (container.get("resources") or {}).get(part) or {}
        found = {}
        for name, text in asked.items():
            charge(_QUANTITY)
            formats.setdefault(name, text)
            found[name] = quantity.parse_nanos(text)
        return found

    return read


def _add_amounts(sums: Amounts, more: Amounts) -> None:
    for name, amount in each(more).items():
        sums[name] = sums.get(name, 0) + amount


def _raise_to(most: Amounts, amounts: Amounts) -> None:
    for name, amount in each(amounts).items():
        if name not in most or amount > most[name]:
            most[name] = amount


def qos_class(spec: Object) -> str:
    """Return the quality of service class of a pod."""
    own = spec.get("resources")
    if own is not None:
        holders = [own]
    else:
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        holders = [container.get("resources") or {} for container in each(containers)]
    requests: Amounts = {}
    limits: Amounts = {}
    guaranteed = True
    for resources in holders:
        _add_amounts(requests, _parse_compute(resources.get("requests")))
        found = _parse_compute(resources.get("limits"))
        _add_amounts(limits, found)
        guaranteed = guaranteed and len(found) == len(_COMPUTE)
    if not requests and not limits:
        return "BestEffort"
    if guaranteed and all(limits.get(name) == amount for name, amount in requests.items()):
        return "Guaranteed" if len(requests) == len(limits) else "Burstable"
    return "Burstable"


def _parse_compute(amounts: dict[str, str] | None) -> Amounts:
    found = {name: quantity.parse_nanos(amounts[name]) for name in _COMPUTE if name in amounts} if amounts else {}
    return {name: amount for name, amount in found.items() if amount > 0}
