"""Strategies of Role, ClusterRole and their bindings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podless.apis.shared import checks
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import ValidationCost
from podless.meta import field, names, validation
from podless.runtime import lazy
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

if TYPE_CHECKING:
    from podless.structs import gostructs
else:
    gostructs = lazy.LateModule("podless.structs.gostructs")

GROUP = "rbac.authorization.k8s.io"
_PEOPLE = ("User", "Group")
_ONE_KIND = "rules cannot apply to both regular resources and non-resource URLs"


class _RBACStrategy(TypedStrategy):
    """Strategy of all kinds of the group."""

    rearranged = False
    allow_create_on_update = True
    naming = names.PATH_SEGMENTS
    checking = ValidationCost(once="UpdatesOnce")


class RoleStrategy(_RBACStrategy):
    """Strategy of roles. namespaced: it is Role, which cannot have non-resource URLs."""

    def __init__(self, namespaced: bool) -> None:
        self._namespaced = namespaced

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        for index, rule in enumerate(each(obj.get("rules") or [])):
            yield from self._validate_rule(rule, f"rules[{index}]")
        if (aggregation := obj.get("aggregationRule")) is not None:
            yield from _validate_aggregation(aggregation)

    def _validate_rule(self, rule: Object, path: str) -> field.Errors:
        if not rule.get("verbs"):
            yield field.required(f"{path}.verbs", "verbs must contain at least one value")
        if urls := rule.get("nonResourceURLs"):
            if self._namespaced:
                text = "namespaced rules cannot apply to non-resource URLs"
                yield field.invalid(f"{path}.nonResourceURLs", urls, text)
            if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
                yield field.invalid(f"{path}.nonResourceURLs", urls, _ONE_KIND)
            return
        if not rule.get("apiGroups"):
            yield field.required(f"{path}.apiGroups", "resource rules must supply at least one api group")
        if not rule.get("resources"):
            yield field.required(f"{path}.resources", "resource rules must supply at least one resource")


def _validate_aggregation(aggregation: Object) -> field.Errors:
    path = "aggregationRule.clusterRoleSelectors"
    cluster_role_selectors = aggregation.get("clusterRoleSelectors") or []
    if not cluster_role_selectors:
        yield field.required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")
        return
    for index, selector in enumerate(each(cluster_role_selectors)):
        if errors := validation.validate_selector(selector, f"{path}[{index}]"):
            yield from errors
            yield field.invalid(f"{path}[{index}]", None, "invalid label selector.")


class RoleBindingStrategy(_RBACStrategy):
    """Strategy of bindings, whose roleRef is immutable. roles: the allowed kinds of role."""

    def __init__(self, roles: tuple[str, ...], namespaced: bool) -> None:
        self._roles = roles
        self._namespaced = namespaced

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        if obj.get("subjects"):
            obj["subjects"] = [_add_api_group(subject) for subject in each(obj["subjects"])]

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        ref = obj["roleRef"]
        yield from field.one_of("roleRef.apiGroup", ref["apiGroup"], [GROUP], named=False)
        yield from field.one_of("roleRef.kind", ref["kind"], self._roles, named=False)
        yield from checks.validate_name("roleRef.name", ref["name"], names.check_path_segment)
        for index, subject in enumerate(each(obj.get("subjects") or [])):
            yield from self._validate_subject(subject, f"subjects[{index}]")
        if old is not None and ref != old["roleRef"]:
            yield field.invalid("roleRef", gostructs.format_struct("rbac/v1.RoleRef", ref), "cannot change roleRef")

    def _validate_subject(self, subject: Object, path: str) -> field.Errors:
        kind, name, group = subject["kind"], subject["name"], subject.get("apiGroup", "")
        if not name:
            yield field.required(f"{path}.name")
        if kind == "ServiceAccount":
            yield from field.invalid_details(f"{path}.name", name, names.check_subdomain(name) if name else ())
            yield from field.one_of(f"{path}.apiGroup", group, [""], named=False)
            if not self._namespaced and not subject.get("namespace"):
                yield field.required(f"{path}.namespace")
        elif kind in _PEOPLE:
            yield from field.one_of(f"{path}.apiGroup", group, [GROUP], named=False)
        else:
            yield field.not_supported(f"{path}.kind", kind, ["ServiceAccount", *_PEOPLE], named=False)


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
