"""Options that loosen the validation of a PodSpec for values that its old state already has.

Source: Kubernetes' pkg/api/pod (GetValidationOptionsFromPodSpecAndMeta).
"""

from __future__ import annotations

from podless.codec.gotext import parse_int
from podless.runtime.dataclass import dataclass

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"


@dataclass(frozen=True, slots=True)
class PodOptions:
    """Options for validating a PodSpec."""

    pod: bool = False  # the PodSpec belongs to a pod, not to a template
    # the others say that the old state has something that may stay, though a new object may not have it:
    deletion_cost: bool = False  # a deletion cost that is not a number
    selector_values: bool = False  # values in selectors that no label can have
    node_values: bool = False  # the same in node affinity
    spread_selectors: bool = False  # invalid selectors in spread constraints
    spread_keys: bool = False  # label keys that are also in the selector
    indivisible: bool = False  # fractions of huge pages
    has_outside_token_path: bool = False  # token paths outside of their volume
    host_sysctls: bool = False  # sysctls of host namespaces
    restarting: bool = False  # init containers with a resize policy that restarts them
    host_devices: bool = False  # devices with a user namespace
    host_network: bool = False  # the host's network with a user namespace
    loose_variables: bool = False  # names of variables that only relaxed validation allows
    no_image: bool = False  # an image volume without a reference


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
