"""The group certificates.k8s.io."""

from podless.apis.shared.group import Group
from podless.kinds.kind import Subresource

GROUP = Group(
    "certificates.k8s.io",
    17300,
    earlier={"v1alpha1": "ClusterTrustBundle", "v1beta1": "CertificateSigningRequest ClusterTrustBundle"},
)

SIGNING_REQUESTS = GROUP.kind(
    "CertificateSigningRequest",
    "csr",
    namespaced=False,
    status=True,
    subresources=(Subresource("approval", ("get", "patch", "update")),),
)

TRUST_BUNDLES = GROUP.kind("ClusterTrustBundle", namespaced=False, hash_version="v1beta1", releases="1.37-")
POD_REQUESTS = GROUP.kind("PodCertificateRequest", status=True, hash_version="v1beta1", releases="1.37-")
