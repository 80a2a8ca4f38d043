"""Columns of apps."""

from __future__ import annotations

from collections.abc import Mapping

from podless.publish.columns.cell import AGE, NAME, Cell, Object, Of, at
from podless.publish.columns.workload import containers, labels, number, of, selector
from podless.runtime.meter import each

_GROUP = "apps"
_TEMPLATE = ("spec", "template", "spec")


def _controller(obj: Object) -> str:
    for owner in each(at(obj, "metadata", "ownerReferences", default=())):
        if owner.get("controller"):
            group = owner["apiVersion"].rpartition("/")[0]
            kind = owner["kind"].lower()
            return f"{f'{kind}.{group}' if group else kind}/{owner['name']}"
    return "<none>"


def _count(name: str, struct: str, field: str) -> Cell:
    return Cell(name, "integer", Of(_GROUP, struct, field), number("status", field))


_DEPLOYMENTS = (
    NAME,
    Cell(
        "Ready",
        "string",
        Of(_GROUP, "DeploymentStatus", "readyReplicas"),
        of(("status", "readyReplicas"), ("spec", "replicas")),
    ),
    Cell(
        "Up-to-date", "string", Of(_GROUP, "DeploymentStatus", "updatedReplicas"), number("status", "updatedReplicas")
    ),
    Cell(
        "Available",
        "string",
        Of(_GROUP, "DeploymentStatus", "availableReplicas"),
        number("status", "availableReplicas"),
    ),
    AGE,
    *containers(*_TEMPLATE),
    selector(Of(_GROUP, "DeploymentSpec", "selector"), "spec", "selector", empty=""),
)
_DAEMON_SETS = (
    NAME,
    _count("Desired", "DaemonSetStatus", "desiredNumberScheduled"),
    _count("Current", "DaemonSetStatus", "currentNumberScheduled"),
    _count("Ready", "DaemonSetStatus", "numberReady"),
    _count("Up-to-date", "DaemonSetStatus", "updatedNumberScheduled"),
    _count("Available", "DaemonSetStatus", "numberAvailable"),
    Cell(
        "Node Selector",
        "string",
        Of("", "PodSpec", "nodeSelector"),
        lambda obj: labels(at(obj, *_TEMPLATE, "nodeSelector", default=None)),
    ),
    AGE,
    *containers(*_TEMPLATE),
    selector(Of(_GROUP, "DaemonSetSpec", "selector"), "spec", "selector"),
)
_REPLICA_SETS = (
    NAME,
    Cell("Desired", "integer", Of(_GROUP, "ReplicaSetSpec", "replicas"), number("spec", "replicas")),
    Cell("Current", "integer", Of(_GROUP, "ReplicaSetStatus", "replicas"), number("status", "replicas")),
    _count("Ready", "ReplicaSetStatus", "readyReplicas"),
    AGE,
    *containers(*_TEMPLATE),
    selector(Of(_GROUP, "ReplicaSetSpec", "selector"), "spec", "selector"),
)

COLUMNS: Mapping[str, tuple[Cell, ...]] = {
    "controllerrevisions": (
        NAME,
        Cell("Controller", "string", "The object that the state belongs to.", _controller),
        Cell("Revision", "string", Of(_GROUP, "ControllerRevision", "revision"), number("revision")),
        AGE,
    ),
    "daemonsets": _DAEMON_SETS,
    "deployments": _DEPLOYMENTS,
    "replicasets": _REPLICA_SETS,
    "statefulsets": (
        NAME,
        Cell(
            "Ready",
            "string",
            Of(_GROUP, "StatefulSetStatus", "readyReplicas"),
            of(("status", "readyReplicas"), ("spec", "replicas")),
        ),
        AGE,
        *containers(*_TEMPLATE),
    ),
}
