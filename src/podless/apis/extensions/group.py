"""The group extensions: kinds that have moved to other groups, and ThirdPartyResource."""

from podless.apis.shared.group import READ, WRITE, Group

_SCALED = "deployments deployments/scale replicasets replicasets/scale replicationcontrollers/scale"
_MOVED = f"daemonsets ingresses networkpolicies {_SCALED}"

GROUP = Group(
    "extensions",
    17900,
    needed=True,
    off_by_default=("v1beta1",),
    view=((READ, f"daemonsets/status deployments/status ingresses/status replicasets/status {_MOVED}"),),
    edit=((WRITE, f"deployments/rollback {_MOVED}"),),
    earlier={"v1beta1": "DaemonSet Deployment Ingress NetworkPolicy ReplicaSet"},
    moved={"apps": "DaemonSet Deployment ReplicaSet", "networking.k8s.io": "Ingress NetworkPolicy"},
)

THIRD_PARTY_RESOURCES = GROUP.kind(
    "ThirdPartyResource",
    namespaced=False,
    versions=("v1beta1",),
    deprecated={
        "v1beta1": "extensions/v1beta1 ThirdPartyResource is deprecated in v1.7+, unavailable in v1.8+; "
        "use apiextensions.k8s.io/v1 CustomResourceDefinition"
    },
)
