"""Columns of the smaller groups: scheduling, node, certificates, discovery and flow control."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from podless.publish.columns.cell import AGE, NAME, Cell, Object, Of, at, text
from podless.publish.columns.workload import NONE, cut, number
from podless.runtime.meter import each

_SCHEDULING, _NODE, _DISCOVERY = "scheduling.k8s.io", "node.k8s.io", "discovery.k8s.io"
_CERTIFICATES, _FLOW = "certificates.k8s.io", "flowcontrol.apiserver.k8s.io"


def _decision(obj: Object) -> str:
    """What has come of a request for a certificate."""
    held = {one["type"] for one in each(at(obj, "status", "conditions", default=()))}
    word = next((name for name in ("Denied", "Approved") if name in held), "Pending")
    failed = ",Failed" if "Failed" in held else ""
    return f"{word}{failed}{',Issued' if at(obj, 'status', 'certificate') else ''}"


def _requested(obj: Object) -> str:
    from podless.publish.table.ages import format_age

    seconds = at(obj, "spec", "expirationSeconds", default=None)
    return NONE if seconds is None else format_age(0, seconds)


def _ports(obj: Object) -> str:
    ports = at(obj, "ports", default=())
    return cut([str(at(one, "port", default=at(one, "name", default="*"))) for one in each(ports)]) or "<unset>"


def _endpoints(obj: Object) -> str:
    return (
        cut([ip for one in each(at(obj, "endpoints", default=())) for ip in each(at(one, "addresses", default=()))])
        or "<unset>"
    )


def _dangling(obj: Object) -> str:
    found = (one["status"] for one in each(at(obj, "status", "conditions", default=())) if one["type"] == "Dangling")
    return next(found, "?")


def _limited(*path: str) -> Callable[[Object], Any]:
    return lambda obj: at(obj, "spec", "limited", *path, default=NONE)


_QUEUING = ("limitResponse", "queuing")

SCHEDULING: Mapping[str, tuple[Cell, ...]] = {
    "priorityclasses": (
        NAME,
        Cell("Value", "integer", Of(_SCHEDULING, "PriorityClass", "value"), number("value")),
        Cell(
            "Global-Default",
            "boolean",
            Of(_SCHEDULING, "PriorityClass", "globalDefault"),
            lambda obj: at(obj, "globalDefault", default=False),
        ),
        AGE,
        Cell(
            "PreemptionPolicy", "string", Of(_SCHEDULING, "PriorityClass", "preemptionPolicy"), text("preemptionPolicy")
        ),
    )
}
NODE: Mapping[str, tuple[Cell, ...]] = {
    "runtimeclasses": (NAME, Cell("Handler", "string", Of(_NODE, "RuntimeClass", "handler"), text("handler")), AGE)
}
CERTIFICATES: Mapping[str, tuple[Cell, ...]] = {
    "certificatesigningrequests": (
        NAME,
        AGE,
        Cell(
            "SignerName",
            "string",
            Of(_CERTIFICATES, "CertificateSigningRequestSpec", "signerName"),
            text("spec", "signerName"),
        ),
        Cell(
            "Requestor",
            "string",
            Of(_CERTIFICATES, "CertificateSigningRequestSpec", "username"),
            text("spec", "username"),
        ),
        Cell(
            "RequestedDuration",
            "string",
            Of(_CERTIFICATES, "CertificateSigningRequestSpec", "expirationSeconds"),
            _requested,
        ),
        Cell("Condition", "string", "What has come of the request.", _decision),
    )
}
DISCOVERY: Mapping[str, tuple[Cell, ...]] = {
    "endpointslices": (
        NAME,
        Cell("AddressType", "string", Of(_DISCOVERY, "EndpointSlice", "addressType"), text("addressType")),
        Cell("Ports", "string", Of(_DISCOVERY, "EndpointSlice", "ports"), _ports),
        Cell("Endpoints", "string", Of(_DISCOVERY, "EndpointSlice", "endpoints"), _endpoints),
        AGE,
    )
}
FLOW: Mapping[str, tuple[Cell, ...]] = {
    "flowschemas": (
        NAME,
        Cell(
            "PriorityLevel",
            "string",
            Of(_FLOW, "FlowSchemaSpec", "priorityLevelConfiguration"),
            text("spec", "priorityLevelConfiguration", "name"),
        ),
        Cell(
            "MatchingPrecedence",
            "string",
            Of(_FLOW, "FlowSchemaSpec", "matchingPrecedence"),
            number("spec", "matchingPrecedence"),
        ),
        Cell(
            "DistinguisherMethod",
            "string",
            Of(_FLOW, "FlowSchemaSpec", "distinguisherMethod"),
            lambda obj: at(obj, "spec", "distinguisherMethod", "type", default=NONE),
        ),
        AGE,
        Cell("MissingPL", "string", "Whether the priority level is not there.", _dangling),
    ),
    "prioritylevelconfigurations": (
        NAME,
        Cell("Type", "string", Of(_FLOW, "PriorityLevelConfigurationSpec", "type"), text("spec", "type")),
        Cell(
            "NominalConcurrencyShares",
            "string",
            Of(_FLOW, "LimitedPriorityLevelConfiguration", "nominalConcurrencyShares"),
            _limited("nominalConcurrencyShares"),
        ),
        Cell("Queues", "string", Of(_FLOW, "QueuingConfiguration", "queues"), _limited(*_QUEUING, "queues")),
        Cell("HandSize", "string", Of(_FLOW, "QueuingConfiguration", "handSize"), _limited(*_QUEUING, "handSize")),
        Cell(
            "QueueLengthLimit",
            "string",
            Of(_FLOW, "QueuingConfiguration", "queueLengthLimit"),
            _limited(*_QUEUING, "queueLengthLimit"),
        ),
        AGE,
    ),
}
# by group
GROUPS: Mapping[str, Mapping[str, tuple[Cell, ...]]] = {
    _SCHEDULING: SCHEDULING,
    _NODE: NODE,
    _CERTIFICATES: CERTIFICATES,
    _DISCOVERY: DISCOVERY,
    _FLOW: FLOW,
}
