"""Validates updates of pods, which are mostly immutable, and of their ephemeral containers.

The scheduler does not see a pod with scheduling gates, so its node selectors may still become stricter.
Source: Kubernetes' pkg/apis/core/validation (ValidatePodUpdate and similar functions).
"""

from __future__ import annotations

from typing import Any

from podless.apis.podspec import amounts, containers, podannotations, scheduling
from podless.apis.podspec.affinity import REQUIRED
from podless.apis.podspec.template import options_for_update, validate_pod
from podless.apis.shared import checks
from podless.apis.shared.typed import keep_parts
from podless.codec.gotext import quote
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

_EPHEMERAL_CONTAINER = load_struct("core/v1", "EphemeralContainer")
_NODE_SELECTOR_TERM = load_struct("core/v1", "NodeSelectorTerm")
_POD_SPEC = load_struct("core/v1", "PodSpec")

_CHANGEABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"
)
_DEADLINE, _GRACE = "activeDeadlineSeconds", "terminationGracePeriodSeconds"
_MAX = (1 << 31) - 1
_CONTAINERS = ("containers", "initContainers")
_TERMS = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"


def validate_pod_update(obj: Object, old: Object) -> field.Errors:
    """Validate a changed pod, except its metadata."""
    yield from validate_pod(obj, old)
    yield from validate_changed_annotations(obj, old)
    yield from _validate_update(obj["spec"], old)


def validate_changed_annotations(obj: Object, old: Object) -> field.Errors:
    """Validate the annotations of a changed pod, and that these changes are allowed."""
    notes, before = (state["metadata"].get("annotations") or {} for state in (obj, old))
    if notes or before:
        yield from podannotations.validate_annotation_changes(notes, before)
        options = options_for_update(old["spec"], old["metadata"], pod=True)
        yield from podannotations.validate_annotations(notes, obj["spec"], "metadata.annotations", options)


def validate_ephemeral_update(obj: Object, old: Object) -> field.Errors:
    """Validate an update of ephemeralContainers. Existing ones may not change."""
    if podannotations.MIRROR in (old["metadata"].get("annotations") or {}):
        yield field.forbidden("[]", "static pods do not support ephemeral containers")
        return
    yield from validate_pod(obj, old)
    yield from validate_changed_annotations(obj, old)
    at = "spec.ephemeralContainers"
    now = {container.get("name", ""): container for container in each(obj["spec"].get("ephemeralContainers") or ())}
    for before in each(old["spec"].get("ephemeralContainers") or ()):
        name = before.get("name", "")
        if name not in now:
            yield field.forbidden(at, f"existing ephemeral containers {quote(name)} may not be removed\n")
        elif before != now[name]:
            difference = gostructs.diff_structs(_EPHEMERAL_CONTAINER, before, now[name])
            yield field.forbidden(at, f"existing ephemeral containers {quote(name)} may not be changed\n{difference}")


def _validate_update(spec: Object, pod: Object) -> field.Errors:
    """Validate a changed spec. pod: the pod before the update."""
    old = pod["spec"]
    for field_name in _CONTAINERS:
        if len(spec.get(field_name) or ()) != len(old.get(field_name) or ()):
            yield field.forbidden(f"spec.{field_name}", "pod updates may not add or remove containers")
            return
        for container, path in checks.list_items(spec, field_name, "spec"):
            yield from checks.require_fields(container, path, "image")
            yield from containers.validate_image_spaces(container, path)
    wrong = _validate_deadline(spec.get(_DEADLINE), old.get(_DEADLINE))
    if wrong is not None:
        yield wrong
        if spec.get(_DEADLINE) is not None:
            return
    yield from _validate_tolerations(spec.get("tolerations") or [], old.get("tolerations") or [])
    yield from _validate_gates(spec.get("schedulingGates") or [], old.get("schedulingGates") or [])
    if spec == old:
        return
    kind = (pod.get("status") or {}).get("qosClass") or amounts.compute_qos_class(old)
    if not has("FixedQOSClass") and kind != amounts.compute_qos_class(spec):
        yield field.invalid("metadata", kind, "Pod QoS is immutable")
    munged = _restore_mutable(spec, old)
    if old.get("schedulingGates"):
        yield from _validate_gated_selectors(munged, old)
    if munged != old:
        yield field.forbidden("spec", _CHANGEABLE + gostructs.diff_structs(_POD_SPEC, old, munged))


