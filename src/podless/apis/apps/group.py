"""The group apps."""

from podless.apis.shared.group import READ, WRITE, Group
from podless.kinds.kind import Scale

_CATEGORIES = ("all",)
_REPLICAS = Scale(".spec.replicas", ".status.replicas", ".spec.selector", selects_with_text=False)
_SCALED = "deployments deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale"

GROUP = Group(
    "apps",
    17800,
    view=(
        (
            READ,
            f"controllerrevisions daemonsets daemonsets/status deployments/status replicasets/status "
            f"statefulsets/status {_SCALED}",
        ),
    ),
    edit=((WRITE, f"daemonsets deployments/rollback {_SCALED}"),),
    earlier={
        "v1beta1": "ControllerRevision Deployment StatefulSet",
        "v1beta2": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    },
)

CONTROLLER_REVISIONS = GROUP.kind("ControllerRevision")
DAEMON_SETS = GROUP.kind("DaemonSet", "ds", categories=_CATEGORIES, status=True)
DEPLOYMENTS = GROUP.kind("Deployment", "deploy", categories=_CATEGORIES, status=True, scale=_REPLICAS)
REPLICA_SETS = GROUP.kind("ReplicaSet", "rs", categories=_CATEGORIES, status=True, scale=_REPLICAS)
STATEFUL_SETS = GROUP.kind("StatefulSet", "sts", categories=_CATEGORIES, status=True, scale=_REPLICAS)
