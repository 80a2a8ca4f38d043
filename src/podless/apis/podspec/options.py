"""Options that loosen the validation of a PodSpec for values that its old state already has.

Source: Kubernetes' pkg/api/pod (GetValidationOptionsFromPodSpecAndMeta).
"""

from __future__ import annotations

from podless.codec.gotext import parse_int
from podless.runtime.dataclass import dataclass

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"


@dataclass(frozen=True, slots=True)
class PodOptions:
    """Options for validating a PodSpec.

    pod: it belongs to a pod, not to a template. The others say that the old state has: deletion_cost: one that is not a
    number. selector_values, node_values: values that no label can have. spread_selectors: invalid selectors in spread
    constraints. spread_keys: label keys that are also in the selector. indivisible: fractions of huge pages.
    far_tokens: token paths outside of their volume. host_sysctls: sysctls of host namespaces. restarting: init
    containers with a resize policy that restarts them. host_devices: devices with a user namespace. host_network: the
    host's network with a user namespace. loose_variables: names of variables that only relaxed validation allows.
    no_image: an image volume without a reference.
    """

    pod: bool = False
    deletion_cost: bool = False
    selector_values: bool = False
    node_values: bool = False
    spread_selectors: bool = False
    spread_keys: bool = False
    indivisible: bool = False
    far_tokens: bool = False
    host_sysctls: bool = False
    restarting: bool = False
    host_devices: bool = False
    host_network: bool = False
    loose_variables: bool = False
    no_image: bool = False


STRICT = PodOptions()
STRICT_POD = PodOptions(pod=True)


def deletion_cost_fault(annotations: dict[str, str]) -> str | None:
    """Return the annotation pod-deletion-cost if it is not a 32-bit number, else None."""
    cost = annotations.get(DELETION_COST)
    if cost is None:
        return None
    try:
        parse_int(cost, 32)
    except (ValueError, IndexError):
        return cost or " "
    return None if cost[0] == "-" or cost == "0" or cost[0] in "123456789" else cost
