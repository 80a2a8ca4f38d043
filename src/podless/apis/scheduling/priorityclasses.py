"""PriorityClass. Source: Kubernetes' pkg/apis/scheduling/validation and pkg/registry/scheduling/priorityclass."""

from __future__ import annotations

from podless.apis.shared import checks
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy
from podless.meta import field
from podless.meta.errors import Forbidden
from podless.runtime.jsonobject import Object

_RESERVED = "system-"
_MAX = 1000000000  # maximum value of classes that are not the system's
_POLICIES = ("PreemptLowerPriority", "Never")
_CRITICAL = 2 * _MAX
# the initial classes
SYSTEM: tuple[Object, ...] = (
    {
        "metadata": {"name": "system-cluster-critical"},
        "value": _CRITICAL,
        "description": (
            "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."
        ),
    },
    {
        "metadata": {"name": "system-node-critical"},
        "value": _CRITICAL + 1000,
        "description": "Used for system critical pods that must not be moved from their current node.",
    },
)
_SYSTEM_BY_NAME = {entry["metadata"]["name"]: entry for entry in SYSTEM}


class PriorityClassStrategy(TypedStrategy):
    """Strategy of PriorityClass. The value is immutable; names of the system are reserved."""

    has_generation = True
    metadata = MetadataPolicy(on_update=(0, 1))

    def increases_generation(self, version: Version, obj: Object, old: Object) -> bool:
        return False  # kube-apiserver sets the generation of a new object, and never increases it

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        if old is not None:
            if obj["value"] != old["value"]:
                yield field.forbidden("value", "may not be changed in an update.")
            yield from checks.validate_immutable_fields(obj, old, "preemptionPolicy", named=True)
            return
        if obj["metadata"].get("name", "").startswith(_RESERVED):
            if reason := _explain_not_system(obj):
                text = "priority class names with 'system-' prefix are reserved for system use only. error: "
                yield field.forbidden("metadata.name", text + reason)
        elif obj["value"] > _MAX:
            yield field.forbidden("value", f"maximum allowed value of a user defined priority is {_MAX}")
        if (policy := obj.get("preemptionPolicy")) is not None:
            yield from checks.validate_enum("preemptionPolicy", policy, _POLICIES)

    def prepare_delete(self, obj: Object) -> None:
        """Raise Forbidden for system classes."""
        name = obj["metadata"]["name"]
        if name in _SYSTEM_BY_NAME:
            reason = "this is a system priority class and cannot be deleted"
            raise Forbidden("priorityclasses", "scheduling.k8s.io", name, reason)


def _explain_not_system(obj: Object) -> str:
    """Return why a class is not a system class, or ""."""
    name = obj["metadata"]["name"]
    system_class = _SYSTEM_BY_NAME.get(name)
    if system_class is None:
        return f"{name} is not a known system priority class"
    if system_class["value"] != obj["value"]:
        return f"value of {name} PriorityClass must be {system_class['value']}"
    if obj.get("globalDefault"):
        return f"globalDefault of {name} PriorityClass must be false"
    return ""


STRATEGY = PriorityClassStrategy()
