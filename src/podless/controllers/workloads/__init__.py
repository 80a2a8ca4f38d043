"""Small stand-ins for kube-controller-manager and kubelets, for tests that need something to happen. Off by default.

They do the plain cases of what the real ones do (docs/controllers.md says what is left out), as clients would: their
requests pass admission.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from podless.controllers.controller import Controller
from podless.controllers.workloads.daemonsets import DaemonSets
from podless.controllers.workloads.deployments import Deployments
from podless.controllers.workloads.endpoints import ServiceEndpoints
from podless.controllers.workloads.jobs import Jobs
from podless.controllers.workloads.readiness import Readiness
from podless.controllers.workloads.replicas import ReplicaSets
from podless.controllers.workloads.statefulsets import StatefulSets
from podless.controllers.workloads.volumes import Volumes
from podless.verbs.call import API

_KNOWN: Mapping[str, Sequence[Callable[[API], Controller]]] = {
    "daemonset": (DaemonSets,),
    "deployment": (ReplicaSets, Deployments),
    "endpoints": (ServiceEndpoints,),
    "job": (Jobs,),
    "ready": (Readiness,),
    "statefulset": (StatefulSets,),
    "volume": (Volumes,),
}
NAMES = tuple(_KNOWN)


def parse(text: str) -> tuple[str, ...]:
    """The controllers that a text names: deployment,ready or * for all. Raises ValueError."""
    return check([name for name in text.split(",") if name])


def check(names: Sequence[str]) -> tuple[str, ...]:
    """The same names, each once. Raises ValueError."""
    if list(names) == ["*"]:
        return NAMES
    for name in names:
        if name not in _KNOWN:
            raise ValueError(f"unknown controller {name!r}: there are {', '.join(NAMES)}, and * for all")
    return tuple(name for name in NAMES if name in names)


def build(api: API, names: Sequence[str]) -> list[Controller]:
    """The controllers of these names."""
    return [made(api) for name in names for made in _KNOWN[name]]
