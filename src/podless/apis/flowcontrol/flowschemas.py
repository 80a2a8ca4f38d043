"""Strategy of FlowSchema. Source: Kubernetes' pkg/apis/flowcontrol/validation."""

from __future__ import annotations

from collections.abc import Sequence

from podless.apis.flowcontrol import bootstrap
from podless.apis.shared import checks
from podless.apis.shared.typed import KeptMetadataStrategy
from podless.codec.gotext import Named
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs import gostructs

_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_METHODS = ("ByNamespace", "ByUser")
_SUBJECTS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}
_MAX = 10000
_EXEMPT = "exempt"
_WILDCARD = "*"
_NO_SUBJECTS = "subjects must contain at least one value"
_NO_RULES = "at least one of resourceRules and nonResourceRules has to be non-empty"
_NOWHERE = "resource rules that are not cluster scoped must supply at least one namespace"
_NAMESPACE = "each member of this list must be '*' or a DNS-1123 label; "


class FlowControlStrategy(KeptMetadataStrategy):
    """Strategy of both kinds of the group, FlowSchema and PriorityLevelConfiguration."""

    has_generation = True
    metadata = MetadataPolicy(on_update=(1, 0))

    def validate_status(self, version: Version, obj: Object, old: Object) -> field.Errors:
        return validate_conditions(obj)


def validate_conditions(obj: Object) -> field.Errors:
    """Require conditions to have unique types."""
    seen: set[str] = set()
    for index, condition in enumerate(each((obj.get("status") or {}).get("conditions") or [])):
        name, path = Named(condition.get("type") or ""), f"status.conditions[{index}].type"
        yield from checks.validate_unique(path, name, seen)
        if not name:
            yield field.required(path, "must not be empty")


class FlowSchemaStrategy(FlowControlStrategy):
    """Strategy of FlowSchema."""

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        """Require the two mandatory schemas to have their fixed specs."""
        name, spec = obj["metadata"].get("name") or "", obj["spec"]
        yield from _validate_spec(spec, name)
        fixed_spec = bootstrap.required_spec(bootstrap.bootstrap_schemas(), name)
        if fixed_spec is not None and spec != fixed_spec:
            text = gostructs.format_struct("flowcontrol/v1.FlowSchemaSpec", spec)
            yield field.invalid("spec", text, f"spec of '{name}' must equal the fixed value")
        yield from validate_conditions(obj)


