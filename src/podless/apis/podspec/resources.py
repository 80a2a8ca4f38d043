"""Validates resource requests and limits of containers. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

from collections.abc import Callable, Set

from podless.apis.podspec import amounts
from podless.codec import quantity
from podless.codec.gotext import Stringer
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.meta.objectmeta import NONNEGATIVE
from podless.runtime.bounded import bounded_cache
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each
from podless.structs import gostructs

_OF_CONTAINERS = frozenset({"cpu", "ephemeral-storage", "memory"})
_STANDARD = amounts.COUNTED | amounts.COMPUTE | {"requests.storage", "storage"}
_HUGE = amounts.HUGE_PAGES
_OF_PODS = ("cpu", _HUGE, "memory")
_REQUESTS = "requests."
_AMOUNT = 16  # steps to validate an amount

NameCheck = Callable[[str, str], field.Errors]


def is_extended(name: str) -> bool:
    """Return whether a resource is an extended one, outside the domains of Kubernetes."""
    if is_native(name) or name.startswith(_REQUESTS):
        return False
    return not names.check_qualified_name(_REQUESTS + name)


def is_native(name: str) -> bool:
    """Return whether a resource is one of Kubernetes' own."""
    return "/" not in name or "kubernetes.io/" in name


def may_overcommit(name: str) -> bool:
    """Return whether limits of a resource may exceed requests."""
    return is_native(name) and not name.startswith(_HUGE)


def validate_resources(
    resources: Object, path: str, claims: Set[str], *, indivisible: bool = False, name_check: NameCheck | None = None
) -> field.Errors:
    """Validate the resources of a container. claims: the names of the pod's claims.

    indivisible: accept fractions of huge pages. name_check: validates the names (default: those of a container).
    """
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for key, listed in (("limits", limits), ("requests", requests)):
        for name, text in listed.items():
            charge(_AMOUNT)
            item_path = f"{path}.{key}[{name}]"
            yield from (name_check or validate_container_resource)(name, item_path)
            yield from validate_quantity(name, text, item_path)
            if listed is requests:
                yield from _validate_within_limit(name, text, limits.get(name), path)
            if name.startswith(_HUGE) and not indivisible:
                yield from _validate_huge_pages(name, text, item_path)
    all_names = limits.keys() | requests.keys()
    if any(name.startswith(_HUGE) for name in all_names) and all_names.isdisjoint(("cpu", "memory")):
        yield field.forbidden(path, "HugePages require cpu or memory")
    if resources.get("claims"):
        yield from _validate_claims(resources["claims"], f"{path}.claims", claims)


def _validate_within_limit(name: str, text: str, limit: str | None, path: str) -> field.Errors:
    if limit is None:
        if not may_overcommit(name):
            yield field.required(f"{path}.limits", "Limit must be set for non overcommitable resources")
        return
    nanos, maximum = quantity.parse_nanos(text), quantity.parse_nanos(limit)
    if nanos != maximum and not may_overcommit(name):
        yield field.invalid(f"{path}.requests", text, f"must be equal to {name} limit of {limit}")
    elif nanos > maximum:
        yield field.invalid(f"{path}.requests", text, f"must be less than or equal to {name} limit of {limit}")


def validate_quantity(name: str, text: str, path: str) -> field.Errors:
    """Validate the quantity of a resource."""
    if quantity.parse_nanos(text) < 0:
        yield field.invalid(path, text, NONNEGATIVE)
    if (name in amounts.COUNTED or is_extended(name)) and not quantity.is_whole(text):
        yield field.invalid(path, gostructs.format_quantity(text), "must be an integer")


