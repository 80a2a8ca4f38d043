"""The struct of Services."""

from __future__ import annotations

from podless.meta.gotypes import BOOL, INT32, INT_OR_STRING, STRING, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import CONDITION, STRING_MAP, STRINGS, resource

_TRAFFIC = ("Cluster", "Local")
_FAMILY_POLICY = String("v1.IPFamilyPolicy", ("PreferDualStack", "RequireDualStack", "SingleStack"))
_PROTOCOL = String("v1.Protocol", ("SCTP", "TCP", "UDP"))
SERVICE_PORT = Struct(
    "ServicePort",
    (
        Field("name", STRING, 1),
        Field("protocol", _PROTOCOL, 2, default="TCP"),
        Field("appProtocol", STRING, 6, pointer=True),
        Field("port", INT32, 3, always=True),
        Field("targetPort", INT_OR_STRING, 4),
        Field("nodePort", INT32, 5),
    ),
)
_CLIENT_IP = Struct("ClientIPConfig", (Field("timeoutSeconds", INT32, 1, pointer=True),))
_AFFINITY = Struct("SessionAffinityConfig", (Field("clientIP", _CLIENT_IP, 1, pointer=True),))
SERVICE_SPEC = Struct(
    "ServiceSpec",
    (
        Field("ports", ListOf(SERVICE_PORT), 1, keys=("port", "protocol"), patch="merge", merge="port"),
        Field("selector", STRING_MAP, 2, atomic=True),
        Field("clusterIP", STRING, 3),
        Field("clusterIPs", STRINGS, 18),
        Field(
            "type",
            String("v1.ServiceType", ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")),
            4,
            fill="ClusterIP",
        ),
        Field("externalIPs", STRINGS, 5),
        Field("sessionAffinity", String("v1.ServiceAffinity", ("ClientIP", "None")), 7, fill="None"),
        Field("loadBalancerIP", STRING, 8),
        Field("loadBalancerSourceRanges", STRINGS, 9),
        Field("externalName", STRING, 10),
        Field("externalTrafficPolicy", String("v1.ServiceExternalTrafficPolicy", _TRAFFIC), 11),
        Field("healthCheckNodePort", INT32, 12),
        Field("publishNotReadyAddresses", BOOL, 13),
        Field("sessionAffinityConfig", _AFFINITY, 14, pointer=True),
        Field("ipFamilies", ListOf(String("v1.IPFamily", ("", "IPv4", "IPv6"))), 19),
        Field("ipFamilyPolicy", _FAMILY_POLICY, 17, pointer=True),
        Field("allocateLoadBalancerNodePorts", BOOL, 20, pointer=True),
        Field("loadBalancerClass", STRING, 21, pointer=True),
        Field("internalTrafficPolicy", String("v1.ServiceInternalTrafficPolicy", _TRAFFIC), 22, pointer=True),
        Field("trafficDistribution", STRING, 23, pointer=True),
    ),
)
_PORT_STATUS = Struct(
    "PortStatus",
    (
        Field("port", INT32, 1, always=True),
        Field("protocol", _PROTOCOL, 2, always=True),
        Field("error", STRING, 3, pointer=True),
    ),
)
_INGRESS = Struct(
    "LoadBalancerIngress",
    (
        Field("ip", STRING, 1),
        Field("hostname", STRING, 2),
        Field("ipMode", String("v1.LoadBalancerIPMode"), 3, pointer=True),
        Field("ports", ListOf(_PORT_STATUS), 4),
    ),
)
_BALANCER = Struct("LoadBalancerStatus", (Field("ingress", ListOf(_INGRESS), 1),))
SERVICE_STATUS = Struct(
    "ServiceStatus",
    (
        Field("loadBalancer", _BALANCER, 1),
        Field("conditions", ListOf(CONDITION), 2, keys=("type",), patch="merge", merge="type"),
    ),
)
SERVICE = resource("Service", Field("spec", SERVICE_SPEC, 2), Field("status", SERVICE_STATUS, 3))
