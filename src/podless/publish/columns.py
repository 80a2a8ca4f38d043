"""The columns of the built-in kinds' tables, as data.

Source: the recorded tables; the descriptions are those of the kinds' own documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Object = Mapping[str, Any]

NAME = (
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a "
    "client to request the generation of an appropriate name automatically. Name is primarily intended for creation "
    "idempotence and configuration definition. Cannot be updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
)
CREATED = (
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed "
    "to be set in happens-before order across separate operations. Clients may not set this value. It is represented "
    "in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)


@dataclass(frozen=True, slots=True)
class Age:
    """A cell that tells how long ago a time was; read gives the time as text, "" for no time; all else has no cell."""

    read: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One column: what its header says, and how an object's cell is read."""

    name: str
    type: str
    description: str
    read: Callable[[Object], Any] | Age
    format: str = ""
    priority: int = 0


def at(obj: Any, *path: str, default: Any = "") -> Any:
    """What is at a path of keys, or the default where there is nothing."""
    for key in path:
        obj = obj.get(key) if isinstance(obj, dict) else None
    return default if obj is None else obj


def _count(*path: str) -> Callable[[Object], int]:
    return lambda obj: len(at(obj, *path, default=()))


def _text(*path: str) -> Callable[[Object], str]:
    return lambda obj: str(at(obj, *path))


def _subjects(kind: str) -> Callable[[Object], str]:
    """The subjects of one kind, joined; service accounts with their namespaces."""

    def read(obj: Object) -> str:
        found = [subject for subject in at(obj, "subjects", default=()) if subject.get("kind") == kind]
        if kind == "ServiceAccount":
            return ", ".join(f"{subject.get('namespace', '')}/{subject.get('name', '')}" for subject in found)
        return ", ".join(subject.get("name", "") for subject in found)

    return read


def _role(obj: Object) -> str:
    return f"{at(obj, 'roleRef', 'kind')}/{at(obj, 'roleRef', 'name')}"


def _param_kind(obj: Object) -> str:
    kind = at(obj, "spec", "paramKind", default=None)
    return f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else "<unset>"


def _param_ref(obj: Object) -> str:
    namespace, name = at(obj, "spec", "paramRef", "namespace"), at(obj, "spec", "paramRef", "name")
    return (f"{namespace}/{name}" if namespace else name) if name else "<unset>"


def _first_seen(obj: Object) -> str:
    return str(at(obj, "firstTimestamp") or at(obj, "deprecatedFirstTimestamp") or at(obj, "eventTime"))


def _last_seen(obj: Object) -> str:
    last = at(obj, "lastTimestamp") or at(obj, "deprecatedLastTimestamp") or _first_seen(obj)
    return str(at(obj, "series", "lastObservedTime") or last)


def _about(obj: Object) -> str:
    target = at(obj, "involvedObject") or at(obj, "regarding", default={})
    kind, name = str(at(target, "kind")).lower(), at(target, "name")
    return f"{kind}/{name}" if name else kind


def _source(obj: Object) -> str:
    source = at(obj, "source") or at(obj, "deprecatedSource", default={})
    component = at(source, "component") or at(obj, "reportingComponent") or at(obj, "reportingController")
    host = at(source, "host") or at(obj, "reportingInstance")
    return f"{component}, {host}" if host else str(component)


def _times(obj: Object) -> int:
    count = at(obj, "count", default=0) or at(obj, "deprecatedCount", default=0) or 1
    return int(at(obj, "series", "count", default=count))


_CREATED_AT = _text("metadata", "creationTimestamp")
_NAME = Cell("Name", "string", NAME, _text("metadata", "name"), format="name")
_AGE = Cell("Age", "string", CREATED, Age(_CREATED_AT))

AGED = (_NAME, Cell("Age", "date", CREATED, Age(_CREATED_AT)))
DATED = (_NAME, Cell("Created At", "date", CREATED, _CREATED_AT))

SCALE = (
    _NAME,
    Cell(
        "Desired",
        "integer",
        "Number of desired replicas",
        lambda obj: at(obj, "spec", "replicas", default=None) or None,  # left out of a Scale when it is 0
    ),
    Cell(
        "Available",
        "integer",
        "Number of actual replicas",
        lambda obj: at(obj, "status", "replicas", default=0),
    ),
    AGED[1],
)


