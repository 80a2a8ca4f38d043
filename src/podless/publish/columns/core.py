"""Columns of the core group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from podless.publish.columns import events, nodes, pods, volumes
from podless.publish.columns.cell import AGE, NAME, Cell, Object, Of, at, count, text
from podless.publish.columns.workload import NONE, balanced, containers, cut, labels, number
from podless.publish.texts import META
from podless.runtime.meter import each


def _used(limits: bool) -> Callable[[Object], str]:
    """What is used of what a quota allows: of limits on containers, or of all else."""

    def read(obj: Object) -> str:
        hard, used = at(obj, "status", "hard", default={}), at(obj, "status", "used", default={})
        names = sorted(name for name in each(hard) if name.startswith("limits.") == limits)
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in each(names))

    return read


def _external(obj: Object) -> str:
    kind, given = at(obj, "spec", "type"), ",".join(at(obj, "spec", "externalIPs", default=()))
    if kind == "ExternalName":
        return str(at(obj, "spec", "externalName"))
    if kind == "LoadBalancer":
        return ",".join(filter(None, (balanced(obj), given))) or "<pending>"
    return given or NONE


def _ports(obj: Object) -> str:
    return ",".join(map(_port, at(obj, "spec", "ports", default=()))) or NONE


def _port(port: Object) -> str:
    on_nodes = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{at(port, 'port')}{on_nodes}/{at(port, 'protocol')}"


def _selector(obj: Object) -> str:
    return labels(at(obj, "spec", "selector", default=None))


def _endpoints(obj: Object) -> str:
    found: list[str] = []
    for subset in each(at(obj, "subsets", default=())):
        ips = [one["ip"] for one in each(at(subset, "addresses", default=()))]
        ports = at(subset, "ports", default=())
        found += [_joined(ip, port["port"]) for port in each(ports) for ip in each(ips)] if ports else ips
    return cut(found) if at(obj, "subsets") else NONE


def _joined(ip: str, port: int) -> str:
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


_TEMPLATE = ("template", "spec")
_CONTROLLERS = (
    NAME,
    Cell("Desired", "integer", Of("", "ReplicationControllerSpec", "replicas"), number("spec", "replicas")),
    Cell("Current", "integer", Of("", "ReplicationControllerStatus", "replicas"), number("status", "replicas")),
    Cell("Ready", "integer", Of("", "ReplicationControllerStatus", "readyReplicas"), number("status", "readyReplicas")),
    AGE,
    *containers("spec", *_TEMPLATE),
    Cell("Selector", "string", Of("", "ReplicationControllerSpec", "selector"), _selector, priority=1),
)
_NAMES, _IMAGES = containers(*_TEMPLATE)
_POD_TEMPLATES = (
    NAME,
    replace(_NAMES, priority=0),
    replace(_IMAGES, priority=0),
    Cell(
        "Pod Labels",
        "string",
        Of(META, "ObjectMeta", "labels"),
        lambda obj: labels(at(obj, "template", "metadata", "labels", default=None)),
    ),
)


_SERVICES = (
    NAME,
    Cell("Type", "string", Of("", "ServiceSpec", "type"), text("spec", "type")),
    Cell(
        "Cluster-IP",
        "string",
        Of("", "ServiceSpec", "clusterIP"),
        lambda obj: (at(obj, "spec", "clusterIPs", default=()) or ("<none>",))[0],
    ),
    Cell("External-IP", "string", Of("", "ServiceSpec", "externalIPs"), _external),
    Cell("Port(s)", "string", Of("", "ServiceSpec", "ports"), _ports),
    AGE,
    Cell("Selector", "string", Of("", "ServiceSpec", "selector"), _selector, priority=1),
)

COLUMNS: Mapping[str, tuple[Cell, ...]] = {
    "configmaps": (
        NAME,
        Cell(
            "Data",
            "string",
            Of("", "ConfigMap", "data"),
            lambda obj: len(at(obj, "data", default=())) + len(at(obj, "binaryData", default=())),
        ),
        AGE,
    ),
    "endpoints": (NAME, Cell("Endpoints", "string", Of("", "Endpoints", "subsets"), _endpoints), AGE),
    **events.COLUMNS,
    "namespaces": (NAME, Cell("Status", "string", Of("", "NamespaceStatus", "phase"), text("status", "phase")), AGE),
    **nodes.COLUMNS,
    **volumes.COLUMNS,
    "pods": pods.PODS,
    "podtemplates": _POD_TEMPLATES,
    "replicationcontrollers": _CONTROLLERS,
    "resourcequotas": (
        NAME,
        Cell("Request", "string", "What is used of what may be requested.", _used(limits=False)),
        Cell("Limit", "string", "What is used of the limits.", _used(limits=True)),
        AGE,
    ),
    "secrets": (
        NAME,
        Cell("Type", "string", Of("", "Secret", "type"), text("type")),
        Cell("Data", "string", Of("", "Secret", "data"), count("data")),
        AGE,
    ),
    "serviceaccounts": (NAME, AGE),
    "services": _SERVICES,
}
