"""Columns of nodes and of the control plane's components."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from podless.publish.columns.cell import AGE, NAME, Cell, Object, Of, at, text
from podless.runtime.meter import each

_ROLE, _ROLE_LABEL = "node-role.kubernetes.io/", "kubernetes.io/role"
_INFO = ("status", "nodeInfo")


def _status(obj: Object) -> str:
    ready = [one for one in each(at(obj, "status", "conditions", default=())) if one["type"] == "Ready"]
    words = ["Unknown" if not ready else "Ready" if ready[-1]["status"] == "True" else "NotReady"]
    return ",".join([*words, *(["SchedulingDisabled"] if at(obj, "spec", "unschedulable") else ())])


def _roles(obj: Object) -> str:
    labels = at(obj, "metadata", "labels", default={})
    found = {name.removeprefix(_ROLE) for name in each(labels) if name.startswith(_ROLE)} | {
        labels.get(_ROLE_LABEL) or ""
    }
    return ",".join(sorted(found - {""})) or "<none>"


def _address(kind: str) -> Callable[[Object], str]:
    def read(obj: Object) -> str:
        found = (one["address"] for one in each(at(obj, "status", "addresses", default=())) if one["type"] == kind)
        return next(found, "<none>")

    return read


def _known(field: str) -> Callable[[Object], str]:
    return lambda obj: at(obj, *_INFO, field) or "<unknown>"


def _kernel(obj: Object) -> str:
    kernel, machine = at(obj, *_INFO, "kernelVersion"), at(obj, *_INFO, "architecture")
    return (f"{kernel} ({machine})" if machine else kernel) if kernel else "<unknown>"


def _healthy(obj: Object) -> str:
    found = _condition(obj)
    return "Unknown" if not found else "Healthy" if at(found, "status") == "True" else "Unhealthy"


def _condition(obj: Object) -> Object:
    return next((one for one in each(at(obj, "conditions", default=())) if one["type"] == "Healthy"), {})


COLUMNS: Mapping[str, tuple[Cell, ...]] = {
    "componentstatuses": (
        NAME,
        Cell("Status", "string", "Whether the component is healthy.", _healthy),
        Cell("Message", "string", Of("", "ComponentCondition", "message"), lambda obj: at(_condition(obj), "message")),
        Cell("Error", "string", Of("", "ComponentCondition", "error"), lambda obj: at(_condition(obj), "error")),
    ),
    "nodes": (
        NAME,
        Cell("Status", "string", "Whether the node is ready, and takes pods.", _status),
        Cell("Roles", "string", "What the node is for, by its labels.", _roles),
        AGE,
        Cell("Version", "string", Of("", "NodeSystemInfo", "kubeletVersion"), text(*_INFO, "kubeletVersion")),
        Cell("Internal-IP", "string", Of("", "NodeStatus", "addresses"), _address("InternalIP"), priority=1),
        Cell("External-IP", "string", Of("", "NodeStatus", "addresses"), _address("ExternalIP"), priority=1),
        Cell("OS-Image", "string", Of("", "NodeSystemInfo", "osImage"), _known("osImage"), priority=1),
        Cell("Kernel-Version", "string", Of("", "NodeSystemInfo", "kernelVersion"), _kernel, priority=1),
        Cell(
            "Container-Runtime",
            "string",
            Of("", "NodeSystemInfo", "containerRuntimeVersion"),
            _known("containerRuntimeVersion"),
            priority=1,
        ),
    ),
}
