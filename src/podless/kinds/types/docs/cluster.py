"""Texts of LimitRange, ReplicationController, Endpoints, ComponentStatus."""

from __future__ import annotations

from podless.kinds.types.docs.common import CONDITION, GENERATION, PROTOCOL

TEXTS: dict[str, dict[str, str]] = {
    "LimitRangeItem": {
        "": "Limits for one type of thing.",
        "default": "The limits of containers that give none, by resource.",
        "defaultRequest": "The requests of containers that give none, by resource.",
        "max": "The most that one may have, by resource.",
        "maxLimitRequestRatio": "How many times its request a limit may be, by resource.",
        "min": "The least that one may have, by resource.",
        "type": "Container, Pod or PersistentVolumeClaim: what the limits are for.",
    },
    "LimitRangeSpec": {
        "": "Limits for single objects of a namespace.",
        "limits": "The limits.",
    },
    "LimitRange": {
        "": "Limits and defaults for what each pod, container or claim of a namespace may have.",
        "spec": "The limits.",
    },
    "ReplicationControllerSpec": {
        "": "How many pods are wanted, and what they are like.",
        "minReadySeconds": "Seconds that a new pod must be ready to count as available; 0 where nothing is given.",
        "replicas": "How many pods are wanted; 1 where nothing is given.",
        "selector": "The labels of the pods; the template's where nothing is given.",
        "template": "What new pods are like; their restart policy must be Always.",
    },
    "ReplicationControllerCondition": {
        "": "One thing that is so of a ReplicationController.",
        **CONDITION,
        "type": "What the condition is about: ReplicaFailure.",
    },
    "ReplicationControllerStatus": {
        "": "How many pods there are.",
        "availableReplicas": "How many pods have been ready for minReadySeconds.",
        "conditions": "What is known of the controller.",
        "fullyLabeledReplicas": "How many pods have all labels of the template.",
        "observedGeneration": GENERATION,
        "readyReplicas": "How many pods are ready.",
        "replicas": "How many pods there are.",
    },
    "ReplicationController": {
        "": "Keeps a number of like pods running. A Deployment does more.",
        "spec": "How many pods are wanted, and what they are like.",
        "status": "How many pods there are.",
    },
    "EndpointAddress": {
        "": "An address behind a service.",
        "hostname": "The host name of the endpoint in the service's domain.",
        "ip": "The address; neither loopback nor link-local.",
        "nodeName": "The node that the endpoint is on.",
        "targetRef": "The pod or other object that has the address.",
    },
    "EndpointPort": {
        "": "A port behind a service.",
        "appProtocol": "What is spoken on the port, such as kubernetes.io/h2c; a hint for implementations.",
        "name": "The name that the service has for the port; may be left out where there is only one.",
        "port": "The port's number.",
        "protocol": PROTOCOL,
    },
    "EndpointSubset": {
        "": "Addresses that all have the same ports.",
        "addresses": "Addresses that take requests.",
        "notReadyAddresses": "Addresses that do not take requests yet, or at the moment.",
        "ports": "The ports of each address.",
    },
    "Endpoints": {
        "": "The addresses behind a service. Deprecated: EndpointSlices take its place.",
        "subsets": "The addresses, by the ports that they have.",
    },
    "ComponentCondition": {
        "": "Whether a component works.",
        "error": "What went wrong, such as a code of the health check.",
        "message": "What the component said.",
        "status": "True, False or Unknown.",
        "type": "Healthy, the only one.",
    },
    "ComponentStatus": {
        "": "Whether a component of the control plane works. Deprecated.",
        "conditions": "What was found when the component was asked.",
    },
}
