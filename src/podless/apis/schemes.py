"""The Go schemes of a real server: which kinds each knows, all that are built in there among them.

That is far more than podless serves. Source: the groups of k8s.io/api.
"""

from __future__ import annotations

from podless.apis.release import RELEASE
from podless.kinds.scheme import Scheme

_OPTIONS = "CreateOptions DeleteOptions GetOptions ListOptions PatchOptions UpdateOptions WatchEvent"
_UNVERSIONED = "APIGroup APIGroupList APIResourceList APIVersions Status"
_LISTED = {
    "v1": "ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim "
    "Pod PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount",
    "admissionregistration.k8s.io/v1": "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding "
    "MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding "
    "ValidatingWebhookConfiguration",
    "apiextensions.k8s.io/v1": "CustomResourceDefinition",
    "apiextensions.k8s.io/v1beta1": "CustomResourceDefinition",
    "apiregistration.k8s.io/v1": "APIService",
    "apiregistration.k8s.io/v1beta1": "APIService",
    "coordination.k8s.io/v1": "Lease",
    "events.k8s.io/v1": "Event",
    "rbac.authorization.k8s.io/v1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "apps/v1": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    "apps/v1beta1": "ControllerRevision Deployment StatefulSet",
    "apps/v1beta2": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    "autoscaling/v1": "HorizontalPodAutoscaler",
    "autoscaling/v2": "HorizontalPodAutoscaler",
    "batch/v1": "CronJob Job",
    "batch/v1beta1": "CronJob",
    "certificates.k8s.io/v1": "CertificateSigningRequest",
    "certificates.k8s.io/v1alpha1": "ClusterTrustBundle",
    "certificates.k8s.io/v1beta1": "CertificateSigningRequest ClusterTrustBundle",
    "discovery.k8s.io/v1": "EndpointSlice",
    "extensions/v1beta1": "DaemonSet Deployment Ingress NetworkPolicy ReplicaSet",
    "flowcontrol.apiserver.k8s.io/v1": "FlowSchema PriorityLevelConfiguration",
    "networking.k8s.io/v1": "IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR",
    "networking.k8s.io/v1beta1": "IPAddress Ingress IngressClass ServiceCIDR",
    "node.k8s.io/v1": "RuntimeClass",
    "policy/v1": "PodDisruptionBudget",
    "policy/v1beta1": "PodDisruptionBudget",
    "resource.k8s.io/v1": "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
    "scheduling.k8s.io/v1": "PriorityClass",
    "storage.k8s.io/v1": "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
}
# what is in another group now
_MOVED = {
    "extensions": dict.fromkeys(("DaemonSet", "Deployment", "ReplicaSet"), "apps")
    | dict.fromkeys(("Ingress", "NetworkPolicy"), "networking.k8s.io")
}
_SINGLE = {
    "admission.k8s.io/v1": "AdmissionReview",
    "admission.k8s.io/v1beta1": "AdmissionReview",
    "v1": "Binding NodeProxyOptions PodAttachOptions PodExecOptions PodLogOptions PodPortForwardOptions "
    "PodProxyOptions PodStatusResult RangeAllocation SerializedReference ServiceProxyOptions",
    "apiextensions.k8s.io/v1": "ConversionReview",
    "apiextensions.k8s.io/v1beta1": "ConversionReview",
    "authentication.k8s.io/v1": "SelfSubjectReview TokenRequest TokenReview",
    "authorization.k8s.io/v1": "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview "
    "SubjectAccessReview",
}


# of earlier versions, which a real server reads though it serves them no longer: what they are in v1
_EARLIER = {
    "admissionregistration.k8s.io": ("v1alpha1", "v1beta1"),
    "authentication.k8s.io": ("v1alpha1", "v1beta1"),
    "authorization.k8s.io": ("v1beta1",),
    "coordination.k8s.io": ("v1beta1",),
    "events.k8s.io": ("v1beta1",),
    "rbac.authorization.k8s.io": ("v1alpha1", "v1beta1"),
}


def _known() -> dict[str, frozenset[str]]:
    found = {}
    for version in _LISTED.keys() | _SINGLE.keys():
        listed = _LISTED.get(version, "").split()
        rest = " ".join((_OPTIONS, _SINGLE.get(version, ""), _UNVERSIONED if version == "v1" else "")).split()
        found[version] = frozenset([*listed, *(f"{name}List" for name in listed), *rest])
    return found | {
        f"{group}/{version}": found[f"{group}/v1"] for group, versions in _EARLIER.items() for version in versions
    }


_KNOWN = _known()
_OWN = {
    group: Scheme(source, {version: kinds for version, kinds in _KNOWN.items() if version.startswith(f"{group}/")})
    for group, source in RELEASE.schemes.of_groups.items()
}
_LEGACY = Scheme(
    RELEASE.schemes.legacy,
    {version: kinds for version, kinds in _KNOWN.items() if version.partition("/")[0] not in _OWN},
    _MOVED,
)


def find_scheme(group: str) -> Scheme:
    """Return the scheme that the built-in kinds of a group are registered in."""
    return _OWN.get(group, _LEGACY)


def make_review_scheme(group: str) -> Scheme:
    """Return the scheme by which the clients of webhooks read reviews of a group."""
    known = {version: kinds for version, kinds in _KNOWN.items() if version.startswith(f"{group}/")}
    return Scheme(RELEASE.schemes.webhooks, {**known, "v1": frozenset(_UNVERSIONED.split())})
