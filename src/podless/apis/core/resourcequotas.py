"""Strategy of ResourceQuota, and the names that quotas use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podless.apis.shared.checks import immutable_error
from podless.apis.shared.typed import TypedStrategy
from podless.codec import quantity
from podless.codec.gotext import Named, Stringer
from podless.kinds.kind import Kind, Version
from podless.kinds.registry import Registry
from podless.kinds.strategy import Faults, MetadataPolicy
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime import lazy
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs.structfiles import load_struct

if TYPE_CHECKING:
    from podless.structs import gostructs
else:
    gostructs = lazy.LateModule("podless.structs.gostructs")

SCOPE_SELECTOR = load_struct("core/v1", "ScopeSelector")

_COUNT = "count/"
_UNCOUNTED = ("events",)  # not counted, because they change too often

_COMPUTE = frozenset(
    {
        "cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.ephemeral-storage",
        "limits.cpu", "limits.memory", "limits.ephemeral-storage",
    }
)  # fmt: skip
_OBJECTS = frozenset(
    {
        "configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets",
        "services", "services.loadbalancers", "services.nodeports",
    }
)  # fmt: skip
# resources that every cluster knows, even if no such kind is served
STANDARD = _COMPUTE | _OBJECTS | {"requests.storage"}
_OF_PODS = _COMPUTE - {"ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage"} | {"pods"}
# scope: the standard resources that it supports
_SCOPES = {
    "BestEffort": frozenset({"pods"}),
    "CrossNamespacePodAffinity": _OF_PODS,
    "NotBestEffort": _OF_PODS,
    "NotTerminating": _OF_PODS,
    "PriorityClass": _OF_PODS,
    "Terminating": _OF_PODS,
    "VolumeAttributesClass": frozenset({"persistentvolumeclaims", "requests.storage"}),
}
_BARE_SCOPES = frozenset(_SCOPES) - {"PriorityClass", "VolumeAttributesClass"}
_OPPOSED = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_HUGE_PAGES = ("hugepages-", "requests.hugepages-")
_UNSUPPORTED = "unsupported scope"
_SETS, _VALUELESS = ("In", "NotIn"), ("Exists", "DoesNotExist")


def counted_names(kind: Kind) -> tuple[str, ...]:
    """Return the names under which quotas count objects of a kind; () for uncounted kinds."""
    if not kind.namespaced or kind.virtual or kind.plural in _UNCOUNTED or kind.home is not None:
        return ()
    full = f"{_COUNT}{kind.resource}"
    return (full, kind.plural) if not kind.group and kind.plural in _OBJECTS else (full,)


def find_counted_kind(registry: Registry, name: str) -> Kind | None:
    """Return the kind that a quota counts under a name, or None."""
    plural, _, group = name.removeprefix(_COUNT).partition(".")
    kind = registry.get(group, plural)
    return kind if kind is not None and name in counted_names(kind) else None


def read_limits(quota: Object) -> dict[str, str]:
    """Return the limits on object counts. A quota with scopes has none, because scopes apply to pods or volumes."""
    spec = quota.get("spec") or {}
    return {} if spec.get("scopes") or spec.get("scopeSelector") else spec.get("hard") or {}


class QuotaStrategy(TypedStrategy):
    """Strategy of ResourceQuota."""

    metadata = MetadataPolicy(on_update=(0, 1))

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        for field_name, names in (("spec", ("hard",)), ("status", ("hard", "used"))):
            for name in names:
                quantity.round_quantities((obj.get(field_name) or {}).get(name))

    def prepare_create(self, version: Version, obj: Object) -> None:
        obj["status"] = {}

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        obj["status"] = old.get("status") or {}

    def validate_create(self, version: Version, obj: Object) -> Faults:
        spec, status = obj["spec"], obj["status"]
        errors = [*_check_amounts(spec.get("hard"), "spec.hard"), *_check_scopes(spec)]
        errors += _check_amounts(status.get("hard"), "status.hard")
        return [*errors, *_check_amounts(status.get("used"), "status.used")]

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        spec = obj["spec"]
        errors = [*_check_amounts(spec.get("hard"), "spec.hard"), *_check_scopes(spec)]
        if set(spec.get("scopes") or ()) != set(old["spec"].get("scopes") or ()):
            errors.append(immutable_error("spec.scopes", spec.get("scopes")))
        return errors

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        status = obj.get("status") or {}
        return [*_check_amounts(status.get("hard"), "status.hard"), *_check_amounts(status.get("used"), "status.used")]


def _check_amounts(amounts: dict[str, str] | None, path: str) -> field.Errors:
    from podless.apis.podspec import resources

    for name, text in each(amounts or {}).items():
        item_path = f"{path}[{name}]"
        errors = [*resources.resource_name(name, item_path)]
        if "/" not in name and not _is_standard(name):
            errors.append(field.invalid(item_path, Stringer(name), "must be a standard resource for quota"))
        yield from errors
        yield from resources.quantity_errors(name, text, item_path)


def _is_standard(name: str) -> bool:
    return name in STANDARD or name.startswith(_HUGE_PAGES)


def _check_scopes(spec: Object) -> list[FieldError]:
    scopes, hard = spec.get("scopes") or [], spec.get("hard") or {}
    selector = spec.get("scopeSelector") or {}
    match_expressions = selector.get("matchExpressions") or []
    unfit = {
        scope: _count_unsupported(scope, hard)
        for scope in {*scopes, *(item["scopeName"] for item in each(match_expressions))} & _SCOPES.keys()
    }
    errors: list[FieldError] = []
    for scope in each(scopes):
        errors += _check_scope(scope, unfit, "spec.scopes", scopes)
        if len(errors) > field.MAX:  # a Status has no more causes
            return errors
    errors += _validate_opposed_scopes(scopes, "spec.scopes", scopes)
    path, text = "spec.scopeSelector.matchExpressions", gostructs.format_struct(SCOPE_SELECTOR, selector)
    for item in each(match_expressions):
        if len(errors) > field.MAX:
            return errors
        scope, operator, values = item["scopeName"], item["operator"], item.get("values") or []
        if scope not in _SCOPES:
            errors.append(field.invalid(f"{path}.scopeName", Named(scope), _UNSUPPORTED))
        else:
            errors += _check_scope(scope, unfit, path, text)
        if scope in _BARE_SCOPES and operator != "Exists":
            detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
            detail += "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort "
            detail += "or ResourceQuotaScopeCrossNamespacePodAffinity"
            errors.append(field.invalid(f"{path}.operator", Named(operator), detail))
        if operator not in (*_SETS, *_VALUELESS):
            errors.append(field.invalid(f"{path}.operator", Named(operator), "not a valid selector operator"))
        elif operator in _SETS and not values:
            detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            errors.append(field.required(f"{path}.values", detail))
        elif operator in _VALUELESS and values:
            detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            errors.append(field.invalid(f"{path}.values", values, detail))
    return [
        *errors,
        *_validate_opposed_scopes([item["scopeName"] for item in each(match_expressions)], path, spec.get("scopes")),
    ]


def _count_unsupported(scope: str, hard: dict[str, str]) -> int:
    """Return how many of the resources do not support a scope."""
    return sum(_is_standard(name) and name not in _SCOPES[scope] for name in each(hard))


def _check_scope(scope: str, unfit: dict[str, int], path: str, shown_value: object) -> list[FieldError]:
    """Return an error for each resource that does not support a scope. unfit: their number by scope."""
    if scope not in unfit:
        return [field.invalid(path, shown_value, _UNSUPPORTED)]
    return [field.invalid(path, shown_value, "unsupported scope applied to resource")] * unfit[scope]


def _validate_opposed_scopes(scopes: list[str], path: str, shown_value: object) -> field.Errors:
    for pair in _OPPOSED:
        if set(pair) <= set(scopes):
            yield field.invalid(path, shown_value, "conflicting scopes")


STRATEGY = QuotaStrategy()
