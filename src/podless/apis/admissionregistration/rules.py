"""Validates rules, selectors and match conditions: the common parts of webhooks, policies and bindings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from podless.apis.shared import checks
from podless.kinds.kind import Kind
from podless.kinds.strategy import Strategy, ValidationCost
from podless.meta import field, names, validation
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

if TYPE_CHECKING:
    from podless.cel.policies import Environment

FAILURE_POLICIES = ("Fail", "Ignore")
MATCH_POLICIES = ("Equivalent", "Exact")
REINVOCATIONS = ("IfNeeded", "Never")
_CHANGING = ("*", "CONNECT", "CREATE", "UPDATE")
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")
_MAX_CONDITIONS = 64


def require_choice(obj: Object, name: str, choices: Sequence[str], path: str) -> field.Errors:
    """Validate an enum field that is a pointer in Go: an empty one is not missing but unsupported."""
    value, path = obj.get(name), f"{path}.{name}"
    yield from [field.required(path)] if value is None else field.one_of(path, value, choices)


def validate_rule(rule: Object, path: str) -> field.Errors:
    """Validate a rule: operations, groups, versions, resources and scope."""
    operations = rule.get("operations") or []
    yield from _require_exclusive(operations, f"{path}.operations", "operations")
    for index, operation in enumerate(each(operations)):
        yield from field.one_of(f"{path}.operations[{index}]", operation, _OPERATIONS)
    yield from _require_exclusive(rule.get("apiGroups") or [], f"{path}.apiGroups", "API groups")
    yield from _require_exclusive(rule.get("apiVersions") or [], f"{path}.apiVersions", "API versions")
    for index, version in enumerate(each(rule.get("apiVersions") or [])):
        if not version:
            yield field.required(f"{path}.apiVersions[{index}]")
    yield from _validate_resources(rule.get("resources") or [], f"{path}.resources")
    yield from field.one_of(f"{path}.scope", rule.get("scope"), _SCOPES)


def _require_exclusive(values: list[str], path: str, noun: str) -> field.Errors:
    """Require values, and reject others beside "*"."""
    if not values:
        yield field.required(path)
    elif len(values) > 1 and "*" in values:
        yield field.invalid(path, values, f"if '*' is present, must not specify other {noun}")


def _validate_resources(resources: list[str], path: str) -> field.Errors:
    if not resources:
        yield field.required(path)
    with_subresources: set[str] = set()  # resources that are listed with all subresources (NAME/*)
    everywhere: set[str] = set()  # subresources that are listed for all resources (*/NAME)
    plain = False
    for index, entry in enumerate(each(resources)):
        item_path = f"{path}[{index}]"
        if not entry:
            yield field.required(item_path)
            continue
        resource, slash, subresource = entry.partition("/")
        if not slash:
            plain = entry != "*"
            continue
        if resource in with_subresources:
            yield field.invalid(item_path, entry, f"if '{resource}/*' is present, must not specify {entry}")
        if subresource in everywhere:
            yield field.invalid(item_path, entry, f"if '*/{subresource}' is present, must not specify {entry}")
        if subresource == "*":
            with_subresources.add(resource)
        if resource == "*":
            everywhere.add(subresource)
    if len(resources) > 1 and "*/*" in resources:
        yield field.invalid(path, resources, "if '*/*' is present, must not specify other resources")
    if "*" in resources and plain:
        text = "if '*' is present, must not specify other resources without subresources"
        yield field.invalid(path, resources, text)


def validate_matching(matching: Object, path: str) -> field.Errors:
    """Validate a MatchResources."""
    yield from require_choice(matching, "matchPolicy", MATCH_POLICIES, path)
    for name in ("namespaceSelector", "objectSelector"):
        selector, at = matching.get(name), f"{path}.{name}"
        yield from [field.required(at)] if selector is None else validation.validate_selector(selector, at)
    for name in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(each(matching.get(name) or [])):
            yield from _validate_named(rule, f"{path}.{name}[{index}]")


def _validate_named(rule: Object, path: str) -> field.Errors:
    seen: set[str] = set()
    for index, name in enumerate(each(rule.get("resourceNames") or [])):
        name_path = f"{path}.resourceNames[{index}]"
        yield from field.invalid_details(name_path, name, names.check_path_segment(name))
        yield from checks.validate_unique(name_path, name, seen)
    yield from validate_rule(rule, path)


class ExpressionStrategy(Strategy[Kind]):
    """Strategy of kinds with expressions in CEL."""

    checking = ValidationCost(preload=True)

    def load_rules(self) -> None:
        from podless.cel.policies import Environment

        validate_expression("object.metadata.name.matches('a')", Environment(), "", kind="BOOL")


def validate_conditions(conditions: Sequence[Object], environment: Environment, path: str) -> field.Errors:
    """Validate the matchConditions of a webhook or policy."""
    if len(conditions) > _MAX_CONDITIONS:
        yield field.too_many(path, len(conditions), _MAX_CONDITIONS)
    seen: set[str] = set()
    for index, condition in enumerate(each(conditions)):
        at, name = f"{path}[{index}]", condition["name"]
        yield from validate_expression(condition["expression"].strip(), environment, f"{at}.expression", kind="BOOL")
        if name:
            yield from field.invalid_details(f"{at}.name", name, names.check_qualified_name(name))
            yield from checks.validate_unique(f"{at}.name", name, seen)
        else:
            yield field.required(f"{at}.name")


def validate_expression(
    source: str,
    environment: Environment,
    path: str,
    *,
    kind: str,
    missing: str = "",
    authorizer: bool = True,
    patches: bool = False,
    original: str = "",
) -> list[FieldError]:
    """Validate an expression, which must be set and compile.

    kind: the type of its result, a name in podless.cel.policies. missing: the error text for a blank expression.
    authorizer, patches: see `Environment.compile`. original: the expression in errors, if it differs from the source.
    """
    from podless.cel import policies  # a slow import, and few objects have expressions

    if not source.strip():
        return [field.required(path, missing)]
    rule = environment.compile_expression(source, getattr(policies, kind), authorizer=authorizer, patches=patches)
    if not rule.error:
        return []
    return [field.internal(path, rule.error) if rule.internal else field.invalid(path, original or source, rule.error)]


def reject_deletes(matching: Object, path: str) -> field.Errors:
    """Reject deletes in the rules of a mutating policy or binding."""
    for rule in each(matching.get("resourceRules") or []):
        for operation in each(rule.get("operations") or []):
            yield from field.one_of(f"{path}.resourceRules.operations", operation, _CHANGING)