def _bindings(namespaced: bool) -> tuple[Cell, ...]:
    where = "roleBinding" if namespaced else "clusterRoleBinding"
    referred = (
        "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace."
        if namespaced
        else "RoleRef can only reference a ClusterRole in the global namespace."
    )
    rule = f"{referred} If the RoleRef cannot be resolved, the Authorizer must return an error."
    people = {"Users": "User", "Groups": "Group", "ServiceAccounts": "ServiceAccount"}
    others = (
        Cell(name, "string", f"{name} in the {where}", _subjects(kind), priority=1) for name, kind in people.items()
    )
    return (_NAME, Cell("Role", "string", rule, _role), _AGE, *others)


_FIELD_PATH = (
    "If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go "
    "field access statement, such as desiredState.manifest.containers[2]. For example, if the object reference is to "
    'a container within a pod, this would take on a value like: "spec.containers{name}" (where "name" refers to the '
    "name of the container that triggered the event) or if no container name is specified "
    '"spec.containers[2]" (container with index 2 in this pod). This syntax is chosen only to have some well-defined '
    "way of referencing a part of an object."
)
_EVENTS = (
    Cell(
        "Last Seen",
        "string",
        "The time at which the most recent occurrence of this event was recorded.",
        Age(_last_seen),
    ),
    Cell(
        "Type",
        "string",
        "Type of this event (Normal, Warning), new types could be added in the future",
        _text("type"),
    ),
    Cell(
        "Reason",
        "string",
        "This should be a short, machine understandable string that gives the reason for the transition into the "
        "object's current status.",
        _text("reason"),
    ),
    Cell("Object", "string", "The object that this event is about.", _about),
    Cell(
        "Subobject",
        "string",
        _FIELD_PATH,
        lambda obj: str(at(obj, "involvedObject", "fieldPath") or at(obj, "regarding", "fieldPath")),
        priority=1,
    ),
    Cell(
        "Source",
        "string",
        "The component reporting this event. Should be a short machine understandable string.",
        _source,
        priority=1,
    ),
    Cell(
        "Message",
        "string",
        "A human-readable description of the status of this operation.",
        lambda obj: str(at(obj, "message") or at(obj, "note")).strip(),
    ),
    Cell(
        "First Seen",
        "string",
        "The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)",
        Age(_first_seen),
        priority=1,
    ),
    Cell("Count", "string", "The number of times this event has occurred.", _times, priority=1),
    Cell("Name", "string", NAME, _text("metadata", "name"), format="name", priority=1),
)
_PARAM_KIND = Cell(
    "ParamKind",
    "string",
    "ParamKind specifies the kind of resources used to parameterize this policy",
    _param_kind,
)
_POLICY_BINDINGS = (
    _NAME,
    Cell(
        "PolicyName",
        "string",
        "PolicyName indicates the policy definition which the policy binding binded to",
        _text("spec", "policyName"),
    ),
    Cell(
        "ParamRef",
        "string",
        "ParamRef indicates the param resource which sets the configuration param",
        _param_ref,
    ),
    _AGE,
)
_WEBHOOKS = (
    _NAME,
    Cell(
        "Webhooks",
        "integer",
        "Webhooks indicates the number of webhooks registered in this configuration",
        _count("webhooks"),
    ),
    _AGE,
)
_SECRET_DATA = (
    "Data contains the secret data. Each key must consist of alphanumeric characters, '-', '_' or '.'. The serialized "
    "form of the secret data is a base64 encoded string, representing the arbitrary (possibly non-string) data value "
    "here. Described in https://tools.ietf.org/html/rfc4648#section-4"
)
_SECRET_TYPE = (
    "Used to facilitate programmatic handling of secret data. More info: "
    "https://kubernetes.io/docs/concepts/configuration/secret/#secret-types"
)
_DATA = (
    "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' or '.'. Values "
    "with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data must not overlap with the "
    "keys in the BinaryData field, this is enforced during validation process."
)
_HOLDER = (
    "holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader Election is used, "
    "the holder identity must be equal to the elected LeaseCandidate.metadata.name field."
)


