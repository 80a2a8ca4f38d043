"""Cells of the printer columns of the core group."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from podless.apis.shared.columns import NONE, Lapse, Object, at, balancer_addresses, find_condition, shorten
from podless.runtime.meter import each
from podless.runtime.release import has

# component statuses


def read_health(obj: Object) -> str:
    condition = find_condition(obj, "Healthy")
    return "Unknown" if not condition else "Healthy" if at(condition, "status") == "True" else "Unhealthy"


def health_field(name: str) -> Callable[[Object], str]:
    """Return a reader of a field of the condition Healthy."""
    return lambda obj: str(at(find_condition(obj, "Healthy"), name))


# config maps


def data_count(obj: Object) -> int:
    return len(at(obj, "data", default=())) + len(at(obj, "binaryData", default=()))


# endpoints


def read_addresses(obj: Object) -> str:
    texts: list[str] = []
    for subset in each(at(obj, "subsets", default=())):
        ips = [address["ip"] for address in each(at(subset, "addresses", default=()))]
        ports = at(subset, "ports", default=())
        hosts = [f"[{ip}]" if ":" in ip else ip for ip in ips] if ports else []
        texts += [f"{host}:{port['port']}" for port in each(ports) for host in each(hosts)] if ports else ips
    return shorten(texts) if at(obj, "subsets") else NONE


# events, in the fields of both of their groups


def first_seen(obj: Object) -> str:
    return str(at(obj, "firstTimestamp") or at(obj, "deprecatedFirstTimestamp") or at(obj, "eventTime"))


def last_seen(obj: Object) -> str:
    if obj.get("series") is not None:
        return str(at(obj, "series", "lastObservedTime"))
    return str(at(obj, "lastTimestamp") or at(obj, "deprecatedLastTimestamp") or first_seen(obj))


def read_regarding(obj: Object) -> str:
    target = at(obj, "involvedObject") or at(obj, "regarding", default={})
    kind, name = str(at(target, "kind")).lower(), at(target, "name")
    return f"{kind}/{name}" if name else kind


def field_path(obj: Object) -> str:
    return str(at(obj, "involvedObject", "fieldPath") or at(obj, "regarding", "fieldPath"))


def read_source(obj: Object) -> str:
    source = at(obj, "source") or at(obj, "deprecatedSource", default={})
    component = at(source, "component") or at(obj, "reportingComponent") or at(obj, "reportingController")
    host = at(source, "host") or at(obj, "reportingInstance")
    return f"{component}, {host}" if host else str(component)


def read_message(obj: Object) -> str:
    return str(at(obj, "message") or at(obj, "note")).strip()


def event_count(obj: Object) -> int:
    if obj.get("series") is not None:
        return int(at(obj, "series", "count", default=0))
    return int(at(obj, "count", default=0) or at(obj, "deprecatedCount", default=0) or 1)


# nodes

_ROLE, _ROLE_LABEL = "node-role.kubernetes.io/", "kubernetes.io/role"


def node_status(obj: Object) -> str:
    ready = [item for item in each(at(obj, "status", "conditions", default=())) if item["type"] == "Ready"]
    words = ["Unknown" if not ready else "Ready" if ready[-1]["status"] == "True" else "NotReady"]
    return ",".join([*words, *(["SchedulingDisabled"] if at(obj, "spec", "unschedulable") else ())])


def node_roles(obj: Object) -> str:
    labels = at(obj, "metadata", "labels", default={})
    roles = {name.removeprefix(_ROLE) for name in each(labels) if name.startswith(_ROLE)}
    return ",".join(sorted((roles | {labels.get(_ROLE_LABEL) or ""}) - {""})) or NONE


def node_address(kind: str) -> Callable[[Object], str]:
    def read_address(obj: Object) -> str:
        texts = (item["address"] for item in each(at(obj, "status", "addresses", default=())) if item["type"] == kind)
        return next(texts, NONE)

    return read_address


def read_kernel(obj: Object) -> str:
    kernel, machine = (at(obj, "status", "nodeInfo", name) for name in ("kernelVersion", "architecture"))
    kernel = kernel or "<unknown>"
    return f"{kernel} ({machine})" if has("MachinesOfKernels") and machine else kernel


# persistent volumes and claims

_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def access_modes(field_name: str) -> Callable[[Object], str]:
    return lambda obj: ",".join(
        abbreviation for mode, abbreviation in _MODES.items() if mode in at(obj, field_name, "accessModes", default=())
    )


def volume_phase(obj: Object) -> str:
    return "Terminating" if at(obj, "metadata", "deletionTimestamp") else str(at(obj, "status", "phase"))


def storage_class(obj: Object) -> str:
    annotation = at(obj, "metadata", "annotations", "volume.beta.kubernetes.io/storage-class", default=None)
    return str(annotation or at(obj, "spec", "storageClassName"))


def claim_capacity(obj: Object) -> str:
    return str(at(obj, "status", "capacity", "storage", default="0")) if at(obj, "spec", "volumeName") else ""


def claim_access_modes(obj: Object) -> str:
    return access_modes("status")(obj) if at(obj, "spec", "volumeName") else ""


def read_claim(obj: Object) -> str:
    claim_ref = at(obj, "spec", "claimRef", default=None)
    return f"{at(claim_ref, 'namespace')}/{at(claim_ref, 'name')}" if claim_ref is not None else ""


# pods

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


def pod_status(obj: Object) -> str:
    """Return the status of a pod as kubectl shows it."""
    if at(obj, "metadata", "deletionTimestamp"):
        if at(obj, "status", "reason") == "NodeLost":
            return "Unknown"
        if at(obj, "status", "phase") not in _ENDED:
            return "Terminating"
    return _pod_state(obj).word


def ready_containers(obj: Object) -> str:
    return f"{_pod_state(obj).ready}/{len(at(obj, 'spec', 'containers', default=())) + len(_find_sidecars(obj))}"


def read_restarts(obj: Object) -> Lapse:
    state = _pod_state(obj)
    if not state.restarts or not state.last:
        return Lapse(str(state.restarts))
    return Lapse(f"{state.restarts} (", state.last, " ago)")


def pod_ip(obj: Object) -> str:
    ips = at(obj, "status", "podIPs", default=())
    return (at(ips[0], "ip") if ips else at(obj, "status", "podIP")) or NONE


def readiness_gates(obj: Object) -> str:
    gates = [readiness_gate["conditionType"] for readiness_gate in each(at(obj, "spec", "readinessGates", default=()))]
    met = sum(find_condition(at(obj, "status"), name).get("status") == "True" for name in each(gates))
    return f"{met}/{len(gates)}" if gates else NONE


def read_conditions(obj: Object) -> list[Object]:
    """Return the conditions of a pod's row: Completed for a pod that has ended."""
    phase = at(obj, "status", "phase")
    if phase not in _ENDED:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _ENDED[phase]}]


