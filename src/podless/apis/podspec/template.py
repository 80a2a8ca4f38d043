"""Validates whole pods and pod templates, and computes what the old state of a PodSpec lets an update keep.

Source: Kubernetes' pkg/apis/core/validation, and pkg/api/pod (GetValidationOptionsFromPodSpecAndMeta).
"""

from __future__ import annotations

from typing import Any

from podless.apis.podspec import (
    containers,
    env,
    podannotations,
    projected,
    resources,
    scheduling,
    security,
    spec,
    volumes,
)
from podless.apis.podspec.affinity import REQUIRED, list_pod_terms
from podless.apis.podspec.amounts import is_sidecar
from podless.apis.podspec.options import STRICT, STRICT_POD, PodOptions
from podless.apis.shared import checks
from podless.meta import field, names, objectmeta
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has


def validate_pod_template(template: Object, path: str, old: Object | None = None) -> field.Errors:
    """Validate a defaulted template. old: the template before an update."""
    options = _template_options(old)
    metadata, pod_spec = template.get("metadata") or {}, template.get("spec") or {}
    notes, spec_path = metadata.get("annotations") or {}, f"{path}.spec"
    yield from objectmeta.check_labels(metadata.get("labels") or {}, f"{path}.labels")
    yield from objectmeta.check_annotations(notes, f"{path}.annotations")
    yield from podannotations.validate_annotations(notes, pod_spec, f"{path}.annotations", options)
    yield from spec.validate_pod_spec(pod_spec, spec_path, options)
    yield from podannotations.validate_agreement(notes, pod_spec, spec_path)
    if pod_spec.get("ephemeralContainers"):
        yield field.forbidden(f"{spec_path}.ephemeralContainers", "ephemeral containers not allowed in pod template")


def validate_template_annotations(template: Object, path: str, old: Object | None) -> field.Errors:
    """Validate the annotations of a template that configure its pods. old: the template before an update."""
    notes = (template.get("metadata") or {}).get("annotations") or {}
    yield from podannotations.validate_annotations(
        notes, template.get("spec") or {}, f"{path}.annotations", _template_options(old)
    )


def _template_options(old: Object | None) -> PodOptions:
    if old is None:
        return STRICT
    return options_for_update(old.get("spec") or {}, old.get("metadata") or {}, pod=False)


def validate_pod(obj: Object, old: Object | None) -> field.Errors:
    """Validate a pod, except its metadata. old: the pod before an update."""
    options = STRICT_POD if old is None else options_for_update(old["spec"], old["metadata"], pod=True)
    metadata, pod_spec = obj["metadata"], obj["spec"]
    notes = metadata.get("annotations") or {}
    yield from podannotations.validate_annotations(notes, pod_spec, "metadata.annotations", options)
    yield from spec.validate_pod_spec(pod_spec, "spec", options, metadata)
    if not pod_spec.get("serviceAccountName"):
        for volume, path in checks.list_items(pod_spec, "volumes", "spec"):
            for source, at in checks.list_items(volume.get("projected") or {}, "sources", f"{path}.projected"):
                if source.get("serviceAccountToken") is not None:
                    reason = "must not be specified when serviceAccountName is not set"
                    yield field.forbidden(f"{at}.serviceAccountToken", reason)
    for key in ("containers", "initContainers"):
        for container, path in checks.list_items(pod_spec, key, "spec"):
            yield from containers.validate_image_spaces(container, path)


def validate_new_pod(obj: Object) -> field.Errors:
    """Validate a new pod, except its metadata."""
    yield from validate_pod(obj, None)
    pod_spec = obj["spec"]
    if pod_spec.get("ephemeralContainers"):
        yield field.forbidden("spec.ephemeralContainers", "cannot be set on create")
    if pod_spec.get("nodeName") and pod_spec.get("schedulingGates"):
        yield field.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")
    yield from podannotations.validate_agreement(obj["metadata"].get("annotations") or {}, pod_spec, "spec")


def options_for_update(old: Object, metadata: Object, *, pod: bool) -> PodOptions:
    """Return the options for the validation of a changed PodSpec. old, metadata: the old ones."""
    in_namespace = old.get("hostUsers") is False
    terms = [term for term, _ in list_pod_terms(old)]
    selectors = (term.get(name) or {} for term in terms for name in ("labelSelector", "namespaceSelector"))
    node_selector = ((old.get("affinity") or {}).get("nodeAffinity") or {}).get(REQUIRED) or {}
    return PodOptions(
        pod=pod,
        allow_invalid_deletion_cost=podannotations.has_invalid_deletion_cost(metadata.get("annotations") or {}),
        allow_invalid_selector_values=any(map(_has_invalid_values, selectors)),
        allow_invalid_node_values=any(map(_has_invalid_values, each(node_selector.get("nodeSelectorTerms") or ()))),
        allow_invalid_spread_selectors=scheduling.has_invalid_selectors(old),
        allow_selected_spread_keys=scheduling.has_invalid_keys(old),
        allow_indivisible=resources.has_fractional_huge_pages(old),
        allow_outside_token_path=projected.has_outside_token_path(old),
        allow_host_sysctls=security.has_host_sysctls(old),
        allow_restarting=any(
            not is_sidecar(item) and any(containers.list_restarting_policies(item, ""))
            for item in each(old.get("initContainers") or ())
        ),
        allow_user_namespace_devices=in_namespace
        and any(item.get("volumeDevices") for item in each(old.get("containers") or ())),
        allow_user_namespace_network=in_namespace and bool(old.get("hostNetwork")),
        allow_relaxed_variables=not has("RelaxedEnvironmentVariableValidation") and env.uses_loose_names(old),
        allow_empty_image=volumes.lacks_image(old),
    )


def _has_invalid_values(term: Any) -> bool:
    """Return whether the expressions of a selector or of a node selector term have values that no label can have."""
    return any(
        names.check_label_value(value)
        for expression in each(term.get("matchExpressions") or ())
        for value in each(expression.get("values") or ())
    )
