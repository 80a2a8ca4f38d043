"""Printer columns of the core group; those of pods are in podcolumns.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from podless.apis.core.podcolumns import PODS, read_conditions
from podless.apis.shared.columns import (
    AGE,
    NAME,
    NONE,
    UNSET,
    Age,
    Columns,
    Object,
    at,
    balancer_addresses,
    containers,
    count,
    find_condition,
    integer,
    labels,
    shorten,
    string,
    text,
)
from podless.runtime.meter import each
from podless.runtime.release import has

# component statuses


def _read_health(obj: Object) -> str:
    condition = find_condition(obj, "Healthy")
    return "Unknown" if not condition else "Healthy" if at(condition, "status") == "True" else "Unhealthy"


def _health_field(name: str) -> Callable[[Object], str]:
    return lambda obj: str(at(find_condition(obj, "Healthy"), name))


# config maps


def _data_count(obj: Object) -> int:
    return len(at(obj, "data", default=())) + len(at(obj, "binaryData", default=()))


# endpoints


def _read_addresses(obj: Object) -> str:
    texts: list[str] = []
    for subset in each(at(obj, "subsets", default=())):
        ips = [address["ip"] for address in each(at(subset, "addresses", default=()))]
        ports = at(subset, "ports", default=())
        texts += [_join_port(ip, port["port"]) for port in each(ports) for ip in each(ips)] if ports else ips
    return shorten(texts) if at(obj, "subsets") else NONE


def _join_port(ip: str, port: int) -> str:
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


# events, in the fields of both of their groups


def _first_seen(obj: Object) -> str:
    return str(at(obj, "firstTimestamp") or at(obj, "deprecatedFirstTimestamp") or at(obj, "eventTime"))


def _last_seen(obj: Object) -> str:
    if obj.get("series") is not None:
        return str(at(obj, "series", "lastObservedTime"))
    return str(at(obj, "lastTimestamp") or at(obj, "deprecatedLastTimestamp") or _first_seen(obj))


def _read_regarding(obj: Object) -> str:
    target = at(obj, "involvedObject") or at(obj, "regarding", default={})
    kind, name = str(at(target, "kind")).lower(), at(target, "name")
    return f"{kind}/{name}" if name else kind


def _field_path(obj: Object) -> str:
    return str(at(obj, "involvedObject", "fieldPath") or at(obj, "regarding", "fieldPath"))


def _read_source(obj: Object) -> str:
    source = at(obj, "source") or at(obj, "deprecatedSource", default={})
    component = at(source, "component") or at(obj, "reportingComponent") or at(obj, "reportingController")
    host = at(source, "host") or at(obj, "reportingInstance")
    return f"{component}, {host}" if host else str(component)


def _read_message(obj: Object) -> str:
    return str(at(obj, "message") or at(obj, "note")).strip()


def _event_count(obj: Object) -> int:
    if obj.get("series") is not None:
        return int(at(obj, "series", "count", default=0))
    return int(at(obj, "count", default=0) or at(obj, "deprecatedCount", default=0) or 1)


EVENTS = (
    string("Last Seen", "core/Event.lastTimestamp", Age(_last_seen)),
    string("Type", "core/Event.type", "type"),
    string("Reason", "core/Event.reason", "reason"),
    string("Object", "core/Event.involvedObject", _read_regarding),
    string("Subobject", "core/ObjectReference.fieldPath", _field_path, wide=True),
    string("Source", "core/Event.source", _read_source, wide=True),
    string("Message", "core/Event.message", _read_message),
    string("First Seen", "core/Event.firstTimestamp", Age(_first_seen), wide=True),
    string("Count", "core/Event.count", _event_count, wide=True),
    replace(NAME, priority=1),
)


# nodes

_ROLE, _ROLE_LABEL = "node-role.kubernetes.io/", "kubernetes.io/role"


def _node_status(obj: Object) -> str:
    ready = [item for item in each(at(obj, "status", "conditions", default=())) if item["type"] == "Ready"]
    words = ["Unknown" if not ready else "Ready" if ready[-1]["status"] == "True" else "NotReady"]
    return ",".join([*words, *(["SchedulingDisabled"] if at(obj, "spec", "unschedulable") else ())])


def _node_roles(obj: Object) -> str:
    labels = at(obj, "metadata", "labels", default={})
    roles = {name.removeprefix(_ROLE) for name in each(labels) if name.startswith(_ROLE)}
    return ",".join(sorted((roles | {labels.get(_ROLE_LABEL) or ""}) - {""})) or NONE


def _node_address(kind: str) -> Callable[[Object], str]:
    def read_address(obj: Object) -> str:
        texts = (item["address"] for item in each(at(obj, "status", "addresses", default=())) if item["type"] == kind)
        return next(texts, NONE)

    return read_address


def _node_info(field: str) -> Callable[[Object], str]:
    return lambda obj: at(obj, "status", "nodeInfo", field) or "<unknown>"


def _read_kernel(obj: Object) -> str:
    kernel, machine = _node_info("kernelVersion")(obj), at(obj, "status", "nodeInfo", "architecture")
    return f"{kernel} ({machine})" if has("MachinesOfKernels") and machine else kernel


# persistent volumes and claims

_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
_CLASS = "volume.beta.kubernetes.io/storage-class"


def _access_modes(field_name: str) -> Callable[[Object], str]:
    return lambda obj: ",".join(
        abbreviation for mode, abbreviation in _MODES.items() if mode in at(obj, field_name, "accessModes", default=())
    )


def _volume_phase(obj: Object) -> str:
    return "Terminating" if at(obj, "metadata", "deletionTimestamp") else str(at(obj, "status", "phase"))


def _storage_class(obj: Object) -> str:
    return str(at(obj, "metadata", "annotations", _CLASS, default=None) or at(obj, "spec", "storageClassName"))


def _read_claim(obj: Object) -> str:
    claim_ref = at(obj, "spec", "claimRef", default=None)
    return f"{at(claim_ref, 'namespace')}/{at(claim_ref, 'name')}" if claim_ref is not None else ""


def _if_bound(read: Callable[[Object], str]) -> Callable[[Object], str]:
    """Return a reader that returns "" for claims without a volume."""
    return lambda obj: read(obj) if at(obj, "spec", "volumeName") else ""


_ATTRIBUTES_CLASS = text("spec.volumeAttributesClassName", UNSET)
_VOLUME_MODE = text("spec.volumeMode", UNSET)


# quotas


def _usage_reader(limits: bool) -> Callable[[Object], str]:
    """Return a reader of used and allowed amounts. limits: those of limits.*, else all others."""

    def read_usage(obj: Object) -> str:
        hard, used = at(obj, "status", "hard", default={}), at(obj, "status", "used", default={})
        names = sorted(name for name in each(hard) if name.startswith("limits.") == limits)
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in each(names))

    return read_usage


# services


def _cluster_ip(obj: Object) -> str:
    return str((at(obj, "spec", "clusterIPs", default=()) or (NONE,))[0])


def _external_ips(obj: Object) -> str:
    kind, external_ips = at(obj, "spec", "type"), ",".join(at(obj, "spec", "externalIPs", default=()))
    if kind == "ExternalName":
        return str(at(obj, "spec", "externalName"))
    if kind == "LoadBalancer":
        return ",".join(filter(None, (balancer_addresses(obj), external_ips))) or "<pending>"
    return external_ips or NONE


def _service_ports(obj: Object) -> str:
    return ",".join(map(_service_port, at(obj, "spec", "ports", default=()))) or NONE


def _service_port(port: Object) -> str:
    on_nodes = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{at(port, 'port')}{on_nodes}/{at(port, 'protocol')}"


CONDITIONS = {"pods": read_conditions}
COLUMNS: Columns = {
    "componentstatuses": (
        NAME,
        string("Status", "Whether the component is healthy.", _read_health),
        string("Message", "ComponentCondition.message", _health_field("message")),
        string("Error", "ComponentCondition.error", _health_field("error")),
    ),
    "configmaps": (NAME, string("Data", "ConfigMap.data", _data_count), AGE),
    "endpoints": (NAME, string("Endpoints", "Endpoints.subsets", _read_addresses), AGE),
    "events": EVENTS,
    "namespaces": (NAME, string("Status", "NamespaceStatus.phase"), AGE),
    "nodes": (
        NAME,
        string("Status", "Whether the node is ready and accepts new pods.", _node_status),
        string("Roles", "Roles of the node, from its labels.", _node_roles),
        AGE,
        string("Version", "NodeSystemInfo.kubeletVersion", "status.nodeInfo.kubeletVersion"),
        string("Internal-IP", "NodeStatus.addresses", _node_address("InternalIP"), wide=True),
        string("External-IP", "NodeStatus.addresses", _node_address("ExternalIP"), wide=True),
        string("OS-Image", "NodeSystemInfo.osImage", _node_info("osImage"), wide=True),
        string("Kernel-Version", "NodeSystemInfo.kernelVersion", _read_kernel, wide=True),
        string(
            "Container-Runtime",
            "NodeSystemInfo.containerRuntimeVersion",
            _node_info("containerRuntimeVersion"),
            wide=True,
        ),
    ),
    "persistentvolumeclaims": (
        NAME,
        string("Status", "PersistentVolumeClaimStatus.phase", _volume_phase),
        string("Volume", "PersistentVolumeClaimSpec.volumeName"),
        string("Capacity", "PersistentVolumeClaimStatus.capacity", _if_bound(text("status.capacity.storage", "0"))),
        string("Access Modes", "PersistentVolumeClaimStatus.accessModes", _if_bound(_access_modes("status"))),
        string("StorageClass", "PersistentVolumeClaimSpec.storageClassName", _storage_class),
        string("VolumeAttributesClass", "PersistentVolumeClaimSpec.volumeAttributesClassName", _ATTRIBUTES_CLASS),
        AGE,
        string("VolumeMode", "PersistentVolumeClaimSpec.volumeMode", _VOLUME_MODE, wide=True),
    ),
    "persistentvolumes": (
        NAME,
        string("Capacity", "PersistentVolumeSpec.capacity", text("spec.capacity.storage", "0")),
        string("Access Modes", "PersistentVolumeSpec.accessModes", _access_modes("spec")),
        string("Reclaim Policy", "PersistentVolumeSpec.persistentVolumeReclaimPolicy"),
        string("Status", "PersistentVolumeStatus.phase", _volume_phase),
        string("Claim", "PersistentVolumeSpec.claimRef", _read_claim),
        string("StorageClass", "PersistentVolumeSpec.storageClassName", _storage_class),
        string("VolumeAttributesClass", "PersistentVolumeSpec.volumeAttributesClassName", _ATTRIBUTES_CLASS),
        string("Reason", "PersistentVolumeStatus.reason"),
        AGE,
        string("VolumeMode", "PersistentVolumeSpec.volumeMode", _VOLUME_MODE, wide=True),
    ),
    "pods": PODS,
    "podtemplates": (
        NAME,
        *containers("template.spec", wide=False),
        string("Pod Labels", "meta/ObjectMeta.labels", labels("template.metadata.labels")),
    ),
    "replicationcontrollers": (
        NAME,
        integer("Desired", "ReplicationControllerSpec.replicas"),
        integer("Current", "ReplicationControllerStatus.replicas"),
        integer("Ready", "ReplicationControllerStatus.readyReplicas"),
        AGE,
        *containers("spec.template.spec"),
        string("Selector", "ReplicationControllerSpec.selector", labels("spec.selector"), wide=True),
    ),
    "resourcequotas": (
        NAME,
        replace(AGE, releases="-1.32"),
        string("Request", "Usage and quota of resource requests.", _usage_reader(limits=False)),
        string("Limit", "Usage and quota of resource limits.", _usage_reader(limits=True)),
        replace(AGE, releases="1.33-"),
    ),
    "secrets": (NAME, string("Type", "Secret.type"), string("Data", "Secret.data", count("data")), AGE),
    "serviceaccounts": (
        NAME,
        replace(string("Secrets", "ServiceAccount.secrets", count("secrets")), releases="-1.34"),
        AGE,
    ),
    "services": (
        NAME,
        string("Type", "ServiceSpec.type"),
        string("Cluster-IP", "ServiceSpec.clusterIP", _cluster_ip),
        string("External-IP", "ServiceSpec.externalIPs", _external_ips),
        string("Port(s)", "ServiceSpec.ports", _service_ports),
        AGE,
        string("Selector", "ServiceSpec.selector", labels("spec.selector"), wide=True),
    ),
}
