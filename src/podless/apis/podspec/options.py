"""The context for validating parts of a PodSpec, with options for values that its old state already has.

Source: Kubernetes' pkg/api/pod (GetValidationOptionsFromPodSpecAndMeta).
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import NamedTuple

from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object


@dataclass(frozen=True, slots=True)
class PodOptions:
    """Options for validating a PodSpec (podspec/template.py computes those of an update)."""

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


class PodContext(NamedTuple):
    """What the rules of a container need of its PodSpec: its valid volumes by name, and the names of its claims."""

    spec: Object
    options: PodOptions
    volumes: Mapping[str, Object]
    claims: Set[str]
