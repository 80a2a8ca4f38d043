"""Strategies of Role, ClusterRole and their bindings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podless.apis.shared import checks
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, ValidationCost
from podless.meta import field, labelselector, names
from podless.meta.field import FieldError
from podless.runtime import lazy
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs.structfiles import load_struct

if TYPE_CHECKING:
    from podless.structs import gostructs
else:
    gostructs = lazy.LateModule("podless.structs.gostructs")

_ROLE_REF = load_struct("rbac/v1", "RoleRef")

GROUP = "rbac.authorization.k8s.io"
_PEOPLE = ("User", "Group")
_ONE_KIND = "rules cannot apply to both regular resources and non-resource URLs"


class RoleStrategy(TypedStrategy):
    """Strategy of roles. namespaced: it is Role, which cannot have non-resource URLs."""

    allow_create_on_update = True
    naming = names.PATH_SEGMENTS
    checking = ValidationCost(once="UpdatesOnce")

    def __init__(self, namespaced: bool) -> None:
        self._namespaced = namespaced

    def validate_create(self, version: Version, obj: Object) -> Faults:
        errors: list[FieldError] = []
        for index, rule in enumerate(each(obj.get("rules") or [])):
            errors += self._validate_rule(rule, f"rules[{index}]")
        aggregation = obj.get("aggregationRule")
        return errors if aggregation is None else [*errors, *_validate_aggregation(aggregation)]

    def _validate_rule(self, rule: Object, path: str) -> list[FieldError]:
        errors = []
        if not rule.get("verbs"):
            errors.append(field.required(f"{path}.verbs", "verbs must contain at least one value"))
        if urls := rule.get("nonResourceURLs"):
            ur_ls_path = f"{path}.nonResourceURLs"
            if self._namespaced:
                errors.append(field.invalid(ur_ls_path, urls, "namespaced rules cannot apply to non-resource URLs"))
            if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
                errors.append(field.invalid(ur_ls_path, urls, _ONE_KIND))
            return errors
        if not rule.get("apiGroups"):
            errors.append(field.required(f"{path}.apiGroups", "resource rules must supply at least one api group"))
        if not rule.get("resources"):
            errors.append(field.required(f"{path}.resources", "resource rules must supply at least one resource"))
        return errors


def _validate_aggregation(aggregation: Object) -> field.Errors:
    path = "aggregationRule.clusterRoleSelectors"
    cluster_role_selectors = aggregation.get("clusterRoleSelectors") or []
    if not cluster_role_selectors:
        yield field.required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")
        return
    for index, selector in enumerate(each(cluster_role_selectors)):
        if errors := labelselector.validate_selector(selector, f"{path}[{index}]"):
            yield from errors
            yield field.invalid(f"{path}[{index}]", None, "invalid label selector.")


class RoleBindingStrategy(TypedStrategy):
    """Strategy of bindings, whose roleRef is immutable. roles: the allowed kinds of role."""

    allow_create_on_update = True
    naming = names.PATH_SEGMENTS
    checking = ValidationCost(once="UpdatesOnce")

    def __init__(self, roles: tuple[str, ...], namespaced: bool) -> None:
        self._roles = roles
        self._namespaced = namespaced

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        if obj.get("subjects"):
            obj["subjects"] = [_add_api_group(subject) for subject in each(obj["subjects"])]

    def validate_create(self, version: Version, obj: Object) -> Faults:
        errors = []
        ref = obj["roleRef"]
        if ref["apiGroup"] != GROUP:
            errors.append(field.not_supported("roleRef.apiGroup", ref["apiGroup"], [GROUP], named=False))
        errors += field.one_of("roleRef.kind", ref["kind"], self._roles, named=False)
        errors += checks.validate_name("roleRef.name", ref["name"], names.path_segment)
        for index, subject in enumerate(each(obj.get("subjects") or [])):
            errors += self._validate_subject(subject, f"subjects[{index}]")
        return errors

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        errors = list(self.validate_create(version, obj))
        ref = obj["roleRef"]
        if ref != old["roleRef"]:
            errors.append(field.invalid("roleRef", gostructs.format_struct(_ROLE_REF, ref), "cannot change roleRef"))
        return errors

    def _validate_subject(self, subject: Object, path: str) -> list[FieldError]:
        errors = []
        kind, name, group = subject["kind"], subject["name"], subject.get("apiGroup", "")
        if not name:
            errors.append(field.required(f"{path}.name"))
        if kind == "ServiceAccount":
            if name:
                errors += field.invalid_details(f"{path}.name", name, names.check_subdomain(name))
            if group:
                errors.append(field.not_supported(f"{path}.apiGroup", group, [""], named=False))
            if not self._namespaced and not subject.get("namespace"):
                errors.append(field.required(f"{path}.namespace"))
        elif kind in _PEOPLE:
            if group != GROUP:
                errors.append(field.not_supported(f"{path}.apiGroup", group, [GROUP], named=False))
        else:
            errors.append(field.not_supported(f"{path}.kind", kind, ["ServiceAccount", *_PEOPLE], named=False))
        return errors


def _add_api_group(subject: Object) -> Object:
    """Return the subject with the API group of its kind, in the struct's field order."""
    if subject.get("apiGroup") or subject["kind"] not in _PEOPLE:
        return subject
    completed: Object = {"kind": subject["kind"], "apiGroup": GROUP}
    return completed | {name: value for name, value in each(subject).items() if name not in completed}


CLUSTER_ROLE_BINDING = RoleBindingStrategy(("ClusterRole",), namespaced=False)
CLUSTER_ROLE = RoleStrategy(namespaced=False)
ROLE_BINDING = RoleBindingStrategy(("Role", "ClusterRole"), namespaced=True)
ROLE = RoleStrategy(namespaced=True)
