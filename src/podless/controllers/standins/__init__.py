"""Stand-ins for kube-controller-manager and kubelets, for tests. Off by default.

They cover the common cases, and act as clients: their requests pass admission.
docs/reference/controllers.md lists what is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module

from podless.controllers.controller import Controller
from podless.verbs.call import API

# module: controller names and classes
_CONTROLLERS: Mapping[str, Mapping[str, str]] = {
    "daemonset": {"daemonsets": "DaemonSetController"},
    "deployment": {"replicasets": "ReplicaSetController", "deployments": "DeploymentController"},
    "endpoints": {"services": "ServiceEndpoints"},
    "job": {"jobs": "JobController"},
    "loadbalancer": {"services": "LoadBalancerController"},
    "ready": {"readiness": "PodReadiness"},
    "statefulset": {"statefulsets": "StatefulSetController"},
    "volume": {"volumes": "VolumeController"},
}
NAMES = tuple(_CONTROLLERS)


def parse_names(text: str) -> tuple[str, ...]:
    """Parse a list of controllers: deployment,ready or * for all. Raises ValueError."""
    return check_names([name for name in text.split(",") if name])


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names without duplicates. Raises ValueError."""
    if list(names) == ["*"]:
        return NAMES
    for name in names:
        if name not in _CONTROLLERS:
            raise ValueError(f"unknown controller {name!r}: use {', '.join(NAMES)}, and * for all")
    return tuple(name for name in NAMES if name in names)


def build_controllers(api: API, names: Sequence[str]) -> list[Controller]:
    """Create the controllers with these names."""
    return [
        getattr(import_module(f"{__name__}.{module}"), controller)(api)
        for name in names
        for module, controller in _CONTROLLERS[name].items()
    ]
