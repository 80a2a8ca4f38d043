"""ValidatingAdmissionPolicy, MutatingAdmissionPolicy and their bindings.

Source: k8s.io/kubernetes pkg/apis/admissionregistration (defaults and validation), and recorded answers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from podless.apis.admissionregistration import rules
from podless.apis.shared import checks
from podless.apis.shared.typed import CLIENT_METADATA, TypedStrategy, keep_parts
from podless.codec import serializer
from podless.codec.gotext import Named
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy
from podless.meta import field, jsonpath, names
from podless.meta.validation import validate_conditions, validate_selector
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import CURRENT, has
from podless.structs import gostructs

if TYPE_CHECKING:
    from podless.cel.policies import Environment

_ACTIONS = ("Audit", "Deny", "Warn")
_NOT_FOUND = ("Deny", "Allow")
_DENY_AND_WARN = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the API response and "
    "headers serves no purpose)"
)
_EXCLUSIVE = "name and selector are mutually exclusive"
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


class _PolicyOrBindingStrategy(TypedStrategy):
    """Strategy of policies and of their bindings. mutating: of MutatingAdmissionPolicy and its binding."""

    allow_unconditional_update = False
    has_generation = True
    metadata = MetadataPolicy(on_update=(1, 0), on_status=(0, 0), qualified_finalizers=False)

    def __init__(self, *, mutating: bool) -> None:
        self._mutating = mutating

    def increases_generation(self, version: Version, obj: Object, old: Object) -> bool:
        return serializer.encode_sorted(obj.get("spec")) != serializer.encode_sorted(old.get("spec"))


class PolicyStrategy(rules.ExpressionStrategy, _PolicyOrBindingStrategy):
    """Strategy of policies: validates match constraints and expressions."""

    def allow_create_on_status(self, verb: str) -> bool:
        return verb == "apply"  # kube-apiserver does not reject it

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_status(version, obj, old)
        keep_parts(obj["metadata"], old["metadata"], *CLIENT_METADATA)

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        return _validate_mutating(obj) if self._mutating else _validate_validating(obj)

    def validate_status(self, version: Version, obj: Object, old: Object) -> field.Errors:
        status = obj.get("status") or {}
        yield from validate_conditions(status.get("conditions"), "status.conditions")
        for index, warning in enumerate(each((status.get("typeChecking") or {}).get("expressionWarnings") or [])):
            path, reference = f"status.typeChecking.expressionWarnings[{index}]", warning["fieldRef"].strip()
            if not warning["warning"]:
                yield field.required(f"{path}.warning")
            try:
                if reference:
                    jsonpath.parse_path(reference)
                else:
                    yield field.required(f"{path}.fieldRef")
            except ValueError as error:
                yield field.invalid(f"{path}.fieldRef", reference, f"invalid JSONPath: {error}")


class PolicyBindingStrategy(_PolicyOrBindingStrategy):
    """Strategy of bindings: validates the policy's name and the match resources."""

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        spec = obj["spec"]
        yield from checks.validate_name("spec.policyName", spec.get("policyName"), names.check_subdomain)
        if spec.get("paramRef") is not None:
            yield from _validate_params(spec["paramRef"], "spec.paramRef")
        if (matching := spec.get("matchResources")) is not None:
            path = "spec.matchResources" if has("MatchResourcesPath") else "spec.matchResouces"
            yield from rules.validate_matching(matching, path)
            yield from rules.reject_deletes(matching, path) if self._mutating else ()
        if not self._mutating:
            yield from _validate_actions(spec.get("validationActions") or [], "spec.validationActions")


def _validate_actions(actions: list[str], path: str) -> field.Errors:
    seen: set[str] = set()
    for index, action in enumerate(each(actions)):
        yield from field.one_of(f"{path}[{index}]", action, _ACTIONS)
        yield from checks.validate_unique(f"{path}[{index}]", Named(action), seen)
    if "Deny" in actions and "Warn" in actions:
        yield field.invalid(path, actions, _DENY_AND_WARN)
    if not actions:
        yield field.required(path, "at least one validation action is required")


def _validate_params(params: Object, path: str) -> field.Errors:
    name, selector = params.get("name") or "", params.get("selector")
    yield from field.invalid_details(f"{path}.name", name, names.check_path_segment(name) if name else ())
    if selector is not None:
        yield from validate_selector(selector, f"{path}.selector")
    if name and selector is not None:
        yield from (field.forbidden(f"{path}.{field_name}", _EXCLUSIVE) for field_name in ("name", "selector"))
    if not name and selector is None:
        yield field.required(path, "one of name or selector must be specified")
    action = params.get("parameterNotFoundAction")
    yield from checks.validate_enum(f"{path}.parameterNotFoundAction", action, _NOT_FOUND)


def _validate_validating(policy: Object) -> field.Errors:
    spec = policy["spec"]
    environment = _make_environment(spec, composed=bool(spec.get("variables")))
    yield from _validate_common(spec, environment)
    validations, annotations = spec.get("validations") or [], spec.get("auditAnnotations") or []
    if not validations and not annotations:
        yield from (field.required(f"spec.{name}", _NEITHER) for name in ("validations", "auditAnnotations"))
    for index, validation in enumerate(each(validations)):
        yield from _validate_validation(validation, environment, f"spec.validations[{index}]")
    if len(annotations) > _MAX_ANNOTATIONS:
        text = f"must not have more than {_MAX_ANNOTATIONS} auditAnnotations"
        shown_value = gostructs.format_structs("admissionregistration/v1.AuditAnnotation", annotations)
        yield field.invalid("spec.auditAnnotations", shown_value, text)
    seen: set[str] = set()
    for index, annotation in enumerate(each(annotations)):
        path = f"spec.auditAnnotations[{index}]"
        yield from _validate_annotation(annotation, policy["metadata"].get("name") or "", environment, path)
        yield from checks.validate_unique(f"{path}.key", annotation["key"], seen)