# quotas


def quota_usage(kind: str) -> Callable[[Object], str]:
    """Return a reader of used and allowed amounts. kind: limits for those of limits.*, requests for all others."""

    def read_usage(obj: Object) -> str:
        hard, used = at(obj, "status", "hard", default={}), at(obj, "status", "used", default={})
        names = sorted(name for name in each(hard) if name.startswith("limits.") == (kind == "limits"))
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in each(names))

    return read_usage


# services


def cluster_ip(obj: Object) -> str:
    return str((at(obj, "spec", "clusterIPs", default=()) or (NONE,))[0])


def external_ips(obj: Object) -> str:
    kind, external_ips = at(obj, "spec", "type"), ",".join(at(obj, "spec", "externalIPs", default=()))
    if kind == "ExternalName":
        return str(at(obj, "spec", "externalName"))
    if kind == "LoadBalancer":
        return ",".join(filter(None, (balancer_addresses(obj), external_ips))) or "<pending>"
    return external_ips or NONE


def service_ports(obj: Object) -> str:
    return ",".join(map(_service_port, at(obj, "spec", "ports", default=()))) or NONE


def _service_port(port: Object) -> str:
    on_nodes = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{at(port, 'port')}{on_nodes}/{at(port, 'protocol')}"


CONDITIONS = {"pods": read_conditions}