def _validate_deadline(deadline: int | None, before: int | None) -> FieldError | None:
    field_path = f"spec.{_DEADLINE}"
    if deadline is None:
        if before is None:
            return None
        return field.invalid(field_path, None, "must not update from a positive integer to nil value")
    if wrong := checks.validate_range(field_path, deadline, 0, _MAX):
        return wrong[0]
    if before is not None and before < deadline:
        return field.invalid(field_path, deadline, "must be less than or equal to previous value")
    return None


def _validate_tolerations(tolerations: list[Object], before: list[Object]) -> field.Errors:
    keys = {_toleration_key(toleration) for toleration in each(tolerations)}
    if any(_toleration_key(old_toleration) not in keys for old_toleration in each(before)):
        reason = "existing toleration can not be modified except its tolerationSeconds"
        yield field.forbidden("spec.tolerations", reason)
        return
    yield from scheduling.validate_tolerations(tolerations, "spec.tolerations")


def _toleration_key(toleration: Object) -> tuple[Any, ...]:
    return tuple(toleration.get(name) or "" for name in ("key", "operator", "value", "effect"))


def _validate_gates(gates: list[Object], before: list[Object]) -> field.Errors:
    old_names = {old_gate.get("name", "") for old_gate in each(before)}
    last = {gate.get("name", ""): index for index, gate in enumerate(each(gates))}
    for name, position in last.items():
        if name not in old_names:
            reason = f"only deletion is allowed, but found new scheduling gate '{name}'"
            yield field.forbidden(f"spec.schedulingGates[{position}].name", reason)


def _restore_mutable(spec: Object, old: Object) -> Object:
    """Return the new spec with the old values of all mutable fields."""
    restored = dict(spec)
    for field_name in _CONTAINERS:
        if spec.get(field_name):
            pairs = zip(spec[field_name], old[field_name], strict=True)
            restored[field_name] = [{**container, "image": before.get("image", "")} for container, before in pairs]
    keep_parts(restored, old, _DEADLINE, "schedulingGates", "tolerations")
    if (old.get(_GRACE) or 0) < 0 and restored.get(_GRACE) == 1:
        restored[_GRACE] = old[_GRACE]
    return restored


def _validate_gated_selectors(spec: Object, old: Object) -> field.Errors:
    """Validate node selectors of a pod with scheduling gates, which may only become stricter.

    Then restores the old ones, so that the comparison of the rest ignores them.
    """
    node_selector, before = spec.get("nodeSelector") or {}, old.get("nodeSelector") or {}
    if node_selector != before:
        if any(node_selector.get(key) != value for key, value in each(before).items()):
            reason = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
            yield field.invalid("spec.nodeSelector", spec.get("nodeSelector"), reason)
        keep_parts(spec, old, "nodeSelector")
    nodes, nodes_before = (((state.get("affinity") or {}).get("nodeAffinity")) for state in (spec, old))
    if nodes == nodes_before:
        return
    yield from _validate_added_terms(nodes or {}, nodes_before or {})
    remaining = {name: value for name, value in each(spec.get("affinity") or {}).items() if name != "nodeAffinity"}
    if nodes_before is not None:
        spec["affinity"] = {"nodeAffinity": nodes_before, **remaining}
    elif remaining:
        spec["affinity"] = remaining
    else:
        keep_parts(spec, old, "affinity")


def _validate_added_terms(added_terms: Object, before: Object) -> field.Errors:
    node_selector_terms = (before.get(REQUIRED) or {}).get("nodeSelectorTerms") or []
    terms = (added_terms.get(REQUIRED) or {}).get("nodeSelectorTerms") or []
    if node_selector_terms and len(node_selector_terms) != len(terms):
        reason = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        yield field.invalid(_TERMS, gostructs.format_structs(_NODE_SELECTOR_TERM, terms or None), reason)
        return
    for index, (term, old) in enumerate(zip(each(terms), node_selector_terms, strict=False)):
        if not _only_adds(term, old):
            text = gostructs.format_struct(_NODE_SELECTOR_TERM, term)
            yield field.invalid(f"{_TERMS}[{index}]", text, "only additions are allowed (no mutations or deletions)")


def _only_adds(term: Object, old: Object) -> bool:
    field_names = ("matchExpressions", "matchFields")
    if not any(old.get(name) for name in field_names):
        return not any(term.get(name) for name in field_names)
    return all((term.get(name) or [])[: len(old.get(name) or [])] == (old.get(name) or []) for name in field_names)