def _validate_huge_pages(name: str, text: str, path: str) -> field.Errors:
    try:
        size, fraction = divmod(quantity.parse_nanos(name.removeprefix(_HUGE)), quantity.NANO)
    except quantity.QuantityError:
        size, fraction = 0, 0
    if size <= 0 or fraction or -(-quantity.parse_nanos(text) // quantity.NANO) % size:
        yield field.invalid(path, text, f"{text} is not positive integer multiple of {name}")


def has_fractional_huge_pages(spec: Object) -> bool:
    """Return whether containers of a pod have fractions of huge pages."""
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    return any(
        name.startswith(_HUGE) and any(_validate_huge_pages(name, text, ""))
        for container in each(containers)
        for key in ("limits", "requests")
        for name, text in ((container.get("resources") or {}).get(key) or {}).items()
    )


def validate_resource_name(name: str, path: str) -> field.Errors:
    """Validate the name of a resource: one of Kubernetes' own, or a domain-prefixed one."""
    faults = names.check_qualified_name(name)
    if faults:
        yield from field.invalid_details(path, Stringer(name), faults)
    elif "/" not in name and name not in _STANDARD and not name.startswith((_HUGE, _REQUESTS + _HUGE)):
        yield field.invalid(path, Stringer(name), "must be a standard resource type or fully qualified")


def validate_container_resource(name: str, path: str) -> field.Errors:
    """Validate the name of a resource of a container."""
    if name not in _OF_CONTAINERS and not _fits_containers(name):
        yield from _find_container_faults(name, path)


@bounded_cache(4096)
def _fits_containers(name: str) -> bool:
    """Return whether containers may use a resource; cached, because a pod's containers often have the same ones."""
    return not any(_find_container_faults(name, ""))


def _find_container_faults(name: str, path: str) -> field.Errors:
    yield from validate_resource_name(name, path)
    if "/" not in name:
        if not name.startswith(_HUGE):
            yield field.invalid(path, Stringer(name), "must be a standard resource for containers")
    elif not is_native(name) and not is_extended(name):
        yield field.invalid(path, Stringer(name), "doesn't follow extended resource name standard")


def _validate_pod_resource(name: str, path: str) -> field.Errors:
    errors = list(validate_resource_name(name, path))
    yield from errors
    if not errors and name not in _OF_PODS and not name.startswith(_HUGE):
        yield field.not_supported(path, Stringer(name), _OF_PODS)


def _validate_claims(claims: list[Object], path: str, claim_names: Set[str]) -> field.Errors:
    seen: set[str] = set()
    request_counts: dict[str, int] = {}  # number of named requests by claim
    for index, claim in enumerate(each(claims)):
        name, request, claim_path = claim.get("name", ""), claim.get("request") or "", f"{path}[{index}]"
        if not name:
            yield field.required(claim_path)
            continue
        key = f"{name}/{request}" if request else name
        if name in seen:
            yield field.duplicate(claim_path, name)
        else:
            if request:
                yield from field.invalid_details(f"{claim_path}.request", request, names.check_label_name(request))
            if key in seen:
                yield field.duplicate(claim_path, key)
            elif not request:
                yield from (field.duplicate(claim_path, name) for _ in range(request_counts.get(name, 0)))
            if "/" in key:
                claim_name = key.partition("/")[0]
                request_counts[claim_name] = request_counts.get(claim_name, 0) + 1
            seen.add(key)
        if name not in claim_names:
            detail = f": {', '.join(sorted(claim_names))}" if claim_names else " which is empty"
            text = f"must be one of the names in pod.spec.resourceClaims{detail}"
            yield FieldError("FieldValueNotFound", claim_path, name, text)


def validate_pod_resources(spec: Object, path: str, claims: Set[str], *, indivisible: bool = False) -> field.Errors:
    """Validate the resources of a pod as a whole. claims: the names of its claims."""
    pod_resources = spec.get("resources")
    if pod_resources is None:
        return
    resources_path = f"{path}.resources"
    if (spec.get("os") or {}).get("name") == "windows":
        yield field.forbidden(resources_path, "may not be set for a windows pod")
        return
    if pod_resources.get("claims") is not None:
        yield field.forbidden(f"{resources_path}.claims", "claims may not be set for Resources at pod-level")
    yield from validate_resources(
        pod_resources, resources_path, claims, indivisible=indivisible, name_check=_validate_pod_resource
    )
    yield from _validate_pod_total(spec, pod_resources, resources_path)


def _validate_pod_total(spec: Object, pod_resources: Object, path: str) -> field.Errors:
    """Reject containers that together request more than the pod."""
    limits = pod_resources.get("limits") or {}
    for field_name, pod_amounts in (("requests", pod_resources.get("requests") or {}), ("limits", limits)):
        for name, text in each(amounts.sum_resources(spec, field_name)).items():
            if name not in pod_amounts or (field_name == "limits" and not name.startswith(_HUGE)):
                continue
            if quantity.parse_nanos(text) > quantity.parse_nanos(pod_amounts[name]):
                reason = f"must be greater than or equal to aggregate container {field_name} of {text}"
                yield field.invalid(f"{path}.{field_name}[{name}]", pod_amounts[name], reason)
    for index, container in enumerate(each(spec.get("containers") or ())):
        for name, text in each((container.get("resources") or {}).get("limits") or {}).items():
            if name in limits and quantity.parse_nanos(text) > quantity.parse_nanos(limits[name]):
                reason = f"must be less than or equal to pod limits of {limits[name]}"
                yield field.invalid(f"{path}.containers[{index}][{name}].limits", text, reason)
