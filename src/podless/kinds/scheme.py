"""What a real server's decoder says of a body that claims to be of another kind, or of another version.

Its schemes hold the Go types of all kinds that are built in, far more than are served here. Source: the groups of
k8s.io/api.
"""

from __future__ import annotations

from podless.codec import gotext
from podless.kinds.kind import Kind

_LEGACY = "pkg/api/legacyscheme/scheme.go:30"
# groups with schemes of their own
_OWN = {
    "apiextensions.k8s.io": "k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55",
    "apiregistration.k8s.io": "k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:34",
}
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


def unregistered(kind: str, api_version: str, scheme: str) -> str:
    """The text for a kind that a scheme does not know."""
    where = f"is registered for version {gotext.quote(api_version)} in scheme {gotext.quote(scheme)}"
    return f"no kind {gotext.quote(kind)} {where}"


def fault(kind: Kind, given: str, api_version: str) -> str:
    """Why what says that it is a `given` of this version cannot be read as an object of the kind, or ""."""
    own, group = _OWN.get(kind.group), api_version.rpartition("/")[0]
    there = _OWN.get(group) == own and given in _KNOWN.get(api_version, ())
    group = _MOVED.get(group, {}).get(given, group)
    shown = {(view.group, view.api_version(name)) for view in kind.views for name in view.by_version}
    if given == kind.kind and ((group, api_version) in shown or (there and group in {one for one, _ in shown})):
        return ""
    if not there:
        return unregistered(given, api_version, own or _LEGACY)
    package = (kind.named or "core").partition(".")[0]
    return _unconverted(given, api_version, f"{package}.{kind.kind}")


def unfit(given: str, api_version: str, wanted: str, group: str, scheme: str) -> str:
    """Why an object is not read as a Go type of a group by a scheme that knows that group alone."""
    known = api_version.partition("/")[0] == group and given in _KNOWN.get(api_version, ())
    if known or (api_version == "v1" and given in _UNVERSIONED.split()):
        return _unconverted(given, api_version, wanted)
    return unregistered(given, api_version, scheme)


def _unconverted(given: str, api_version: str, wanted: str) -> str:
    return f"converting ({api_version.rpartition('/')[2]}.{given}) to ({wanted}): unknown conversion"
