"""The kinds of networking.k8s.io/v1."""

from __future__ import annotations

from podless.kinds.types.volumes import TYPED_LOCAL_OBJECT_REFERENCE
from podless.meta.gotypes import INT32, INT_OR_STRING, STRING, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import CONDITION, LABEL_SELECTOR, STRINGS, resource

_PROTOCOL = String("v1.Protocol", ("SCTP", "TCP", "UDP"))

SERVICE_BACKEND_PORT = Struct("ServiceBackendPort", (Field("name", STRING, 1), Field("number", INT32, 2)), atomic=True)

INGRESS_SERVICE_BACKEND = Struct(
    "IngressServiceBackend", (Field("name", STRING, 1, always=True), Field("port", SERVICE_BACKEND_PORT, 2))
)

INGRESS_BACKEND = Struct(
    "IngressBackend",
    (
        Field("service", INGRESS_SERVICE_BACKEND, 4, pointer=True),
        Field("resource", TYPED_LOCAL_OBJECT_REFERENCE, 3, pointer=True),
    ),
)

INGRESS_TLS = Struct("IngressTLS", (Field("hosts", STRINGS, 1), Field("secretName", STRING, 2)))

HTTP_INGRESS_PATH = Struct(
    "HTTPIngressPath",
    (
        Field("path", STRING, 1),
        Field(
            "pathType",
            String("v1.PathType", ("Exact", "ImplementationSpecific", "Prefix")),
            3,
            pointer=True,
            always=True,
        ),
        Field("backend", INGRESS_BACKEND, 2, always=True),
    ),
)

HTTP_INGRESS_RULE_VALUE = Struct("HTTPIngressRuleValue", (Field("paths", ListOf(HTTP_INGRESS_PATH), 1, always=True),))

INGRESS_RULE_VALUE = Struct("IngressRuleValue", (Field("http", HTTP_INGRESS_RULE_VALUE, 1, pointer=True),))

INGRESS_RULE = Struct(
    "IngressRule", (Field("host", STRING, 1), Field("ingressRuleValue", INGRESS_RULE_VALUE, 2, inline=True))
)

INGRESS_SPEC = Struct(
    "IngressSpec",
    (
        Field("ingressClassName", STRING, 4, pointer=True),
        Field("defaultBackend", INGRESS_BACKEND, 1, pointer=True),
        Field("tls", ListOf(INGRESS_TLS), 2),
        Field("rules", ListOf(INGRESS_RULE), 3),
    ),
)

INGRESS_PORT_STATUS = Struct(
    "IngressPortStatus",
    (
        Field("port", INT32, 1, always=True),
        Field("protocol", _PROTOCOL, 2, always=True),
        Field("error", STRING, 3, pointer=True),
    ),
)

INGRESS_LOAD_BALANCER_INGRESS = Struct(
    "IngressLoadBalancerIngress",
    (Field("ip", STRING, 1), Field("hostname", STRING, 2), Field("ports", ListOf(INGRESS_PORT_STATUS), 4)),
)

INGRESS_LOAD_BALANCER_STATUS = Struct(
    "IngressLoadBalancerStatus", (Field("ingress", ListOf(INGRESS_LOAD_BALANCER_INGRESS), 1),)
)

INGRESS_STATUS = Struct("IngressStatus", (Field("loadBalancer", INGRESS_LOAD_BALANCER_STATUS, 1),))

INGRESS = resource("Ingress", Field("spec", INGRESS_SPEC, 2), Field("status", INGRESS_STATUS, 3))

INGRESS_CLASS_PARAMETERS_REFERENCE = Struct(
    "IngressClassParametersReference",
    (
        Field("apiGroup", STRING, 1, pointer=True),
        Field("kind", STRING, 2, always=True),
        Field("name", STRING, 3, always=True),
        Field("scope", STRING, 4, pointer=True, always=True, required=False, fill="Cluster"),
        Field("namespace", STRING, 5, pointer=True),
    ),
)

INGRESS_CLASS_SPEC = Struct(
    "IngressClassSpec",
    (Field("controller", STRING, 1), Field("parameters", INGRESS_CLASS_PARAMETERS_REFERENCE, 2, pointer=True)),
)

INGRESS_CLASS = resource("IngressClass", Field("spec", INGRESS_CLASS_SPEC, 2))

PARENT_REFERENCE = Struct(
    "ParentReference",
    (
        Field("group", STRING, 1),
        Field("resource", STRING, 2, required=True),
        Field("namespace", STRING, 3),
        Field("name", STRING, 4, required=True),
    ),
)

IP_ADDRESS_SPEC = Struct("IPAddressSpec", (Field("parentRef", PARENT_REFERENCE, 1, pointer=True, required=True),))

IP_ADDRESS = resource("IPAddress", Field("spec", IP_ADDRESS_SPEC, 2, required=True))

NETWORK_POLICY_PORT = Struct(
    "NetworkPolicyPort",
    (
        Field("protocol", _PROTOCOL, 1, pointer=True, fill="TCP"),
        Field("port", INT_OR_STRING, 2, pointer=True),
        Field("endPort", INT32, 3, pointer=True),
    ),
)

IP_BLOCK = Struct("IPBlock", (Field("cidr", STRING, 1, always=True), Field("except", STRINGS, 2)))

NETWORK_POLICY_PEER = Struct(
    "NetworkPolicyPeer",
    (
        Field("podSelector", LABEL_SELECTOR, 1, pointer=True),
        Field("namespaceSelector", LABEL_SELECTOR, 2, pointer=True),
        Field("ipBlock", IP_BLOCK, 3, pointer=True),
    ),
)

NETWORK_POLICY_INGRESS_RULE = Struct(
    "NetworkPolicyIngressRule",
    (Field("ports", ListOf(NETWORK_POLICY_PORT), 1), Field("from", ListOf(NETWORK_POLICY_PEER), 2)),
)

NETWORK_POLICY_EGRESS_RULE = Struct(
    "NetworkPolicyEgressRule",
    (Field("ports", ListOf(NETWORK_POLICY_PORT), 1), Field("to", ListOf(NETWORK_POLICY_PEER), 2)),
)

NETWORK_POLICY_SPEC = Struct(
    "NetworkPolicySpec",
    (
        Field("podSelector", LABEL_SELECTOR, 1, always=True, required=False),
        Field("ingress", ListOf(NETWORK_POLICY_INGRESS_RULE), 2),
        Field("egress", ListOf(NETWORK_POLICY_EGRESS_RULE), 3),
        Field("policyTypes", ListOf(String("v1.PolicyType", ("Egress", "Ingress"))), 4),
    ),
)

NETWORK_POLICY = resource("NetworkPolicy", Field("spec", NETWORK_POLICY_SPEC, 2))

SERVICE_CIDR_SPEC = Struct("ServiceCIDRSpec", (Field("cidrs", STRINGS, 1),))

SERVICE_CIDR_STATUS = Struct(
    "ServiceCIDRStatus", (Field("conditions", ListOf(CONDITION), 1, keys=("type",), patch="merge", merge="type"),)
)

SERVICE_CIDR = resource("ServiceCIDR", Field("spec", SERVICE_CIDR_SPEC, 2), Field("status", SERVICE_CIDR_STATUS, 3))