def _validate_spec(spec: Object, name: str) -> field.Errors:
    path, precedence = "spec.matchingPrecedence", spec.get("matchingPrecedence") or 0
    if precedence <= 0:
        yield field.invalid(path, precedence, "must be a positive value")
    if precedence > _MAX:
        yield field.invalid(path, precedence, f"must not be greater than {_MAX}")
    if precedence == 1 and name != _EXEMPT:
        yield field.invalid(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")
    method = spec.get("distinguisherMethod")
    if method is not None and method["type"] not in _METHODS:
        yield field.not_supported("spec.distinguisherMethod.type", {"Type": method["type"]}, _METHODS)
    path, level = "spec.priorityLevelConfiguration.name", spec["priorityLevelConfiguration"]["name"]
    yield from checks.validate_name(path, level, names.check_subdomain, "must reference a priority level")
    for index, rule in enumerate(each(spec.get("rules") or [])):
        yield from _validate_rule(rule, f"spec.rules[{index}]")


def _validate_rule(rule: Object, path: str) -> field.Errors:
    subjects = rule.get("subjects") or []
    if not subjects:
        yield field.required(f"{path}.subjects", _NO_SUBJECTS)
    for index, subject in enumerate(each(subjects)):
        yield from _validate_subject(subject, f"{path}.subjects[{index}]")
    resources, non_resources = rule.get("resourceRules") or [], rule.get("nonResourceRules") or []
    if not resources and not non_resources:
        yield field.required(path, _NO_RULES)
    for index, resource in enumerate(each(resources)):
        yield from _validate_resources(resource, f"{path}.resourceRules[{index}]")
    for index, url_rule in enumerate(each(non_resources)):
        yield from _validate_urls(url_rule, f"{path}.nonResourceRules[{index}]")


def _validate_subject(subject: Object, path: str) -> field.Errors:
    noun = subject.get("kind") or ""
    field_name = _SUBJECTS.get(noun)
    if field_name is None:
        yield field.not_supported(f"{path}.kind", noun, _SUBJECTS)
        return
    subject_value, field_path = subject.get(field_name), f"{path}.{field_name}"
    if subject_value is None:
        yield field.required(field_path, f"{field_name} is required when subject kind is '{noun}'")
    elif noun == "ServiceAccount":
        yield from _validate_account(subject_value, field_path)
    elif not subject_value["name"]:
        yield field.required(f"{field_path}.name")
    for kind, name in (("ServiceAccount", "serviceAccount"), ("User", "user"), ("Group", "group")):
        if name != field_name and subject.get(name) is not None:
            yield field.forbidden(f"{path}.{name}", f"{name} is forbidden when subject kind is not '{kind}'")


def _validate_account(account: Object, path: str) -> field.Errors:
    name, space = account["name"], account["namespace"]
    if name != _WILDCARD:
        yield from checks.validate_name(f"{path}.name", name, names.check_subdomain)
    yield from checks.validate_name(f"{path}.namespace", space, missing="must specify namespace for service account")


def _validate_verbs(rule: Object, path: str) -> field.Errors:
    verbs = rule.get("verbs") or []
    if not verbs:
        yield field.required(f"{path}.verbs", "verbs must contain at least one value")
    elif _WILDCARD in verbs:
        yield from _validate_wildcard(verbs, f"{path}.verbs", "verbs")
    elif not set(verbs) <= set(_VERBS):
        yield field.not_supported(f"{path}.verbs", verbs, _VERBS)


def _validate_wildcard(values: Sequence[str], path: str, noun: str) -> field.Errors:
    """Reject other values next to "*"."""
    if _WILDCARD in values and len(values) > 1:
        yield field.invalid(path, values, f"if '*' is present, must not specify other {noun}")


def _validate_resources(rule: Object, path: str) -> field.Errors:
    yield from _validate_verbs(rule, path)
    for name, singular, plural in (("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")):
        values = rule.get(name) or []
        if not values:
            yield field.required(f"{path}.{name}", f"resource rules must supply at least one {singular}")
        yield from _validate_wildcard(values, f"{path}.{name}", plural)
    spaces = rule.get("namespaces") or []
    if not spaces and not rule.get("clusterScope"):
        yield field.required(f"{path}.namespaces", _NOWHERE)
    elif _WILDCARD in spaces:
        yield from _validate_wildcard(spaces, f"{path}.namespaces", "namespaces")
    else:
        for index, space in enumerate(each(spaces)):
            space_path = f"{path}.namespaces[{index}]"
            yield from (field.invalid(space_path, space, _NAMESPACE + text) for text in names.check_label_name(space))


def _validate_urls(rule: Object, path: str) -> field.Errors:
    yield from _validate_verbs(rule, path)
    urls, path = rule.get("nonResourceURLs") or [], f"{path}.nonResourceURLs"
    if not urls:
        yield field.required(path, "nonResourceURLs must contain at least one value")
    elif _WILDCARD in urls:
        yield from _validate_wildcard(urls, path, "non-resource URLs")
    else:
        for index, url in enumerate(each(urls)):
            if fault := _url_fault(url):
                yield field.invalid(f"{path}[{index}]", url, fault)


def _url_fault(url: str) -> str:
    """Return the fault of a non-resource URL, or ""."""
    if not url:
        return "must not be empty"
    if url == "/":
        return ""
    if not url.startswith("/"):
        return "must start with slash"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    if _WILDCARD in url and (url.count(_WILDCARD) > 1 or not url.endswith("/*")):
        return "wildcard can only do suffix matching"
    return ""


STRATEGY = FlowSchemaStrategy()