def _validate_mutating(policy: Object) -> field.Errors:
    spec = policy["spec"]
    environment = _make_environment(spec, composed=True)
    yield from _validate_common(spec, environment)
    yield from rules.reject_deletes(spec.get("matchConstraints") or {}, "spec.matchConstraints")
    mutations = spec.get("mutations") or []
    if not mutations:
        yield field.required("spec.mutations", "mutations must contain at least one item")
    for index, mutation in enumerate(each(mutations)):
        yield from _validate_mutation(mutation, environment, f"spec.mutations[{index}]")
    reinvocation = spec.get("reinvocationPolicy")
    yield from checks.validate_enum("spec.reinvocationPolicy", reinvocation, rules.REINVOCATIONS)


def _make_environment(spec: Object, *, composed: bool) -> Environment:
    """Return the environment of a policy's expressions. composed: they may use `variables`."""
    from podless.cel.policies import Environment  # a slow import, needed only for policies

    return Environment(params=spec.get("paramKind") is not None, composed=composed, new=CURRENT.get())


def _validate_common(spec: Object, environment: Environment) -> field.Errors:
    """Validate the common part of both kinds of policy, and declare the variables."""
    yield from rules.require_choice(spec, "failurePolicy", rules.FAILURE_POLICIES, "spec")
    if (params := spec.get("paramKind")) is not None:
        yield from _validate_param_kind(params, "spec.paramKind")
    if (constraints := spec.get("matchConstraints")) is None:
        yield field.required("spec.matchConstraints")
    else:
        yield from rules.validate_matching(constraints, "spec.matchConstraints")
        if not constraints.get("resourceRules"):
            yield field.required("spec.matchConstraints.resourceRules")
    alone = _make_environment(spec, composed=False)
    yield from rules.validate_conditions(spec.get("matchConditions") or [], alone, "spec.matchConditions")
    for index, variable in enumerate(each(spec.get("variables") or [])):
        yield from _validate_variable(variable, environment, f"spec.variables[{index}]")


def _validate_param_kind(params: Object, path: str) -> field.Errors:
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
        elif faults := names.check_label_1035(version):
            yield field.invalid(api_version_path, version, ",".join(faults))
    if not kind:
        yield field.required(f"{path}.kind")
    elif faults := names.check_label_1035(kind.lower()):
        text = f"may have mixed case, but should otherwise match: {','.join(faults)}"
        yield field.invalid(f"{path}.kind", kind, text)


def _validate_variable(variable: Object, environment: Environment, path: str) -> field.Errors:
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


def _validate_validation(validation: Object, environment: Environment, path: str) -> field.Errors:
    expression, missing = validation["expression"], "expression is not specified"
    yield from rules.validate_expression(expression, environment, f"{path}.expression", kind="BOOL", missing=missing)
    source, message = validation.get("messageExpression") or "", validation.get("message") or ""
    if source and not source.strip():
        yield field.invalid(f"{path}.messageExpression", source, "must be non-empty if specified")
    elif source:
        at = f"{path}.messageExpression"
        yield from rules.validate_expression(source, environment, at, kind="STRING", authorizer=False)
    if message and not message.strip():
        yield field.invalid(f"{path}.message", message, "must be non-empty if specified")
    elif re.search(r"[\n\r]", message.strip()):
        yield field.invalid(f"{path}.message", message, "must not contain line breaks")
    yield from field.one_of(f"{path}.reason", validation.get("reason"), _REASONS)


def _validate_annotation(annotation: Object, policy: str, environment: Environment, path: str) -> field.Errors:
    key, source, at = annotation["key"], annotation["valueExpression"], f"{path}.valueExpression"
    if policy:
        full_key = f"{policy}/{key}"
        yield from field.invalid_details(f"{path}.key", full_key, names.check_qualified_name(full_key))
    else:
        yield field.invalid(f"{path}.key", key, "requires metadata.name be non-empty")
    if len(source.strip().encode()) > _MAX_ANNOTATION:
        yield field.required(at, f"must not exceed {_MAX_ANNOTATION} bytes in length")
        return
    missing = "valueExpression is not specified"
    yield from rules.validate_expression(
        source.strip(), environment, at, kind="TEXT_OR_NULL", missing=missing, original=source
    )


def _validate_mutation(mutation: Object, environment: Environment, path: str) -> field.Errors:
    chosen = mutation["patchType"]
    if errors := [*checks.validate_enum(f"{path}.patchType", chosen, _PATCH_TYPES)]:
        yield from errors
        return
    chosen_field, excluded = ("jsonPatch", "applyConfiguration")[:: 1 if chosen == "JSONPatch" else -1]
    if mutation.get(chosen_field) is None:
        yield field.required(f"{path}.{chosen_field}", f"must be specified when patchType is {chosen}")
    else:
        kind, at = "JSON_PATCHES" if chosen == "JSONPatch" else "OBJECT", f"{path}.{chosen_field}.expression"
        source = (mutation[chosen_field].get("expression") or "").strip()
        yield from rules.validate_expression(source, environment, at, kind=kind, patches=True)
    if mutation.get(excluded) is not None:
        text = f"must not be specified when patchType is {chosen}"
        yield field.invalid(f"{path}.{excluded}", f"{{{excluded}}}", text)


VALIDATING = PolicyStrategy(mutating=False)
VALIDATING_BINDING = PolicyBindingStrategy(mutating=False)
MUTATING = PolicyStrategy(mutating=True)
MUTATING_BINDING = PolicyBindingStrategy(mutating=True)
