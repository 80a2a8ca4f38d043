"""The kinds that are loaded at first use: what discovery says of them, and where their rules are.

The rules of a kind are the STRATEGY of a module of its folder, named by its plural; its fields are the struct of its
name in the file of its group and version (structs/structfiles.py).
Source: the discovery documents of kube-apiserver 1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from podless.apis.shared.declared import declare
from podless.kinds.kind import Kind, Scale, Subresource
from podless.kinds.strategy import Strategy
from podless.structs.structfiles import find_home, load_struct
from podless.structs.structs import Struct

_WRITTEN = ("get", "patch", "update")
_PROXIED = ("create", "delete", "get", "patch", "update")
_ALL = ("all",)
_PODS = Scale(".spec.replicas", ".status.replicas", ".spec.selector")


def _rules(module: str) -> Strategy[Kind]:
    """What the kind's own module says."""
    strategy: Strategy[Kind] = import_module(f"{__package__}.{module}").STRATEGY
    return strategy


def _no_rules() -> Strategy[Kind]:
    """Those of a kind that has fields alone."""
    from podless.apis.shared.typed import TypedStrategy

    return TypedStrategy()


def _fields(group: str, versions: tuple[str, ...], noun: str) -> Mapping[str, Struct]:
    """The structs of this name by version."""
    return {version: load_struct(find_home(group, version), noun) for version in versions}


def _kind(
    folder: str, group: str, noun: str, plural: str, *short: str, versions: tuple[str, ...] = ("v1",), **more: Any
) -> Kind:
    late = partial(_rules, f"{folder}.{plural}"), partial(_fields, group, versions, noun)
    return declare(group, noun, plural, *short, late=late, versions=versions, **more)


def _sent(noun: str, group: str = "") -> Kind:
    """A kind that is sent to a subresource, and never stored."""
    late = _no_rules, partial(_fields, group, ("v1",), noun)
    return declare(group, noun, f"{noun.lower()}s", late=late, verbs=("create",), virtual=True)


_in_core: Callable[..., Kind] = partial(_kind, "core", "")
_in_apps: Callable[..., Kind] = partial(_kind, "apps", "apps")
_in_networking: Callable[..., Kind] = partial(_kind, "networking", "networking.k8s.io")
_in_storage: Callable[..., Kind] = partial(_kind, "storage", "storage.k8s.io", namespaced=False)
_in_resource: Callable[..., Kind] = partial(_kind, "resource", "resource.k8s.io", shown_deleted=True, releases="1.34-")
_in_flowcontrol: Callable[..., Kind] = partial(
    _kind, "flowcontrol", "flowcontrol.apiserver.k8s.io", namespaced=False, status=True
)

BINDINGS = _sent("Binding")
EVICTIONS = _sent("Eviction", "policy")

_BELOW_PODS = (
    Subresource("attach", ("create", "get"), _sent("PodAttachOptions"), connects=True),
    Subresource("binding", ("create",), BINDINGS),
    Subresource("ephemeralcontainers", _WRITTEN),
    Subresource("eviction", ("create",), EVICTIONS),
    Subresource("exec", ("create", "get"), _sent("PodExecOptions"), connects=True),
    Subresource("log", ("get",), options=_sent("PodLogOptions")),
    Subresource("portforward", ("create", "get"), _sent("PodPortForwardOptions"), connects=True),
    Subresource("proxy", _PROXIED, _sent("PodProxyOptions"), connects=True),
    Subresource("resize", _WRITTEN, releases="1.33-"),
)
NODE_PROXY = Subresource("proxy", _PROXIED, _sent("NodeProxyOptions"), connects=True)
SERVICE_PROXY = Subresource("proxy", _PROXIED, _sent("ServiceProxyOptions"), connects=True)

COMPONENT_STATUSES = _in_core(
    "ComponentStatus",
    "componentstatuses",
    "cs",
    namespaced=False,
    verbs=("get", "list"),
    hashed=False,
    deprecation="v1 ComponentStatus is deprecated in v1.19+",
)
ENDPOINTS = _in_core(
    "Endpoints",
    "endpoints",
    "ep",
    deprecation="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
)
LIMIT_RANGES = _in_core("LimitRange", "limitranges", "limits")
NODES = _in_core("Node", "nodes", "no", namespaced=False, status=True, below=(NODE_PROXY,))
CLAIMS = _in_core("PersistentVolumeClaim", "persistentvolumeclaims", "pvc", status=True, shown_deleted=True)
VOLUMES = _in_core("PersistentVolume", "persistentvolumes", "pv", namespaced=False, status=True, shown_deleted=True)
PODS = _in_core("Pod", "pods", "po", categories=_ALL, status=True, below=_BELOW_PODS, shown_deleted=True)
POD_TEMPLATES = _in_core("PodTemplate", "podtemplates", shown_deleted=True)
REPLICATION_CONTROLLERS = _in_core(
    "ReplicationController", "replicationcontrollers", "rc", categories=_ALL, status=True, scale=_PODS
)