def _used(limits: bool) -> Callable[[Object], str]:
    """What is used of what a quota allows: of limits on containers, or of all else."""

    def read(obj: Object) -> str:
        hard, used = at(obj, "status", "hard", default={}), at(obj, "status", "used", default={})
        names = sorted(name for name in hard if name.startswith("limits.") == limits)
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return read


_QUOTAS = (
    _NAME,
    Cell(
        "Request",
        "string",
        "Request represents a minimum amount of cpu/memory that a container may consume.",
        _used(limits=False),
    ),
    Cell(
        "Limit",
        "string",
        "Limits control the maximum amount of cpu/memory that a container may use concurrently.",
        _used(limits=True),
    ),
    _AGE,
)


def _service(obj: Object) -> str:
    service = at(obj, "spec", "service", default=None)
    return f"{at(service, 'namespace')}/{at(service, 'name')}" if service else "Local"


def _available(obj: Object) -> str:
    conditions = {one.get("type"): one for one in at(obj, "status", "conditions", default=())}
    found = conditions.get("Available", {})
    status, reason = found.get("status", "Unknown"), found.get("reason", "")
    return str(status if status == "True" or not reason else f"{status} ({reason})")


_API_SERVICES = (
    _NAME,
    Cell("Service", "string", "The reference to the service that hosts this API endpoint.", _service),
    Cell("Available", "string", "Whether this service is available.", _available),
    _AGE,
)


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
    _NAME,
    Cell("Type", "string", "", _text("spec", "type")),
    Cell("Cluster-IP", "string", "", lambda obj: (at(obj, "spec", "clusterIPs", default=()) or ("<none>",))[0]),
    Cell("External-IP", "string", "", _external),
    Cell("Port(s)", "string", "", _ports),
    _AGE,
    Cell("Selector", "string", "", _selector, priority=1),
)

# group and plural -> columns; a kind that is not here has DATED, as a real server's default is
BUILTIN: Mapping[tuple[str, str], tuple[Cell, ...]] = {
    ("extensions", "thirdpartyresources"): (
        _NAME,
        Cell("Description", "string", "What objects of the kind are", _text("description")),
        Cell(
            "Version(s)",
            "string",
            "The versions in which the objects are served",
            lambda obj: ",".join(str(at(one, "name")) for one in at(obj, "versions", default=())),
        ),
    ),
    ("", "services"): _SERVICES,
    ("", "namespaces"): (
        _NAME,
        Cell("Status", "string", "The status of the namespace", _text("status", "phase")),
        _AGE,
    ),
    ("", "configmaps"): (
        _NAME,
        Cell(
            "Data",
            "string",
            _DATA,
            lambda obj: len(at(obj, "data", default=())) + len(at(obj, "binaryData", default=())),
        ),
        _AGE,
    ),
    ("", "secrets"): (
        _NAME,
        Cell("Type", "string", _SECRET_TYPE, _text("type")),
        Cell("Data", "string", _SECRET_DATA, _count("data")),
        _AGE,
    ),
    ("", "serviceaccounts"): (_NAME, _AGE),
    ("apiregistration.k8s.io", "apiservices"): _API_SERVICES,
    ("", "resourcequotas"): _QUOTAS,
    ("", "events"): _EVENTS,
    ("events.k8s.io", "events"): _EVENTS,
    ("coordination.k8s.io", "leases"): (
        _NAME,
        Cell("Holder", "string", _HOLDER, _text("spec", "holderIdentity")),
        _AGE,
    ),
    ("rbac.authorization.k8s.io", "rolebindings"): _bindings(namespaced=True),
    ("rbac.authorization.k8s.io", "clusterrolebindings"): _bindings(namespaced=False),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"): _WEBHOOKS,
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"): _WEBHOOKS,
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"): (
        _NAME,
        Cell(
            "Validations",
            "integer",
            "Validations indicates the number of validation rules defined in this configuration",
            _count("spec", "validations"),
        ),
        _PARAM_KIND,
        _AGE,
    ),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies"): (
        _NAME,
        Cell(
            "Mutations",
            "integer",
            "Mutation indicates the number of mutations rules defined in this configuration",
            _count("spec", "mutations"),
        ),
        _PARAM_KIND,
        _AGE,
    ),
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"): _POLICY_BINDINGS,
    ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"): _POLICY_BINDINGS,
}
