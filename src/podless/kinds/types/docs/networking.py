"""Texts of networking.k8s.io: ingresses, network policies and addresses."""

from __future__ import annotations

from podless.kinds.types.docs.common import PROTOCOL

_PORTS = "The ports and protocols; all where none is given."

TEXTS: dict[str, dict[str, str]] = {
    "ServiceBackendPort": {
        "": "A port of a service, by name or by number.",
        "name": "The port's name. Not with number.",
        "number": "The port's number. Not with name.",
    },
    "IngressServiceBackend": {
        "": "A service that requests go to.",
        "name": "The Service in the ingress's namespace.",
        "port": "The service's port.",
    },
    "IngressBackend": {
        "": "Where requests go: to a service, or to a resource of another kind.",
        "resource": "An object in the ingress's namespace that takes them. Not with service.",
        "service": "A service that takes them. Not with resource.",
    },
    "IngressTLS": {
        "": "How requests to some hosts are encrypted.",
        "hosts": "The hosts of the certificate.",
        "secretName": "The Secret with certificate and key; TLS is chosen by host name alone where nothing is given.",
    },
    "HTTPIngressPath": {
        "": "Where requests for some paths go.",
        "backend": "Where the requests go.",
        "path": "The path; it begins with a / for Exact and Prefix.",
        "pathType": "Exact, Prefix by whole parts between slashes, or ImplementationSpecific.",
    },
    "HTTPIngressRuleValue": {
        "": "Where HTTP requests go, by their path.",
        "paths": "The paths; the longest that fits wins.",
    },
    "IngressRule": {
        "": "Where requests for a host go.",
        "host": "The host name, or *.DOMAIN for all names with one part more; any host where nothing is given.",
    },
    "IngressSpec": {
        "": "Where requests from outside go.",
        "defaultBackend": "Where requests go that no rule fits.",
        "ingressClassName": "The IngressClass, and so the controller that looks after the ingress.",
        "rules": "Where requests go, by host and path; all to the default backend where none is given.",
        "tls": "How requests are encrypted, by host.",
    },
    "IngressPortStatus": {
        "": "The state of a port of an ingress.",
        "error": "What is wrong with the port, in one CamelCase word.",
        "port": "The port's number.",
        "protocol": "TCP, UDP or SCTP.",
    },
    "IngressLoadBalancerIngress": {
        "": "A place at which an ingress takes requests.",
        "hostname": "The host name, for load balancers that have one.",
        "ip": "The address, for load balancers that have one.",
        "ports": "The ports, and what is wrong with them.",
    },
    "IngressLoadBalancerStatus": {
        "": "The state of an ingress's load balancer.",
        "ingress": "Where it takes requests.",
    },
    "IngressStatus": {
        "": "The addresses of an ingress.",
        "loadBalancer": "Where the load balancer takes requests.",
    },
    "Ingress": {
        "": "Leads HTTP requests from outside to services, by host and path.",
        "spec": "Where requests go.",
        "status": "The addresses at which requests are taken.",
    },
    "IngressClassParametersReference": {
        "": "Names an object with parameters of a controller.",
        "apiGroup": "The API group of the kind; the core group where nothing is given.",
        "kind": "Kind of the object.",
        "name": "Name of the object.",
        "namespace": "Namespace of the object; only where the scope is Namespace.",
        "scope": "Cluster or Namespace; Cluster where nothing is given.",
    },
    "IngressClassSpec": {
        "": "Which controller looks after a class of ingresses.",
        "controller": "The controller's name, such as example.com/ingress. It never changes.",
        "parameters": "An object that tells the controller more.",
    },
    "IngressClass": {
        "": "A class of ingresses, by the controller that looks after them.",
        "spec": "Which controller that is.",
    },
    "ParentReference": {
        "": "Names the object that an address is for.",
        "group": "API group of the object.",
        "name": "Name of the object.",
        "namespace": "Namespace of the object.",
        "resource": "Resource of the object, such as services.",
    },
    "IPAddressSpec": {
        "": "What an address is for.",
        "parentRef": "The object that has the address.",
    },
    "IPAddress": {
        "": "An IP address that is taken; its name is the address.",
        "spec": "What the address is for.",
    },
    "NetworkPolicyPort": {
        "": "A port, or a range of ports, that is allowed.",
        "endPort": "The last port of the range that begins with port.",
        "port": "The port, by number or by name; all where nothing is given.",
        "protocol": PROTOCOL,
    },
    "IPBlock": {
        "": "A range of addresses, with gaps.",
        "cidr": "The range, such as 192.0.2.0/24.",
        "except": "Ranges in it that are left out.",
    },
    "NetworkPolicyPeer": {
        "": "With whom traffic is allowed: certain pods, or certain addresses.",
        "ipBlock": "A range of addresses. With no other field.",
        "namespaceSelector": "The labels of namespaces; the policy's own where nothing is given, all for {}.",
        "podSelector": "The labels of pods in those namespaces; all pods where nothing is given.",
    },
    "NetworkPolicyIngressRule": {
        "": "Traffic to pods that is allowed.",
        "from": "From whom; from everybody where none is given.",
        "ports": _PORTS,
    },
    "NetworkPolicyEgressRule": {
        "": "Traffic from pods that is allowed.",
        "ports": _PORTS,
        "to": "To whom; to everybody where none is given.",
    },
    "NetworkPolicySpec": {
        "": "What traffic certain pods may have; what no policy of a pod allows is cut off.",
        "egress": "Traffic that the pods may send.",
        "ingress": "Traffic that the pods may receive.",
        "podSelector": "The labels of the pods; {} for all of the namespace.",
        "policyTypes": "Ingress, Egress or both: what the policy restricts; "
        "Ingress, and Egress if there are such rules, where nothing is given.",
    },
    "NetworkPolicy": {
        "": "Restricts what traffic certain pods of a namespace may have.",
        "spec": "The pods, and the traffic that they may have.",
    },
    "ServiceCIDRSpec": {
        "": "Ranges for the addresses of services.",
        "cidrs": "The ranges, one for each IP family at most.",
    },
    "ServiceCIDRStatus": {
        "": "Whether the ranges are in use.",
        "conditions": "What is known of the ranges; Ready says whether services get addresses of them.",
    },
    "ServiceCIDR": {
        "": "Ranges from which services get their addresses inside the cluster.",
        "spec": "The ranges.",
        "status": "Whether the ranges are in use.",
    },
}
