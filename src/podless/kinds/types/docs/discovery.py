"""Texts of discovery.k8s.io: what is behind services."""

from __future__ import annotations

from podless.kinds.types.docs.common import PROTOCOL

TEXTS: dict[str, dict[str, str]] = {
    "EndpointConditions": {
        "": "Whether an endpoint takes requests.",
        "ready": "Whether it takes new requests: it is serving and not terminating. Unknown counts as true.",
        "serving": "Whether it answers requests, even while it ends. Unknown counts as ready.",
        "terminating": "Whether it is ending. Unknown counts as false.",
    },
    "ForZone": {
        "": "A zone that an endpoint is for.",
        "name": "The zone's name.",
    },
    "ForNode": {
        "": "A node that an endpoint is for.",
        "name": "The node's name.",
    },
    "EndpointHints": {
        "": "For whom an endpoint is best.",
        "forNodes": "The nodes whose requests should go here.",
        "forZones": "The zones whose requests should go here.",
    },
    "Endpoint": {
        "": "One place behind a service.",
        "addresses": "Its addresses; all lead to the same place, and mostly there is one.",
        "conditions": "Whether it takes requests.",
        "deprecatedTopology": "Labels of older versions. No longer written.",
        "hints": "For whom it is best.",
        "hostname": "Its host name in the service's domain.",
        "nodeName": "The node that it is on.",
        "targetRef": "The pod or other object that it is.",
        "zone": "The zone that it is in.",
    },
    "EndpointPort": {
        "": "A port that all endpoints of a slice have.",
        "appProtocol": "What is spoken on the port, such as kubernetes.io/h2c; a hint for implementations.",
        "name": "The name that the service has for the port; unique in the slice.",
        "port": "The port's number.",
        "protocol": PROTOCOL,
    },
    "EndpointSlice": {
        "": "A part of what is behind a service; kubernetes.io/service-name is the label that says which.",
        "addressType": "IPv4, IPv6 or FQDN: what all addresses are. It never changes.",
        "endpoints": "The endpoints, at most 1000.",
        "ports": "The ports of each endpoint.",
    },
}
