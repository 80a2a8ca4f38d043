"""Validates ValidatingAdmissionPolicy and MutatingAdmissionPolicy.

Source: k8s.io/kubernetes pkg/apis/admissionregistration (defaults and validation), and recorded answers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from podless.apis.admissionregistration.validation import rules
from podless.apis.shared import checks
from podless.codec.gotext import Named
from podless.meta import conditions, field, jsonpath, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import CURRENT
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

if TYPE_CHECKING:
    from podless.cel.policies import Environment
from podless.meta import labelselector
from podless.runtime.release import has

# validates ValidatingAdmissionPolicyBinding and MutatingAdmissionPolicyBinding. Source: k8s.io/kubernetes
# pkg/apis/admissionregistration (defaults and validation), and recorded answers.

_ACTIONS = ("Audit", "Deny", "Warn")
_NOT_FOUND = ("Deny", "Allow")
_DENY_AND_WARN = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the API response and "
    "headers serves no purpose)"
)
_EXCLUSIVE = "name and selector are mutually exclusive"


def check_binding(binding: Object, *, mutating: bool) -> list[FieldError]:
    """Validate a ValidatingAdmissionPolicyBinding or a MutatingAdmissionPolicyBinding."""
    spec, path = binding["spec"], "spec"
    policy = spec.get("policyName") or ""
    if policy:
        errors = field.invalid_details(f"{path}.policyName", policy, names.check_subdomain(policy))
    else:
        errors = [field.required(f"{path}.policyName")]
    if spec.get("paramRef") is not None:
        errors += _check_params(spec["paramRef"], f"{path}.paramRef")
    if spec.get("matchResources") is not None:
        field_path = f"{path}.matchResources" if has("MatchResourcesPath") else f"{path}.matchResouces"
        errors += rules.check_matching(spec["matchResources"], field_path)
        if mutating:
            errors += rules.check_changing(spec["matchResources"], field_path)
    return errors if mutating else errors + _check_actions(spec.get("validationActions") or [], path)


def _check_actions(actions: list[str], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    actions_path = f"{path}.validationActions"
    seen: set[str] = set()
    for index, action in enumerate(each(actions)):
        errors += field.one_of(f"{actions_path}[{index}]", action, _ACTIONS)
        if action in seen:
            errors.append(field.duplicate(f"{actions_path}[{index}]", Named(action)))
        seen.add(action)
    if "Deny" in actions and "Warn" in actions:
        errors.append(field.invalid(actions_path, actions, _DENY_AND_WARN))
    if not actions:
        errors.append(field.required(actions_path, "at least one validation action is required"))
    return errors


def _check_params(params: Object, path: str) -> list[FieldError]:
    name, selector = params.get("name") or "", params.get("selector")
    errors = field.invalid_details(f"{path}.name", name, names.path_segment(name)) if name else []
    if selector is not None:
        errors += labelselector.validate_selector(selector, f"{path}.selector")
    if name and selector is not None:
        errors += [field.forbidden(f"{path}.{field_name}", _EXCLUSIVE) for field_name in ("name", "selector")]
    if not name and selector is None:
        errors.append(field.required(path, "one of name or selector must be specified"))
    action_path = f"{path}.parameterNotFoundAction"
    return [*errors, *checks.validate_enum(action_path, params.get("parameterNotFoundAction"), _NOT_FOUND)]


AUDIT_ANNOTATION = load_struct("admissionregistration/v1", "AuditAnnotation")


_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_PATCH_TYPES = ("ApplyConfiguration", "JSONPatch")
_MAX_ANNOTATIONS = 20
_MAX_ANNOTATION = 5 * 1024  # bytes of a valueExpression
_NEITHER = "validations or auditAnnotations must contain at least one item"
_IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
_RESERVED = frozenset(
    (
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import"),
        *("let", "loop", "package", "namespace", "return", "var", "void", "while"),
    )
)


def check_validating(policy: Object) -> list[FieldError]:
    """Validate a ValidatingAdmissionPolicy."""
    spec, path = policy["spec"], "spec"
    errors, environment = _check_common(spec, path, composed=bool(spec.get("variables")))
    validations, annotations = spec.get("validations") or [], spec.get("auditAnnotations") or []
    if not validations and not annotations:
        errors += [field.required(f"{path}.{name}", _NEITHER) for name in ("validations", "auditAnnotations")]
    for index, validation in enumerate(each(validations)):
        errors += _check_validation(validation, environment, f"{path}.validations[{index}]")
    if len(annotations) > _MAX_ANNOTATIONS:
        text = f"must not have more than {_MAX_ANNOTATIONS} auditAnnotations"
        errors.append(
            field.invalid(f"{path}.auditAnnotations", gostructs.format_structs(AUDIT_ANNOTATION, annotations), text)
        )
    seen: set[str] = set()
    for index, annotation in enumerate(each(annotations)):
        annotation_path = f"{path}.auditAnnotations[{index}]"
        errors += _check_annotation(annotation, policy["metadata"].get("name") or "", environment, annotation_path)
        if annotation["key"] in seen:
            errors.append(field.duplicate(f"{annotation_path}.key", annotation["key"]))
        seen.add(annotation["key"])
    return errors


def check_mutating(policy: Object) -> list[FieldError]:
    """Validate a MutatingAdmissionPolicy."""
    spec, path = policy["spec"], "spec"
    errors, environment = _check_common(spec, path, composed=True)
    errors += rules.check_changing(spec.get("matchConstraints") or {}, f"{path}.matchConstraints")
    mutations = spec.get("mutations") or []
    if not mutations:
        errors.append(field.required(f"{path}.mutations", "mutations must contain at least one item"))
    for index, mutation in enumerate(each(mutations)):
        errors += _check_mutation(mutation, environment, f"{path}.mutations[{index}]")
    policy_path = f"{path}.reinvocationPolicy"
    return [*errors, *checks.validate_enum(policy_path, spec.get("reinvocationPolicy"), rules.REINVOCATIONS)]


def check_status(policy: Object) -> field.Errors:
    """Validate the status of a policy: its conditions and type checking warnings."""
    yield from conditions.validate_conditions((policy.get("status") or {}).get("conditions"), "status.conditions")
    checking = (policy.get("status") or {}).get("typeChecking") or {}
    for index, warning in enumerate(each(checking.get("expressionWarnings") or [])):
        warning_path = f"status.typeChecking.expressionWarnings[{index}]"
        if not warning["warning"]:
            yield field.required(f"{warning_path}.warning")
        yield from _check_field_reference(warning["fieldRef"].strip(), f"{warning_path}.fieldRef")


def _check_field_reference(text: str, path: str) -> list[FieldError]:
    if not text:
        return [field.required(path)]
    try:
        jsonpath.parse_path(text)
    except ValueError as error:
        return [field.invalid(path, text, f"invalid JSONPath: {error}")]
    return []


def _check_common(spec: Object, path: str, *, composed: bool) -> tuple[list[FieldError], Environment]:
    """Validate the common part of both kinds of policy. Returns the errors, and the environment of their expressions.

    composed: expressions may use `variables`.
    """
    from podless.cel.policies import Environment  # a slow import, needed only for policies

    errors = rules.check_choice(spec, "failurePolicy", rules.FAILURE_POLICIES, path, required=True)
    params = spec.get("paramKind")
    if params is not None:
        errors += _check_param_kind(params, f"{path}.paramKind")
    errors += _check_constraints(spec.get("matchConstraints"), f"{path}.matchConstraints")
    variables = spec.get("variables") or []
    environment = Environment(params=params is not None, composed=composed, new=CURRENT.get())
    alone = Environment(params=params is not None, new=CURRENT.get())
    errors += rules.check_conditions(spec.get("matchConditions") or [], alone, f"{path}.matchConditions")
    for index, variable in enumerate(each(variables)):
        errors += _check_variable(variable, environment, f"{path}.variables[{index}]")
    return errors, environment


def _check_constraints(constraints: Object | None, path: str) -> field.Errors:
    if constraints is None:
        yield field.required(path)
        return
    yield from rules.check_matching(constraints, path)
    if not constraints.get("resourceRules"):
        yield field.required(f"{path}.resourceRules")


def _check_param_kind(params: Object, path: str) -> field.Errors:
    api_version, kind = params.get("apiVersion") or "", params.get("kind") or ""
    api_version_path = f"{path}.apiVersion"
    group, _, version = api_version.rpartition("/")
    if not api_version:
        yield field.required(api_version_path)
    elif api_version.count("/") > 1:
        yield field.invalid(api_version_path, api_version, f"unexpected GroupVersion string: {api_version}")
    else:
        faults = names.check_subdomain(group) if group else []
        if faults:
            yield field.invalid(api_version_path, group, ",".join(faults))
        if not version:
            yield field.invalid(api_version_path, api_version, "version must be specified")
        elif faults := names.label_1035(version):
            yield field.invalid(api_version_path, version, ",".join(faults))
    if not kind:
        yield field.required(f"{path}.kind")
    elif faults := names.label_1035(kind.lower()):
        text = f"may have mixed case, but should otherwise match: {','.join(faults)}"
        yield field.invalid(f"{path}.kind", kind, text)


def _check_variable(variable: Object, environment: Environment, path: str) -> field.Errors:
    name, source = variable["name"], variable["expression"]
    if not name.strip():
        yield field.required(f"{path}.name", "name is not specified")
    elif not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
        yield field.invalid(f"{path}.name", name, "must be a valid CEL identifier")
    if not source.strip():
        yield field.required(f"{path}.expression", "expression is not specified")
        return
    compiled = environment.declare_variable(name, source)
    if compiled.error:
        at = f"{path}.expression"
        yield field.internal(at, compiled.error) if compiled.internal else field.invalid(at, source, compiled.error)


def _check_validation(validation: Object, environment: Environment, path: str) -> list[FieldError]:
    errors = rules.check_expression(
        validation["expression"], environment, f"{path}.expression", kind="BOOL", missing="expression is not specified"
    )
    source, message = validation.get("messageExpression") or "", validation.get("message") or ""
    if source and not source.strip():
        errors.append(field.invalid(f"{path}.messageExpression", source, "must be non-empty if specified"))
    elif source:
        message_expression_path = f"{path}.messageExpression"
        errors += rules.check_expression(source, environment, message_expression_path, kind="STRING", authorizer=False)
    if message and not message.strip():
        errors.append(field.invalid(f"{path}.message", message, "must be non-empty if specified"))
    elif re.search(r"[\n\r]", message.strip()):
        errors.append(field.invalid(f"{path}.message", message, "must not contain line breaks"))
    return errors + rules.check_choice(validation, "reason", _REASONS, path)


def _check_annotation(annotation: Object, policy: str, environment: Environment, path: str) -> list[FieldError]:
    key, source = annotation["key"], annotation["valueExpression"]
    if policy:
        full_key = f"{policy}/{key}"
        errors = field.invalid_details(f"{path}.key", full_key, names.qualified_name(full_key))
    else:
        errors = [field.invalid(f"{path}.key", key, "requires metadata.name be non-empty")]
    value_expression_path = f"{path}.valueExpression"
    if len(source.strip().encode()) > _MAX_ANNOTATION:
        errors.append(field.required(value_expression_path, f"must not exceed {_MAX_ANNOTATION} bytes in length"))
        return errors
    missing = "valueExpression is not specified"
    return errors + rules.check_expression(
        source.strip(), environment, value_expression_path, kind="TEXT_OR_NULL", missing=missing, original=source
    )


def _check_mutation(mutation: Object, environment: Environment, path: str) -> list[FieldError]:
    errors = [*checks.validate_enum(f"{path}.patchType", mutation["patchType"], _PATCH_TYPES)]
    if errors:
        return errors
    chosen = mutation["patchType"]
    chosen_field, excluded = (
        ("jsonPatch", "applyConfiguration") if chosen == "JSONPatch" else ("applyConfiguration", "jsonPatch")
    )
    if mutation.get(chosen_field) is None:
        errors.append(field.required(f"{path}.{chosen_field}", f"must be specified when patchType is {chosen}"))
    else:
        kind = "JSON_PATCHES" if chosen == "JSONPatch" else "OBJECT"
        source = (mutation[chosen_field].get("expression") or "").strip()
        errors += rules.check_expression(
            source, environment, f"{path}.{chosen_field}.expression", kind=kind, patches=True
        )
    if mutation.get(excluded) is not None:
        text = f"must not be specified when patchType is {chosen}"
        errors.append(field.invalid(f"{path}.{excluded}", f"{{{excluded}}}", text))
    return errors
