"""Validates rules, selectors and match conditions: the common parts of webhooks, policies and bindings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from podless.meta import field, labelselector, names
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


def check_choice(
    obj: Object, name: str, choices: Sequence[str], path: str, *, required: bool = False
) -> list[FieldError]:
    """Validate an enum field that is a pointer in Go, so that an empty one is not missing but unsupported.

    required: reject an absent field.
    """
    value = obj.get(name)
    if value is None:
        return [field.required(f"{path}.{name}")] if required else []
    return [] if value in choices else [field.not_supported(f"{path}.{name}", value, choices)]


def check_rule(rule: Object, path: str) -> list[FieldError]:
    """Validate a rule: operations, groups, versions, resources and scope."""
    errors = _check_operations(rule.get("operations") or [], f"{path}.operations")
    for name, noun in (("apiGroups", "groups"), ("apiVersions", "versions")):
        names_given = rule.get(name) or []
        if not names_given:
            errors.append(field.required(f"{path}.{name}"))
        if len(names_given) > 1 and "*" in names_given:
            text = f"if '*' is present, must not specify other API {noun}"
            errors.append(field.invalid(f"{path}.{name}", names_given, text))
    for index, version in enumerate(each(rule.get("apiVersions") or [])):
        if not version:
            errors.append(field.required(f"{path}.apiVersions[{index}]"))
    errors += _check_resources(rule.get("resources") or [], f"{path}.resources")
    return errors + check_choice(rule, "scope", _SCOPES, path)


def _check_operations(operations: list[str], path: str) -> list[FieldError]:
    errors = [] if operations else [field.required(path)]
    if len(operations) > 1 and "*" in operations:
        errors.append(field.invalid(path, operations, "if '*' is present, must not specify other operations"))
    return errors + [
        field.not_supported(f"{path}[{index}]", operation, _OPERATIONS)
        for index, operation in enumerate(each(operations))
        if operation not in _OPERATIONS
    ]


def _check_resources(resources: list[str], path: str) -> list[FieldError]:
    errors = [] if resources else [field.required(path)]
    with_subresources: set[str] = set()  # resources that are listed with all subresources (NAME/*)
    everywhere: set[str] = set()  # subresources that are listed for all resources (*/NAME)
    plain = False
    for index, entry in enumerate(each(resources)):
        item_path = f"{path}[{index}]"
        if not entry:
            errors.append(field.required(item_path))
            continue
        resource, slash, subresource = entry.partition("/")
        if not slash:
            plain = entry != "*"
            continue
        if resource in with_subresources:
            errors.append(field.invalid(item_path, entry, f"if '{resource}/*' is present, must not specify {entry}"))
        if subresource in everywhere:
            errors.append(field.invalid(item_path, entry, f"if '*/{subresource}' is present, must not specify {entry}"))
        if subresource == "*":
            with_subresources.add(resource)
        if resource == "*":
            everywhere.add(subresource)
    if len(resources) > 1 and "*/*" in resources:
        errors.append(field.invalid(path, resources, "if '*/*' is present, must not specify other resources"))
    if "*" in resources and plain:
        text = "if '*' is present, must not specify other resources without subresources"
        errors.append(field.invalid(path, resources, text))
    return errors


def check_matching(matching: Object, path: str) -> field.Errors:
    """Validate a MatchResources."""
    yield from check_choice(matching, "matchPolicy", MATCH_POLICIES, path, required=True)
    for name in ("namespaceSelector", "objectSelector"):
        selector, at = matching.get(name), f"{path}.{name}"
        yield from [field.required(at)] if selector is None else labelselector.validate_selector(selector, at)
    for name in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(each(matching.get(name) or [])):
            yield from _check_named(rule, f"{path}.{name}[{index}]")


def _check_named(rule: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, name in enumerate(each(rule.get("resourceNames") or [])):
        name_path = f"{path}.resourceNames[{index}]"
        errors += field.invalid_details(name_path, name, names.path_segment(name))
        if name in seen:
            errors.append(field.duplicate(name_path, name))
        seen.add(name)
    return errors + check_rule(rule, path)


def load_expressions() -> None:
    """Import the modules that compile expressions, which would otherwise be imported at first use."""
    from podless.cel.policies import Environment

    check_expression("object.metadata.name.matches('a')", Environment(), "", kind="BOOL")


def check_conditions(conditions: Sequence[Object], environment: Environment, path: str) -> field.Errors:
    """Validate the matchConditions of a webhook or policy."""
    if len(conditions) > _MAX_CONDITIONS:
        yield field.too_many(path, len(conditions), _MAX_CONDITIONS)
    seen: set[str] = set()
    for index, condition in enumerate(each(conditions)):
        at, name = f"{path}[{index}]", condition["name"]
        yield from check_expression(condition["expression"].strip(), environment, f"{at}.expression", kind="BOOL")
        yield from field.invalid_details(f"{at}.name", name, names.qualified_name(name)) if name else []
        if not name:
            yield field.required(f"{at}.name")
        elif name in seen:
            yield field.duplicate(f"{at}.name", name)
        seen.add(name)


def check_expression(
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


def check_changing(matching: Object, path: str) -> list[FieldError]:
    """Reject deletes in the rules of a mutating policy or binding."""
    return [
        field.not_supported(f"{path}.resourceRules.operations", operation, _CHANGING)
        for rule in each(matching.get("resourceRules") or [])
        for operation in each(rule.get("operations") or [])
        if operation not in _CHANGING
    ]
