"""The group networking.k8s.io."""

from podless.apis.shared.group import READ, WRITE, Group

GROUP = Group(
    "networking.k8s.io",
    17200,
    view=((READ, "ingresses ingresses/status networkpolicies"),),
    edit=((WRITE, "ingresses networkpolicies"),),
    earlier={"v1beta1": "IPAddress Ingress IngressClass ServiceCIDR"},
)

INGRESS_CLASSES = GROUP.kind("IngressClass", namespaced=False)
INGRESSES = GROUP.kind("Ingress", "ing", status=True)
IP_ADDRESSES = GROUP.kind("IPAddress", "ip", namespaced=False, hash_version="v1beta1", hash_in="1.33", releases="1.33-")
NETWORK_POLICIES = GROUP.kind("NetworkPolicy", "netpol")
SERVICE_CIDRS = GROUP.kind(
    "ServiceCIDR", namespaced=False, status=True, hash_version="v1beta1", hash_in="1.33", releases="1.33-"
)
