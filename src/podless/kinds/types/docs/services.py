"""Texts of Services."""

from __future__ import annotations

_LOCAL = "Cluster spreads over all endpoints, Local keeps to those on the node that"

TEXTS: dict[str, dict[str, str]] = {
    "Service": {
        "": "A name under which something on the network is reached.",
        "spec": "Where the service leads, and how it is reached.",
        "status": "The addresses at which load balancers take requests.",
    },
    "ServiceSpec": {
        "": "Where a service leads, and how it is reached.",
        "allocateLoadBalancerNodePorts": "Whether a LoadBalancer service gets node ports; true where nothing is given.",
        "clusterIP": "The address inside the cluster; None for a service without one.",
        "clusterIPs": "The addresses inside the cluster, one for each IP family; the first is clusterIP.",
        "externalIPs": "Addresses of the cluster's nodes on which requests for the service are taken too.",
        "externalName": "The host name that a service of type ExternalName stands for.",
        "externalTrafficPolicy": f"Where requests from outside go: {_LOCAL} took the request.",
        "healthCheckNodePort": "The port on which nodes say whether they have endpoints of the service.",
        "internalTrafficPolicy": f"Where requests from inside go: {_LOCAL} sent the request.",
        "ipFamilies": "The IP families of the service: IPv4, IPv6 or both in the order of preference.",
        "ipFamilyPolicy": "SingleStack, PreferDualStack or RequireDualStack: whether one IP family or two.",
        "loadBalancerClass": "Which implementation makes the load balancer. It never changes once it is set.",
        "loadBalancerIP": "The address that a load balancer is asked to have. Deprecated: implementations differ.",
        "loadBalancerSourceRanges": "Address ranges from which a load balancer takes requests.",
        "ports": "The ports of the service.",
        "publishNotReadyAddresses": "Whether endpoints are told of that are not ready.",
        "selector": "The labels of the pods behind the service; without it somebody else writes the endpoints.",
        "sessionAffinity": "ClientIP sends a client to the same endpoint again; None does not.",
        "sessionAffinityConfig": "How long a client is sent to the same endpoint.",
        "trafficDistribution": "Which endpoints are better than others, such as those in the same zone.",
        "type": "How the service is reached: ClusterIP, NodePort, LoadBalancer or ExternalName.",
    },
    "ServicePort": {
        "": "One port of a service.",
        "appProtocol": "What is spoken on the port, such as kubernetes.io/h2c; a hint for implementations.",
        "name": "The port's name, which is needed where there are several.",
        "nodePort": "The port on every node, for the types NodePort and LoadBalancer.",
        "port": "The port's number.",
        "protocol": "TCP, UDP or SCTP; TCP where nothing is given.",
        "targetPort": "The port of the pods, by number or name; the same number where nothing is given.",
    },
    "SessionAffinityConfig": {
        "": "How clients are sent to the same endpoint again.",
        "clientIP": "The rules for affinity by the client's address.",
    },
    "ClientIPConfig": {
        "": "Affinity by the client's address.",
        "timeoutSeconds": "For how many seconds a client keeps its endpoint: 10800 where nothing is given.",
    },
    "ServiceStatus": {
        "": "The addresses of a service outside of the cluster.",
        "conditions": "What is known of the service.",
        "loadBalancer": "The state of the load balancer, where there is one.",
    },
    "LoadBalancerStatus": {
        "": "The state of a load balancer.",
        "ingress": "Where it takes requests.",
    },
    "LoadBalancerIngress": {
        "": "A place at which a load balancer takes requests.",
        "hostname": "The host name, for load balancers that have one.",
        "ip": "The address, for load balancers that have one.",
        "ipMode": "VIP where requests arrive with this address, Proxy where they arrive with the node's or pod's.",
        "ports": "The ports, and what is wrong with them.",
    },
    "PortStatus": {
        "": "The state of a port of a load balancer.",
        "error": "What is wrong with the port, in one CamelCase word.",
        "port": "The port's number.",
        "protocol": "TCP, UDP or SCTP.",
    },
}
