"""Validates a Job's spec.scheduling, which needs the gate WorkloadWithJob.

Source: the validation markers of k8s.io/api batch/v1 and scheduling/v1alpha3, and Kubernetes' pkg/apis/batch. The
scheduler's own rules for groups of pods are not validated.
"""

from __future__ import annotations

from podless.apis.shared import checks
from podless.meta import field, names
from podless.runtime.jsonobject import Object

_MAX_CLAIMS, _MAX_DOMAINS = 4, 1
_POLICIES, _MODES = ("basic", "gang"), ("single", "all")
_CLAIMS = ("resourceClaimName", "resourceClaimTemplateName")
_FIXED = ("schedulingConstraints", "disruptionMode", "resourceClaims")
_VARIANT = (
    "the basic/gang policy variant is immutable after creation; only schedulingPolicy.gang.minCount may be updated"
)


def validate_scheduling(spec: Object, path: str) -> field.Errors:
    """Validate the scheduling of a Job. spec: of the Job."""
    scheduling = spec.get("scheduling") or {}
    if (policy := scheduling.get("schedulingPolicy")) is not None:
        yield from _validate_union(policy, f"{path}.schedulingPolicy", _POLICIES)
        yield from _validate_min_count(policy.get("gang") or {}, spec, f"{path}.schedulingPolicy.gang.minCount")
    constraints = scheduling.get("schedulingConstraints") or {}
    count = len(constraints.get("topology") or ())
    if count > _MAX_DOMAINS:
        yield field.too_many(f"{path}.schedulingConstraints.topology", count, _MAX_DOMAINS)
    else:
        for domain, at in checks.list_items(constraints, "topology", f"{path}.schedulingConstraints"):
            yield from checks.validate_name(f"{at}.key", domain["key"], names.check_qualified_name)
    if (mode := scheduling.get("disruptionMode")) is not None:
        yield from _validate_union(mode, f"{path}.disruptionMode", _MODES)
    yield from _validate_claims(scheduling, path)


def validate_changed_scheduling(spec: Object, old: Object, path: str) -> field.Errors:
    """Validate that only minCount changes."""
    scheduling, before = spec.get("scheduling"), old.get("scheduling")
    yield from _validate_kept(scheduling, before, path)
    if scheduling is None or before is None:
        return
    policy, scheduling_policy = scheduling.get("schedulingPolicy"), before.get("schedulingPolicy")
    yield from _validate_kept(policy, scheduling_policy, f"{path}.schedulingPolicy")
    if policy and scheduling_policy and (policy.get("basic") is None) != (scheduling_policy.get("basic") is None):
        yield field.invalid(f"{path}.schedulingPolicy", None, _VARIANT)
    for name in _FIXED:
        if (scheduling.get(name) or None) != (before.get(name) or None):
            yield field.invalid(f"{path}.{name}", None, "field is immutable")


def _validate_kept(value: Object | None, before: Object | None, path: str) -> field.Errors:
    """Validate that a field is neither set nor cleared."""
    if value is not None and before is None:
        yield field.invalid(path, None, "field cannot be set once created")
    if value is None and before is not None:
        yield field.invalid(path, None, "field cannot be cleared once set")


def _validate_union(value: Object, path: str, members: tuple[str, ...]) -> field.Errors:
    """Validate that exactly one of several fields is set."""
    set_members = [name for name in members if value.get(name) is not None]
    listed = ", ".join(f"`{name}`" for name in members)
    if not set_members:
        yield field.invalid(path, "", f"must specify one of: {listed}")
    elif len(set_members) > 1:
        yield field.invalid(path, f"{{{', '.join(set_members)}}}", f"must specify exactly one of: {listed}")


def _validate_min_count(gang: Object, spec: Object, path: str) -> field.Errors:
    minimum, maximum = gang.get("minCount"), spec.get("parallelism")
    maximum = 1 if maximum is None else maximum
    if minimum is not None and minimum < 1:
        yield field.invalid(path, minimum, "must be greater than or equal to 1")
    if minimum is not None and minimum > maximum:
        yield field.invalid(path, minimum, f"must not be greater than parallelism ({maximum})")


def _validate_claims(scheduling: Object, path: str) -> field.Errors:
    count = len(scheduling.get("resourceClaims") or ())
    if count > _MAX_CLAIMS:
        yield field.too_many(f"{path}.resourceClaims", count, _MAX_CLAIMS)
        return
    seen: set[str] = set()
    for claim, at in checks.list_items(scheduling, "resourceClaims", path):
        if claim["name"] in seen:
            yield field.duplicate(at, {"name": claim["name"]})
        seen.add(claim["name"])
        yield from _validate_union(claim, at, _CLAIMS)
        yield from checks.validate_name(f"{at}.name", claim["name"])
        for kind in _CLAIMS:
            yield from checks.validate_pointer(claim, at, kind, names.check_subdomain)
