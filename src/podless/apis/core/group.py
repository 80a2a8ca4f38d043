"""The core group, which has no name."""

from podless.apis.authentication.group import TOKEN_REQUESTS
from podless.apis.policy.group import EVICTIONS
from podless.apis.shared.group import READ, VERBS, WRITE, Group
from podless.kinds.kind import Scale, Subresource

_CATEGORIES = ("all",)
_WRITTEN = ("get", "patch", "update")
_PROXIED = ("create", "delete", "get", "patch", "update")

GROUP = Group(
    "",
    18000,
    view=(
        (
            READ,
            "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers "
            "replicationcontrollers/scale serviceaccounts services services/status",
        ),
        (
            READ,
            "bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas "
            "resourcequotas/status",
        ),
        (READ, "namespaces"),
    ),
    edit=(
        (READ, "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy"),
        ("impersonate", "serviceaccounts"),
        (WRITE, "pods pods/attach pods/exec pods/portforward pods/proxy"),
        ("create", "pods/eviction"),
        (
            WRITE,
            "configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets "
            "serviceaccounts services services/proxy",
        ),
        ("create", "serviceaccounts/token"),
    ),
    unlisted={"v1": "PodStatusResult RangeAllocation SerializedReference"},
)

BINDINGS = GROUP.kind("Binding", verbs=("create",), virtual=True)
COMPONENT_STATUSES = GROUP.kind(
    "ComponentStatus",
    "cs",
    namespaced=False,
    verbs=("get", "list"),
    hashed=False,
    deprecated={"v1": "v1 ComponentStatus is deprecated in v1.19+"},
)
CONFIG_MAPS = GROUP.kind("ConfigMap", "cm", needed=True)
ENDPOINTS = GROUP.kind(
    "Endpoints",
    "ep",
    plural="endpoints",
    deprecated={"v1": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"},
    deprecated_in="1.33-",
)
EVENTS = GROUP.kind("Event", "ev", needed=True, others=("events.group:NEW_EVENTS",))
LIMIT_RANGES = GROUP.kind("LimitRange", "limits")
NAMESPACES = GROUP.kind(
    "Namespace",
    "ns",
    needed=True,
    namespaced=False,
    status=True,
    subresources=(Subresource("finalize", ("update",)),),
    verbs=tuple(verb for verb in VERBS if verb != "deletecollection"),
)
NODES = GROUP.kind(
    "Node",
    "no",
    namespaced=False,
    status=True,
    subresources=(Subresource("proxy", _PROXIED, GROUP.send("NodeProxyOptions"), connects=True),),
)
CLAIMS = GROUP.kind("PersistentVolumeClaim", "pvc", status=True, shown_deleted=True)
VOLUMES = GROUP.kind("PersistentVolume", "pv", namespaced=False, status=True, shown_deleted=True)
PODS = GROUP.kind(
    "Pod",
    "po",
    categories=_CATEGORIES,
    status=True,
    subresources=(
        Subresource("attach", ("create", "get"), GROUP.send("PodAttachOptions"), connects=True),
        Subresource("binding", ("create",), BINDINGS),
        Subresource("ephemeralcontainers", _WRITTEN),
        Subresource("eviction", ("create",), EVICTIONS),
        Subresource("exec", ("create", "get"), GROUP.send("PodExecOptions"), connects=True),
        Subresource("log", ("get",), options=GROUP.send("PodLogOptions")),
        Subresource("portforward", ("create", "get"), GROUP.send("PodPortForwardOptions"), connects=True),
        Subresource("proxy", _PROXIED, GROUP.send("PodProxyOptions"), connects=True),
        Subresource("resize", _WRITTEN, releases="1.33-"),
    ),
    shown_deleted=True,
)
POD_TEMPLATES = GROUP.kind("PodTemplate", shown_deleted=True)
QUOTAS = GROUP.kind("ResourceQuota", "quota", needed=True, status=True, shown_deleted=True)
REPLICATION_CONTROLLERS = GROUP.kind(
    "ReplicationController",
    "rc",
    categories=_CATEGORIES,
    status=True,
    scale=Scale(".spec.replicas", ".status.replicas", ".spec.selector", selects_with_text=False),
)
SECRETS = GROUP.kind("Secret", needed=True)
SERVICES = GROUP.kind(
    "Service",
    "svc",
    needed=True,
    shown_deleted=True,
    categories=_CATEGORIES,
    status=True,
    subresources=(Subresource("proxy", _PROXIED, GROUP.send("ServiceProxyOptions"), connects=True),),
)
SERVICE_ACCOUNTS = GROUP.kind(
    "ServiceAccount",
    "sa",
    needed=True,
    shown_deleted=True,
    subresources=(Subresource("token", ("create",), TOKEN_REQUESTS),),
)
