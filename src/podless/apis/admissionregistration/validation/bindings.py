"""Validates ValidatingAdmissionPolicyBinding and MutatingAdmissionPolicyBinding.

Source: k8s.io/kubernetes pkg/apis/admissionregistration (defaults and validation), and recorded answers.
"""

from __future__ import annotations

from podless.apis.admissionregistration.validation import rules
from podless.apis.shared import checks
from podless.meta import field, labelselector, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_ACTIONS = ("Audit", "Deny", "Warn")
_NOT_FOUND = ("Deny", "Allow")
_BOTH = (
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
        where = f"{path}.matchResources" if has("MatchResourcesPath") else f"{path}.matchResouces"
        errors += rules.check_matching(spec["matchResources"], where)
        if mutating:
            errors += rules.check_changing(spec["matchResources"], where)
    return errors if mutating else errors + _check_actions(spec.get("validationActions") or [], path)


def _check_actions(actions: list[str], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    where = f"{path}.validationActions"
    seen: set[str] = set()
    for index, action in enumerate(each(actions)):
        errors += field.one_of(f"{where}[{index}]", action, _ACTIONS)
        if action in seen:
            errors.append(field.duplicate(f"{where}[{index}]", action))
        seen.add(action)
    if "Deny" in actions and "Warn" in actions:
        errors.append(field.invalid(where, actions, _BOTH))
    if not actions:
        errors.append(field.required(where, "at least one validation action is required"))
    return errors


def _check_params(params: Object, path: str) -> list[FieldError]:
    name, selector = params.get("name") or "", params.get("selector")
    errors = field.invalid_details(f"{path}.name", name, names.path_segment(name)) if name else []
    if selector is not None:
        errors += labelselector.validate_selector(selector, f"{path}.selector")
    if name and selector is not None:
        errors += [field.forbidden(f"{path}.{part}", _EXCLUSIVE) for part in ("name", "selector")]
    if not name and selector is None:
        errors.append(field.required(path, "one of name or selector must be specified"))
    where = f"{path}.parameterNotFoundAction"
    return [*errors, *checks.validate_enum(where, params.get("parameterNotFoundAction"), _NOT_FOUND)]
