"""The options for validating a PodSpec, and the context for validating its containers.

Source: Kubernetes' pkg/api/pod (GetValidationOptionsFromPodSpecAndMeta).
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import NamedTuple

from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object


@dataclass(frozen=True, slots=True)
class PodOptions:
    """Options for validating a PodSpec: PodValidationOptions of kube-apiserver.

    Each `allow_...` is True only in an update of an object that has such a value already, so that it may stay.
    `options_for_update` (template.py) finds them all in the old object.
    """

    pod: bool = False  # the PodSpec belongs to a pod, not to a template
    allow_invalid_deletion_cost: bool = False  # not a number
    allow_invalid_selector_values: bool = False  # in pod affinity: values that no label can have
    allow_invalid_node_values: bool = False  # the same in required node affinity
    allow_invalid_spread_selectors: bool = False  # of topologySpreadConstraints
    allow_selected_spread_keys: bool = False  # matchLabelKeys that are also in the selector
    allow_indivisible: bool = False  # fractions of huge pages
    allow_outside_token_path: bool = False  # paths of projected tokens outside of their volume
    allow_host_sysctls: bool = False  # sysctls of namespaces that the pod shares with the host
    allow_restarting: bool = False  # init containers with a resizePolicy that restarts them
    allow_user_namespace_devices: bool = False  # volumeDevices with hostUsers: false
    allow_user_namespace_network: bool = False  # hostNetwork with hostUsers: false
    allow_relaxed_variables: bool = False  # names of variables that only relaxed validation allows
    allow_empty_image: bool = False  # an image volume without a reference


STRICT = PodOptions()
STRICT_POD = PodOptions(pod=True)


class PodContext(NamedTuple):
    """What the rules of a container need of its PodSpec: its valid volumes by name, and the names of its claims."""

    spec: Object
    options: PodOptions
    volumes: Mapping[str, Object]
    claims: Set[str]
