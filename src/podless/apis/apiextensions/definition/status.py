"""The status of a CustomResourceDefinition: its conditions and accepted names.

Source: apiextensions-apiserver's naming and API approval controllers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from podless.apis.apiextensions.definition import shared
from podless.apis.apiextensions.definition.shared import NAMES_ORDER
from podless.codec import gotext, gourl
from podless.meta import field, validation
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

APPROVAL = "api-approved.kubernetes.io"
_NON_STRUCTURAL = "NonStructuralSchema"
_PROTECTED = ("k8s.io", "kubernetes.io")
_SEE = "see https://github.com/kubernetes/enhancements/pull/1111"
# state of the approval annotation: status and reason of the condition
_VERDICTS = {
    "missing": ("False", "MissingAnnotation"),
    "unapproved": ("False", "UnapprovedAnnotation"),
    "approved": ("True", "ApprovedAnnotation"),
    "invalid": ("False", "InvalidAnnotation"),
}


def set_condition(crd: Object, kind: str, status: str, reason: str, message: str, now: str) -> None:
    """Add or change a condition. lastTransitionTime (now, RFC 3339) changes only with the status."""
    condition = {"type": kind, "status": status, "lastTransitionTime": now, "reason": reason, "message": message}
    validation.set_condition(crd.setdefault("status", {}), condition)


def has_accepted_names(crd: Object) -> bool:
    """Return whether all requested names are accepted."""
    return _order_names(crd["spec"]["names"]) == _order_names((crd.get("status") or {}).get("acceptedNames") or {})


def accepted_names(crd: Object, other_definitions: Iterable[Object]) -> tuple[Object, Object]:
    """Return the accepted names of a definition, and its NamesAccepted condition without a time.

    other_definitions: the other definitions of the group, whose accepted names are taken.
    """
    names, before = crd["spec"]["names"], (crd.get("status") or {}).get("acceptedNames") or {}
    resources, kinds = _taken_names([crd, *other_definitions])
    accepted = dict(before)
    reason = message = ""
    for name in ("plural", "singular", "shortNames", "kind", "listKind"):
        taken_names = kinds if name in ("kind", "listKind") else resources
        conflicts = _find_conflicts(names.get(name), before.get(name), taken_names)
        if conflicts:
            reason = f"{name[0].upper()}{name[1:]}Conflict"
            message = conflicts[0] if len(conflicts) == 1 else f"[{', '.join(conflicts)}]"
        else:
            accepted[name] = names.get(name)
    accepted["categories"] = names.get("categories")
    verdict = ("False", reason, message) if reason else ("True", "NoConflicts", "no conflicts found")
    keys = ("type", "status", "reason", "message")
    return _order_names(accepted), dict(zip(keys, ("NamesAccepted", *verdict), strict=True))


def approval_state(crd: Object) -> tuple[str, str]:
    """Return the state of the approval annotation and its message; ("", "") if the group needs no approval."""
    group: str = crd["spec"]["group"]
    if not any(group == domain or group.endswith(f".{domain}") for domain in _PROTECTED):
        return "", ""
    text = (crd["metadata"].get("annotations") or {}).get(APPROVAL, "")
    must = f"protected groups must have approval annotation {gotext.quote(APPROVAL)}"
    state = read_approval(crd)
    states = {
        "missing": f"{must}, {_SEE}",
        "unapproved": f"not approved: {gotext.quote(text)}",
        "approved": f"approved in {text}",
        "invalid": f'{must} with either a URL or a reason starting with "unapproved", {_SEE}',
    }
    return state, states[state]


def read_approval(crd: Object) -> str:
    """Return the state of the approval annotation, for any group."""
    text = (crd["metadata"].get("annotations") or {}).get(APPROVAL, "")
    if not text:
        return "missing"
    if text.startswith("unapproved"):
        return "unapproved"
    return "approved" if _is_url(text) else "invalid"


def set_approval(crd: Object, now: str) -> None:
    """Set the condition KubernetesAPIApprovalPolicyConformant of a definition in a protected group."""
    state, text = approval_state(crd)
    if state:
        set_condition(crd, "KubernetesAPIApprovalPolicyConformant", *_VERDICTS[state], text, now)


def set_structural(crd: Object, now: str) -> None:
    """Set or remove the condition NonStructuralSchema.

    Only definitions that preserve unknown fields may have schemas that are not structural.
    """
    status = crd.setdefault("status", {})
    fault = _find_unstructured(crd["spec"]) if crd["spec"].get("preserveUnknownFields") else None
    if fault is not None:
        set_condition(crd, _NON_STRUCTURAL, *fault, now)
    elif conditions := status.get("conditions"):
        status["conditions"] = [item for item in each(conditions) if item["type"] != _NON_STRUCTURAL]


def _find_unstructured(spec: Object) -> tuple[str, str, str]:
    """Return status, reason and message of the condition NonStructuralSchema."""
    from podless.schema.definition import find_unsupported, validate_structural, walk_nodes

    errors = [field.invalid("spec.preserveUnknownFields", True, "must be false")]
    for index, version in enumerate(each(spec["versions"])):
        schema = shared.schema_of_version(version)
        if schema is None:
            continue
        trouble = find_unsupported(walk_nodes(schema))
        if trouble:
            text = f"failed to check validation schema for version {version['name']}: {trouble}"
            return "Unknown", "StructuralError", text
        errors += validate_structural(schema, f"spec.versions[{index}].schema.openAPIV3Schema")
    return "True", "Violations", field.join_errors(errors)


def _taken_names(definitions: Iterable[Object]) -> tuple[set[str], set[str]]:
    """Return the accepted resource names and kinds of some definitions."""
    resources: set[str] = set()
    kinds: set[str] = set()
    for definition in definitions:
        names = (definition.get("status") or {}).get("acceptedNames") or {}
        resources |= {names.get("plural", ""), names.get("singular", ""), *(names.get("shortNames") or ())}
        kinds |= {names.get("kind", ""), names.get("listKind", "")}
    return resources - {""}, kinds - {""}


def _find_conflicts(requested: Any, accepted: Any, taken_names: set[str]) -> list[str]:
    """Return an error text for each requested name that another definition has."""
    names, accepted_list = ([name] if isinstance(name, str) else name or [] for name in (requested, accepted))
    return [
        f"{gotext.quote(name)} is already in use"
        for name in dict.fromkeys(names)
        if name not in accepted_list and name in taken_names
    ]


def _order_names(names: Object) -> Object:
    """Return the names in their serialized order, with plural and kind even if they are empty."""
    present = {name: names[name] for name in NAMES_ORDER if names.get(name)}
    full = {"plural": "", "kind": ""} | present
    return {name: full[name] for name in NAMES_ORDER if name in full}


def _is_url(text: str) -> bool:
    """Return whether Go's url.ParseRequestURI finds a scheme and a host."""
    try:
        url = gourl.parse_url(text, request=True)
    except gourl.URLError:
        return False
    return bool(url.scheme and url.host)