CONTROLLER_REVISIONS = _in_apps("ControllerRevision", "controllerrevisions")
DAEMON_SETS = _in_apps("DaemonSet", "daemonsets", "ds", categories=_ALL, status=True)
DEPLOYMENTS = _in_apps("Deployment", "deployments", "deploy", categories=_ALL, status=True, scale=_PODS)
REPLICA_SETS = _in_apps("ReplicaSet", "replicasets", "rs", categories=_ALL, status=True, scale=_PODS)
STATEFUL_SETS = _in_apps("StatefulSet", "statefulsets", "sts", categories=_ALL, status=True, scale=_PODS)

CRON_JOBS = _kind("batch", "batch", "CronJob", "cronjobs", "cj", categories=_ALL, status=True)
JOBS = _kind("batch", "batch", "Job", "jobs", categories=_ALL, status=True)

AUTOSCALERS = _kind(
    "autoscaling",
    "autoscaling",
    "HorizontalPodAutoscaler",
    "horizontalpodautoscalers",
    "hpa",
    categories=_ALL,
    status=True,
    versions=("v2", "v1"),
)

INGRESS_CLASSES = _in_networking("IngressClass", "ingressclasses", namespaced=False)
INGRESSES = _in_networking("Ingress", "ingresses", "ing", status=True)
IP_ADDRESSES = _in_networking("IPAddress", "ipaddresses", "ip", namespaced=False, releases="1.33-")
NETWORK_POLICIES = _in_networking("NetworkPolicy", "networkpolicies", "netpol")
SERVICE_CIDRS = _in_networking("ServiceCIDR", "servicecidrs", namespaced=False, status=True, releases="1.33-")

DISRUPTION_BUDGETS = _kind("policy", "policy", "PodDisruptionBudget", "poddisruptionbudgets", "pdb", status=True)

CSI_DRIVERS = _in_storage("CSIDriver", "csidrivers", shown_deleted=True)
CSI_NODES = _in_storage("CSINode", "csinodes", shown_deleted=True)
CSI_STORAGE_CAPACITIES = _in_storage("CSIStorageCapacity", "csistoragecapacities", namespaced=True)
STORAGE_CLASSES = _in_storage("StorageClass", "storageclasses", "sc", shown_deleted=True)
VOLUME_ATTACHMENTS = _in_storage("VolumeAttachment", "volumeattachments", status=True, shown_deleted=True)
VOLUME_ATTRIBUTES_CLASSES = _in_storage(
    "VolumeAttributesClass", "volumeattributesclasses", "vac", shown_deleted=True, releases="1.34-"
)

DEVICE_CLASSES = _in_resource("DeviceClass", "deviceclasses", namespaced=False)
RESOURCE_CLAIMS = _in_resource("ResourceClaim", "resourceclaims", status=True)
RESOURCE_CLAIM_TEMPLATES = _in_resource("ResourceClaimTemplate", "resourceclaimtemplates")
RESOURCE_SLICES = _in_resource("ResourceSlice", "resourceslices", namespaced=False)

ENDPOINT_SLICES = _kind("discovery", "discovery.k8s.io", "EndpointSlice", "endpointslices")
PRIORITY_CLASSES = _kind("scheduling", "scheduling.k8s.io", "PriorityClass", "priorityclasses", "pc", namespaced=False)
RUNTIME_CLASSES = _kind("node", "node.k8s.io", "RuntimeClass", "runtimeclasses", namespaced=False)
SIGNING_REQUESTS = _kind(
    "certificates",
    "certificates.k8s.io",
    "CertificateSigningRequest",
    "certificatesigningrequests",
    "csr",
    namespaced=False,
    status=True,
    below=(Subresource("approval", _WRITTEN),),
)

FLOW_SCHEMAS = _in_flowcontrol("FlowSchema", "flowschemas")
PRIORITY_LEVELS = _in_flowcontrol("PriorityLevelConfiguration", "prioritylevelconfigurations")

LATE = tuple(one for one in vars().values() if isinstance(one, Kind) and one is not EVICTIONS)
