"""What a pod may say because its former state said so already: rules that came later spare what is there.

Source: Kubernetes' pkg/api/pod (GetValidationOptionsFromPodSpecAndMeta).
"""

from __future__ import annotations

from dataclasses import dataclass

from podless.codec.gonumber import parse_int

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"


@dataclass(frozen=True, slots=True)
class PodOptions:
    """How a PodSpec is judged.

    pod: it is that of a pod, not of a template. The others are what a former state had already: deletion_cost: one that
    is no number. selector_values, node_values: values that no label has. spread_selectors: bad selectors of pods to
    spread over. spread_keys: keys that are in the selector, too. indivisible: parts of huge pages. far_tokens: tokens
    outside of their volumes. host_sysctls: parameters of the host's namespaces. restarting: init containers that are to
    be restarted when they are resized. host_devices: devices in a user namespace. host_network: the network of the host
    in a user namespace. loose_variables: names of environment variables that only relaxed validation allows.
    no_image: a volume of an image without a reference.
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
    given = annotations.get(DELETION_COST)
    if given is None:
        return None
    try:
        parse_int(given, 32)
    except (ValueError, IndexError):
        return given or " "
    return None if given[0] == "-" or given == "0" or given[0] in "123456789" else given
