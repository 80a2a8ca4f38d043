"""Strategy of ResourceQuota, and the names that quotas use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podless.apis.podspec.amounts import COMPUTE, COUNTED, HUGE_PAGES
from podless.apis.shared.checks import immutable_error
from podless.apis.shared.typed import TypedStrategy
from podless.codec import quantity
from podless.codec.gotext import Named, Stringer
from podless.kinds.kind import Kind, Version
from podless.kinds.registry import Registry
from podless.kinds.strategy import MetadataPolicy
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

# resources that every cluster knows, even if no such kind is served
STANDARD = COMPUTE | COUNTED | {"requests.storage"}
_OF_PODS = COMPUTE - {"ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage"} | {"pods"}
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
_HUGE_PAGES = (HUGE_PAGES, f"requests.{HUGE_PAGES}")
_UNSUPPORTED = "unsupported scope"
_SETS, _VALUELESS = ("In", "NotIn"), ("Exists", "DoesNotExist")
_EXISTS_ONLY = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


def list_counted_names(kind: Kind) -> tuple[str, ...]:
    """Return the names under which quotas count objects of a kind; () for uncounted kinds."""
    if not kind.namespaced or kind.virtual or kind.plural in _UNCOUNTED or kind.home is not None:
        return ()
    full = f"{_COUNT}{kind.resource}"
    return (full, kind.plural) if not kind.group and kind.plural in COUNTED else (full,)


def find_counted_kind(registry: Registry, name: str) -> Kind | None:
    """Return the kind that a quota counts under a name, or None."""
    plural, _, group = name.removeprefix(_COUNT).partition(".")
    kind = registry.get(group, plural)
    return kind if kind is not None and name in list_counted_names(kind) else None


def read_limits(quota: Object) -> dict[str, str]:
    """Return the limits on object counts. A quota with scopes has none, because scopes apply to pods or volumes."""
    spec = quota.get("spec") or {}
    return {} if spec.get("scopes") or spec.get("scopeSelector") else spec.get("hard") or {}


class QuotaStrategy(TypedStrategy):
    """Strategy of ResourceQuota."""

    metadata = MetadataPolicy(on_update=(0, 1))

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        for field_name, name in (("spec", "hard"), ("status", "hard"), ("status", "used")):
            quantity.round_quantities((obj.get(field_name) or {}).get(name))

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        spec = obj["spec"]
        yield from _validate_amounts(spec.get("hard"), "spec.hard")
        yield from _validate_scopes(spec)
        if old is None:
            yield from self.validate_status(version, obj, obj)
        elif set(spec.get("scopes") or ()) != set(old["spec"].get("scopes") or ()):
            yield immutable_error("spec.scopes", spec.get("scopes"))

    def validate_status(self, version: Version, obj: Object, old: Object) -> field.Errors:
        status = obj.get("status") or {}
        yield from _validate_amounts(status.get("hard"), "status.hard")
        yield from _validate_amounts(status.get("used"), "status.used")


def _validate_amounts(amounts: dict[str, str] | None, path: str) -> field.Errors:
    from podless.apis.podspec import resources

    for name, text in each(amounts or {}).items():
        item_path = f"{path}[{name}]"
        yield from resources.validate_resource_name(name, item_path)
        if "/" not in name and not _is_standard(name):
            yield field.invalid(item_path, Stringer(name), "must be a standard resource for quota")
        yield from resources.validate_quantity(name, text, item_path)


def _is_standard(name: str) -> bool:
    return name in STANDARD or name.startswith(_HUGE_PAGES)


def _validate_scopes(spec: Object) -> list[FieldError]:
    scopes, hard = spec.get("scopes") or [], spec.get("hard") or {}
    selector = spec.get("scopeSelector") or {}
    match_expressions = selector.get("matchExpressions") or []
    unfit = {
        scope: sum(_is_standard(name) and name not in _SCOPES[scope] for name in each(hard))
        for scope in {*scopes, *(item["scopeName"] for item in each(match_expressions))} & _SCOPES.keys()
    }
    errors: list[FieldError] = []
    for scope in each(scopes):
        errors += _validate_scope(scope, unfit, "spec.scopes", scopes)
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
            errors += _validate_scope(scope, unfit, path, text)
        if scope in _BARE_SCOPES and operator != "Exists":
            errors.append(field.invalid(f"{path}.operator", Named(operator), _EXISTS_ONLY))
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


def _validate_scope(scope: str, unfit: dict[str, int], path: str, shown_value: object) -> list[FieldError]:
    """Return an error for each resource that does not support a scope. unfit: their number by scope."""
    if scope not in unfit:
        return [field.invalid(path, shown_value, _UNSUPPORTED)]
    return [field.invalid(path, shown_value, "unsupported scope applied to resource")] * unfit[scope]


def _validate_opposed_scopes(scopes: list[str], path: str, shown_value: object) -> field.Errors:
    for pair in _OPPOSED:
        if set(pair) <= set(scopes):
            yield field.invalid(path, shown_value, "conflicting scopes")


STRATEGY = QuotaStrategy()
