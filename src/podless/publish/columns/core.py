"""Columns of the core group."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from podless.publish.columns import events
from podless.publish.columns.cell import AGE, NAME, Cell, Object, Of, at, count, text


def _used(limits: bool) -> Callable[[Object], str]:
    """What is used of what a quota allows: of limits on containers, or of all else."""

    def read(obj: Object) -> str:
        hard, used = at(obj, "status", "hard", default={}), at(obj, "status", "used", default={})
        names = sorted(name for name in hard if name.startswith("limits.") == limits)
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return read


def _external(obj: Object) -> str:
    if at(obj, "spec", "type") == "ExternalName":
        return str(at(obj, "spec", "externalName"))
    return ",".join(at(obj, "spec", "externalIPs", default=())) or "<none>"


def _ports(obj: Object) -> str:
    ports = at(obj, "spec", "ports", default=())
    return ",".join(f"{at(port, 'port')}/{at(port, 'protocol')}" for port in ports) or "<none>"


def _selector(obj: Object) -> str:
    return (
        ",".join(f"{key}={value}" for key, value in sorted(at(obj, "spec", "selector", default={}).items())) or "<none>"
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
    **events.COLUMNS,
    "namespaces": (NAME, Cell("Status", "string", Of("", "NamespaceStatus", "phase"), text("status", "phase")), AGE),
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
