"""The kinds that are loaded at first use: what discovery says of them, and where their rules are.

The rules of a kind are a module of its folder, named by its plural, with STRATEGY and STRUCT (or STRUCTS, by version).
Source: the discovery documents of kube-apiserver 1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

from podless.kinds.kind import Kind, Scale, Subresource, Version
from podless.kinds.late import NOT_YET, LateKind, Rules
from podless.meta.structs import Struct

_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
_WRITTEN = ("get", "patch", "update")
_PROXIED = ("create", "delete", "get", "patch", "update")
_ALL = ("all",)
_PODS = Scale(".spec.replicas", ".status.replicas", ".spec.selector")


def _rules(module: str, versions: tuple[str, ...]) -> Rules:
    """What the kind's own module says."""
    found = import_module(f"{__package__}.{module}")
    structs: Mapping[str, Struct] = getattr(found, "STRUCTS", None) or dict.fromkeys(versions, found.STRUCT)
    return Rules(found.STRATEGY, structs)


def _fields(types: str, noun: str) -> Rules:
    """A kind that has fields and no rules of its own."""
    from podless.kinds.builtin.typed import TypedStrategy

    module = import_module(f"podless.kinds.types.{types}")
    struct = next(one for one in vars(module).values() if isinstance(one, Struct) and one.name == noun)
    return Rules(TypedStrategy(), {"v1": struct})


def _kind(
    folder: str,
    group: str,
    noun: str,
    plural: str,
    *short: str,
    namespaced: bool = True,
    categories: tuple[str, ...] = (),
    status: bool = False,
    scale: Scale | None = None,
    below: tuple[Subresource, ...] = (),
    versions: tuple[str, ...] = ("v1",),
    verbs: tuple[str, ...] = _VERBS,
    hashed: bool = True,
    deprecation: str = "",
) -> Kind:
    old = bool(deprecation)
    return LateKind(
        group=group,
        plural=plural,
        kind=noun,
        singular=noun.lower(),
        list_kind=f"{noun}List",
        namespaced=namespaced,
        versions=tuple(
            Version(name, status=status, scale=scale, deprecated=old, deprecation_warning=deprecation)
            for name in versions
        ),
        storage_version=versions[0],
        strategy=NOT_YET,
        short_names=short,
        categories=categories,
        more_subresources=below,
        verbs=verbs,
        hashed=hashed,
        load=partial(_rules, f"{folder}.{plural}", versions),
    )


def _sent(noun: str, types: str, group: str = "") -> Kind:
    """A kind that is sent to a subresource, and never stored."""
    return LateKind(
        group=group,
        plural=f"{noun.lower()}s",
        kind=noun,
        singular=noun.lower(),
        list_kind=f"{noun}List",
        namespaced=True,
        versions=(Version("v1"),),
        storage_version="v1",
        strategy=NOT_YET,
        verbs=("create",),
        virtual=True,
        load=partial(_fields, types, noun),
    )


_in_core: Callable[..., Kind] = partial(_kind, "core", "")
_in_apps: Callable[..., Kind] = partial(_kind, "apps", "apps")
_in_networking: Callable[..., Kind] = partial(_kind, "networking", "networking.k8s.io")
_in_storage: Callable[..., Kind] = partial(_kind, "storage", "storage.k8s.io", namespaced=False)
_in_flowcontrol: Callable[..., Kind] = partial(
    _kind, "flowcontrol", "flowcontrol.apiserver.k8s.io", namespaced=False, status=True
)

BINDINGS = _sent("Binding", "pods")
EVICTIONS = _sent("Eviction", "policy", "policy")

_BELOW_PODS = (
    Subresource("attach", ("create", "get"), _sent("PodAttachOptions", "pods"), connects=True),
    Subresource("binding", ("create",), BINDINGS),
    Subresource("ephemeralcontainers", _WRITTEN),
    Subresource("eviction", ("create",), EVICTIONS),
    Subresource("exec", ("create", "get"), _sent("PodExecOptions", "pods"), connects=True),
    Subresource("log", ("get",), options=_sent("PodLogOptions", "pods")),
    Subresource("portforward", ("create", "get"), _sent("PodPortForwardOptions", "pods"), connects=True),
    Subresource("proxy", _PROXIED, _sent("PodProxyOptions", "pods"), connects=True),
    Subresource("resize", _WRITTEN),
)
NODE_PROXY = Subresource("proxy", _PROXIED, _sent("NodeProxyOptions", "nodes"), connects=True)
SERVICE_PROXY = Subresource("proxy", _PROXIED, _sent("ServiceProxyOptions", "pods"), connects=True)

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
CLAIMS = _in_core("PersistentVolumeClaim", "persistentvolumeclaims", "pvc", status=True)
VOLUMES = _in_core("PersistentVolume", "persistentvolumes", "pv", namespaced=False, status=True)
PODS = _in_core("Pod", "pods", "po", categories=_ALL, status=True, below=_BELOW_PODS)
POD_TEMPLATES = _in_core("PodTemplate", "podtemplates")
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
IP_ADDRESSES = _in_networking("IPAddress", "ipaddresses", "ip", namespaced=False)
NETWORK_POLICIES = _in_networking("NetworkPolicy", "networkpolicies", "netpol")
SERVICE_CIDRS = _in_networking("ServiceCIDR", "servicecidrs", namespaced=False, status=True)

DISRUPTION_BUDGETS = _kind("policy", "policy", "PodDisruptionBudget", "poddisruptionbudgets", "pdb", status=True)

CSI_DRIVERS = _in_storage("CSIDriver", "csidrivers")
CSI_NODES = _in_storage("CSINode", "csinodes")
CSI_STORAGE_CAPACITIES = _in_storage("CSIStorageCapacity", "csistoragecapacities", namespaced=True)
STORAGE_CLASSES = _in_storage("StorageClass", "storageclasses", "sc")
VOLUME_ATTACHMENTS = _in_storage("VolumeAttachment", "volumeattachments", status=True)
VOLUME_ATTRIBUTES_CLASSES = _in_storage("VolumeAttributesClass", "volumeattributesclasses", "vac")

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
