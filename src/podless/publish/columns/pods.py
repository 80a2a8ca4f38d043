"""Columns of pods, and how a pod does in one word. Source: Kubernetes' pkg/printers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from podless.publish.columns.cell import AGE, NAME, Age, Cell, Lapse, Object, Of, at, text
from podless.runtime.meter import each

_GONE = "NodeLost"
_ENDED = ("Succeeded", "Failed")


class _State(NamedTuple):
    """What the containers of a pod say. last: when one of them ended the last time, "" for never."""

    word: str
    ready: int
    restarts: int
    last: str


def _restarted(statuses: Iterable[Any]) -> tuple[int, str]:
    """How often containers were started again, and when one ended the last time."""
    found = list(statuses)
    ends = [at(one, "lastState", "terminated", "finishedAt") or "" for one in each(found)]
    return sum(at(one, "restartCount", default=0) for one in each(found)), max(ends, default="")


def _ended(state: Any, prefix: str = "") -> str:
    """Why a container has ended."""
    if state.get("reason"):
        return f"{prefix}{state['reason']}"
    return f"{prefix}Signal:{state['signal']}" if state.get("signal") else f"{prefix}ExitCode:{state['exitCode']}"


def _initialised(obj: Object, sidecars: set[str]) -> tuple[str, int]:
    """What the init containers wait for, "" for nothing, and how many sidecars are ready."""
    ready = 0
    for place, one in enumerate(each(at(obj, "status", "initContainerStatuses", default=()))):
        ended, waiting = at(one, "state", "terminated", default=None), at(one, "state", "waiting", "reason")
        if ended is not None and not ended.get("exitCode"):
            continue
        if one["name"] in sidecars and one.get("started"):
            ready += bool(one.get("ready"))
            continue
        if ended is not None:
            return _ended(ended, "Init:"), ready
        if waiting and waiting != "PodInitializing":
            return f"Init:{waiting}", ready
        return f"Init:{place}/{len(at(obj, 'spec', 'initContainers', default=()))}", ready
    return "", ready


def _condition(obj: Object, name: str) -> Any:
    return next((one for one in each(at(obj, "status", "conditions", default=())) if one["type"] == name), {})


def _state(obj: Object) -> _State:
    status = at(obj, "status", default={})
    word = status.get("reason") or status.get("phase") or ""
    if _condition(obj, "PodScheduled").get("reason") == "SchedulingGated":
        word = "SchedulingGated"
    sidecars = {one["name"] for one in each(at(obj, "spec", "initContainers", default=())) if one.get("restartPolicy")}
    first = status.get("initContainerStatuses") or []
    waits, ready = _initialised(obj, sidecars)
    if waits and _condition(obj, "Initialized").get("status") != "True":
        return _State(waits, ready, *_restarted(first))
    running = False
    word = waits or word
    statuses = status.get("containerStatuses") or []
    for one in reversed(each(statuses)):
        ended, waiting = at(one, "state", "terminated", default=None), at(one, "state", "waiting", "reason")
        if waiting:
            word = waiting
        elif ended is not None:
            word = _ended(ended)
        elif one.get("ready") and at(one, "state", "running", default=None) is not None:
            running = True
            ready += 1
    if word == "Completed" and running:
        word = "Running" if _condition(obj, "Ready").get("status") == "True" else "NotReady"
    return _State(word, ready, *_restarted([*(one for one in each(first) if one["name"] in sidecars), *statuses]))


def _word(obj: Object) -> str:
    """How the pod does."""
    if at(obj, "metadata", "deletionTimestamp"):
        if at(obj, "status", "reason") == _GONE:
            return "Unknown"
        if at(obj, "status", "phase") not in _ENDED:
            return "Terminating"
    return _state(obj).word


def _ready(obj: Object) -> str:
    sidecars = [one for one in each(at(obj, "spec", "initContainers", default=())) if one.get("restartPolicy")]
    return f"{_state(obj).ready}/{len(at(obj, 'spec', 'containers', default=())) + len(sidecars)}"


def _restarts(obj: Object) -> Lapse:
    state = _state(obj)
    if not state.restarts or not state.last:
        return Lapse(str(state.restarts))
    return Lapse(f"{state.restarts} (", state.last, " ago)")


def _address(obj: Object) -> str:
    ips = at(obj, "status", "podIPs", default=())
    return (at(ips[0], "ip") if ips else at(obj, "status", "podIP")) or "<none>"


def _gates(obj: Object) -> str:
    wanted = [one["conditionType"] for one in each(at(obj, "spec", "readinessGates", default=()))]
    met = sum(_condition(obj, name).get("status") == "True" for name in each(wanted))
    return f"{met}/{len(wanted)}" if wanted else "<none>"


def _or_none(*path: str) -> Any:
    read = text(*path)
    return lambda obj: read(obj) or "<none>"


PODS = (
    NAME,
    Cell("Ready", "string", "How many containers are ready, of how many there are.", _ready),
    Cell("Status", "string", "How the pod does, in one word.", _word),
    Cell("Restarts", "string", Of("", "ContainerStatus", "restartCount"), Age(_restarts)),
    AGE,
    Cell("IP", "string", Of("", "PodStatus", "podIP"), _address, priority=1),
    Cell("Node", "string", Of("", "PodSpec", "nodeName"), _or_none("spec", "nodeName"), priority=1),
    Cell(
        "Nominated Node",
        "string",
        Of("", "PodStatus", "nominatedNodeName"),
        _or_none("status", "nominatedNodeName"),
        priority=1,
    ),
    Cell("Readiness Gates", "string", Of("", "PodSpec", "readinessGates"), _gates, priority=1),
)
