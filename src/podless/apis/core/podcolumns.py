"""Printer columns of pods, and the status column. Source: Kubernetes' pkg/printers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from podless.apis.shared.columns import AGE, NAME, NONE, Age, Lapse, Object, Reader, at, find_condition, string, text
from podless.runtime.meter import each

_NODE_LOST = "NodeLost"
_ENDED = {"Succeeded": "The pod has completed successfully.", "Failed": "The pod failed."}


class _ContainerStates(NamedTuple):
    """The state of a pod's containers. last: time of the last termination, "" for never."""

    word: str
    ready: int
    restarts: int
    last: str


def _count_restarts(statuses: Iterable[Any]) -> tuple[int, str]:
    """Return the number of restarts and the time of the last one, "" for none."""
    listed = list(statuses)
    ends = [at(status, "lastState", "terminated", "finishedAt") or "" for status in each(listed)]
    return sum(at(status, "restartCount", default=0) for status in each(listed)), max(ends, default="")


def _exit_reason(state: Any, prefix: str = "") -> str:
    """Return why a container terminated: its reason, signal or exit code."""
    if state.get("reason"):
        return f"{prefix}{state['reason']}"
    return f"{prefix}Signal:{state['signal']}" if state.get("signal") else f"{prefix}ExitCode:{state['exitCode']}"


class _InitState(NamedTuple):
    """What the init containers wait for, "" for nothing; ready sidecars; statuses up to the one that is waited for."""

    waits: str
    ready_sidecars: int
    begun: list[Any]


def _read_init_state(obj: Object, sidecars: set[str]) -> _InitState:
    ready_sidecars, statuses = 0, at(obj, "status", "initContainerStatuses", default=[])
    for index, status in enumerate(each(statuses)):
        ended, waiting = at(status, "state", "terminated", default=None), at(status, "state", "waiting", "reason")
        if ended is not None and not ended.get("exitCode"):
            continue
        if status["name"] in sidecars and status.get("started"):
            ready_sidecars += bool(status.get("ready"))
            continue
        if ended is not None:
            waits = _exit_reason(ended, "Init:")
        elif waiting and waiting != "PodInitializing":
            waits = f"Init:{waiting}"
        else:
            waits = f"Init:{index}/{len(at(obj, 'spec', 'initContainers', default=()))}"
        return _InitState(waits, ready_sidecars, statuses[: index + 1])
    return _InitState("", ready_sidecars, statuses)


def _find_sidecars(obj: Object) -> set[str]:
    """Return the names of the init containers that run beside the others."""
    init_containers = each(at(obj, "spec", "initContainers", default=()))
    return {container["name"] for container in init_containers if container.get("restartPolicy") == "Always"}


def _pod_state(obj: Object) -> _ContainerStates:
    status = at(obj, "status", default={})
    word = status.get("reason") or status.get("phase") or ""
    if find_condition(status, "PodScheduled").get("reason") == "SchedulingGated":
        word = "SchedulingGated"
    sidecars = _find_sidecars(obj)
    waits, ready_count, first = _read_init_state(obj, sidecars)
    if waits and find_condition(status, "Initialized").get("status") != "True":
        return _ContainerStates(waits, ready_count, *_count_restarts(first))
    running = False
    word = waits or word
    statuses = status.get("containerStatuses") or []
    for container in reversed(each(statuses)):
        ended, waiting = at(container, "state", "terminated", default=None), at(container, "state", "waiting", "reason")
        if waiting:
            word = waiting
        elif ended is not None:
            word = _exit_reason(ended)
        elif container.get("ready") and at(container, "state", "running", default=None) is not None:
            running = True
            ready_count += 1
    if word == "Completed" and running:
        word = "Running" if find_condition(status, "Ready").get("status") == "True" else "NotReady"
    return _ContainerStates(
        word,
        ready_count,
        *_count_restarts([*(init_status for init_status in each(first) if init_status["name"] in sidecars), *statuses]),
    )


def _pod_status(obj: Object) -> str:
    """Return the status of a pod as kubectl shows it."""
    if at(obj, "metadata", "deletionTimestamp"):
        if at(obj, "status", "reason") == _NODE_LOST:
            return "Unknown"
        if at(obj, "status", "phase") not in _ENDED:
            return "Terminating"
    return _pod_state(obj).word


def _ready_containers(obj: Object) -> str:
    return f"{_pod_state(obj).ready}/{len(at(obj, 'spec', 'containers', default=())) + len(_find_sidecars(obj))}"


def _read_restarts(obj: Object) -> Lapse:
    state = _pod_state(obj)
    if not state.restarts or not state.last:
        return Lapse(str(state.restarts))
    return Lapse(f"{state.restarts} (", state.last, " ago)")


def _pod_ip(obj: Object) -> str:
    ips = at(obj, "status", "podIPs", default=())
    return (at(ips[0], "ip") if ips else at(obj, "status", "podIP")) or NONE


def _readiness_gates(obj: Object) -> str:
    gates = [readiness_gate["conditionType"] for readiness_gate in each(at(obj, "spec", "readinessGates", default=()))]
    met = sum(find_condition(at(obj, "status"), name).get("status") == "True" for name in each(gates))
    return f"{met}/{len(gates)}" if gates else NONE


def _or_none(path: str) -> Reader:
    read = text(path)
    return lambda obj: read(obj) or NONE


def read_conditions(obj: Object) -> list[Object]:
    """Return the conditions of a pod's row: Completed for a pod that has ended."""
    phase = at(obj, "status", "phase")
    if phase not in _ENDED:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _ENDED[phase]}]


PODS = (
    NAME,
    string("Ready", "Number of ready containers and of all containers.", _ready_containers),
    string("Status", "Status of the pod, as one word.", _pod_status),
    string("Restarts", "ContainerStatus.restartCount", Age(_read_restarts)),
    AGE,
    string("IP", "PodStatus.podIP", _pod_ip, wide=True),
    string("Node", "PodSpec.nodeName", _or_none("spec.nodeName"), wide=True),
    string("Nominated Node", "PodStatus.nominatedNodeName", _or_none("status.nominatedNodeName"), wide=True),
    string("Readiness Gates", "PodSpec.readinessGates", _readiness_gates, wide=True),
)
