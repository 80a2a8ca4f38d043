"""Printer columns of apps."""

from __future__ import annotations

from podless.apis.shared.columns import (
    AGE,
    NAME,
    NONE,
    Columns,
    Object,
    at,
    containers,
    integer,
    labels,
    number,
    ratio,
    selector,
    string,
)
from podless.runtime.meter import each

_POD = "spec.template.spec"
_READY_REPLICAS = ratio("status.readyReplicas", "spec.replicas")


def _owning_controller(obj: Object) -> str:
    for owner in each(at(obj, "metadata", "ownerReferences", default=())):
        if owner.get("controller"):
            group = owner["apiVersion"].rpartition("/")[0]
            kind = owner["kind"].lower()
            return f"{f'{kind}.{group}' if group else kind}/{owner['name']}"
    return NONE


COLUMNS: Columns = {
    "controllerrevisions": (
        NAME,
        string("Controller", "Controller that owns the revision.", _owning_controller),
        string("Revision", "ControllerRevision.revision", number("revision")),
        AGE,
    ),
    "daemonsets": (
        NAME,
        integer("Desired", "DaemonSetStatus.desiredNumberScheduled"),
        integer("Current", "DaemonSetStatus.currentNumberScheduled"),
        integer("Ready", "DaemonSetStatus.numberReady"),
        integer("Up-to-date", "DaemonSetStatus.updatedNumberScheduled"),
        integer("Available", "DaemonSetStatus.numberAvailable"),
        string("Node Selector", "core/PodSpec.nodeSelector", labels("spec.template.spec.nodeSelector")),
        AGE,
        *containers(_POD),
        selector("DaemonSetSpec.selector"),
    ),
    "deployments": (
        NAME,
        string("Ready", "DeploymentStatus.readyReplicas", _READY_REPLICAS),
        string("Up-to-date", "DeploymentStatus.updatedReplicas", number("status.updatedReplicas")),
        string("Available", "DeploymentStatus.availableReplicas", number("status.availableReplicas")),
        AGE,
        *containers(_POD),
        selector("DeploymentSpec.selector", empty=""),
    ),
    "replicasets": (
        NAME,
        integer("Desired", "ReplicaSetSpec.replicas"),
        integer("Current", "ReplicaSetStatus.replicas"),
        integer("Ready", "ReplicaSetStatus.readyReplicas"),
        AGE,
        *containers(_POD),
        selector("ReplicaSetSpec.selector"),
    ),
    "statefulsets": (NAME, string("Ready", "StatefulSetStatus.readyReplicas", _READY_REPLICAS), AGE, *containers(_POD)),
}
