"""Computes the options for an update of a PodSpec: what its old state already has, and may keep.

Source: Kubernetes' pkg/api/pod (GetValidationOptionsFromPodSpecAndMeta).
"""

from __future__ import annotations

from typing import Any

from podless.apis.podspec import env, projected, resources, scheduling, security, volumes
from podless.apis.podspec.affinity import TERMS
from podless.apis.podspec.options import PodOptions, deletion_cost_fault
from podless.meta import names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has


def options_for_update(spec: Object, metadata: Object, *, pod: bool) -> PodOptions:
    """Return the options for the validation of a changed PodSpec. spec, metadata: the old ones."""
    in_namespace = spec.get("hostUsers") is False
    return PodOptions(
        pod=pod,
        deletion_cost=bool(deletion_cost_fault(metadata.get("annotations") or {})),
        selector_values=_selector_values(spec.get("affinity") or {}),
        node_values=_node_values(spec.get("affinity") or {}),
        spread_selectors=scheduling.bad_selectors(spec),
        spread_keys=scheduling.bad_keys(spec),
        indivisible=resources.has_fractional_huge_pages(spec),
        has_outside_token_path=projected.has_outside_token_path(spec),
        host_sysctls=security.host_sysctls(spec),
        restarting=any(_restarts_on_resize(item) for item in each(spec.get("initContainers") or ())),
        host_devices=in_namespace and any(item.get("volumeDevices") for item in each(spec.get("containers") or ())),
        host_network=in_namespace and bool(spec.get("hostNetwork")),
        loose_variables=not has("RelaxedEnvironmentVariableValidation") and env.uses_loose_names(spec),
        no_image=volumes.lacks_image(spec),
    )


def _restarts_on_resize(container: Object) -> bool:
    policies = container.get("resizePolicy") or ()
    return container.get("restartPolicy") != "Always" and any(
        policy.get("restartPolicy") == "RestartContainer" for policy in policies
    )


def _has_invalid_values(expressions: Any) -> bool:
    return any(
        names.check_label_value(value)
        for expression in each(expressions or ())
        for value in each(expression.get("values") or ())
    )


def _selector_values(affinity: Object) -> bool:
    if not affinity:
        return False
    rules = (affinity.get(name) or {} for name in ("podAffinity", "podAntiAffinity"))
    terms = [
        term.get("podAffinityTerm") or term for rule in rules for key in TERMS for term in each(rule.get(key) or ())
    ]
    selectors = (term.get(name) or {} for term in terms for name in ("labelSelector", "namespaceSelector"))
    return any(_has_invalid_values(selector.get("matchExpressions")) for selector in selectors)


def _node_values(affinity: Object) -> bool:
    required = (affinity.get("nodeAffinity") or {}).get(TERMS[0]) or {}
    return any(
        _has_invalid_values(term.get("matchExpressions")) for term in each(required.get("nodeSelectorTerms") or ())
    )
