"""Validates a pod's status of claims and containers. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

from podless.apis.shared import checks
from podless.apis.shared.checks import Errors
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_CONTAINERS = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
_EXTENDED = (
    "must match the extended resource name of an entry in spec.initContainers.resources.requests or "
    "spec.containers.resources.requests"
)
_CLAIM = "must match the name of an entry in `spec.resourceClaims`"
_OF_CLAIMS = (
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or "
    "'claim:<claimName>' if request is empty"
)
_OF_REQUESTS = "must match one of the container's resource requests"
_HEALTHS = ("Healthy", "Unhealthy", "Unknown")
EPHEMERAL = "ephemeralContainerStatuses"
# fields with statuses of containers: the field with the containers
_PARTS = {"containerStatuses": "containers", "initContainerStatuses": "initContainers", EPHEMERAL: ""}


def validate_claims(status: Object, spec: Object) -> Errors:
    """Validate what a pod's status reports of claims."""
    yield from _claims(status.get("resourceClaimStatuses") or [], spec)
    yield from _extended(status.get("extendedResourceClaimStatus"), spec)


def validate_containers(status: Object, spec: Object) -> Errors:
    """Validate what a pod's status reports of containers: first all users, then all resources."""
    system = (spec.get("os") or {}).get("name", "linux")
    for part in _PARTS:
        for place, one in enumerate(each(status.get(part) or ())):
            yield from _user(one.get("user") or {}, system, f"status.{part}[{place}].user.linux")
    for part, containers in _PARTS.items():
        known = {one.get("name", ""): one for one in reversed(each(spec.get(containers) or []))}
        for place, one in enumerate(each(status.get(part) or ())):
            path = f"status.{part}[{place}].allocatedResourcesStatus"
            if part != EPHEMERAL:
                yield from _allocated(one, known.get(one.get("name", "")), path)
            elif one.get("allocatedResourcesStatus"):
                yield field.forbidden(path, "must not be specified in container status")


def _claims(given: list[Object], spec: Object) -> Errors:
    known = {one.get("name", "") for one in each(spec.get("resourceClaims") or ())}
    seen: set[str] = set()
    for place, one in enumerate(each(given)):
        path, name, claim = f"status.resourceClaimStatuses[{place}]", one.get("name", ""), one.get("resourceClaimName")
        if name not in known:
            yield field.invalid(f"{path}.name", name, _CLAIM)
        yield from checks.validate_unique(f"{path}.name", name, seen)
        if claim is not None:
            yield from field.invalid_details(f"{path}.resourceClaimName", claim, names.check_subdomain(claim))


def _extended(given: Object | None, spec: Object) -> Errors:
    if given is None:
        return
    path, mappings = "status.extendedResourceClaimStatus", given.get("requestMappings") or []
    every = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    known = {one.get("name", ""): (one.get("resources") or {}).get("requests") or {} for one in each(every)}
    if not mappings:
        yield field.required(f"{path}.requestMappings", "at least one request mapping is required")
    parts = ("containerName", "resourceName", "requestName")
    seen: set[tuple[str, ...]] = set()
    for place, one in enumerate(each(mappings)):
        where, values = f"{path}.requestMappings[{place}]", tuple(one.get(name, "") for name in parts)
        container, resource, request = values
        if container not in known:
            yield field.invalid(f"{where}.containerName", container, _CONTAINERS)
        elif resource not in known[container]:
            yield field.invalid(f"{where}.resourceName", resource, _EXTENDED)
        yield from field.invalid_details(f"{path}.requestName", request, names.check_label_name(request))
        if values in seen:
            yield from (field.duplicate(f"{where}.{name}", value) for name, value in zip(parts, values, strict=True))
        seen.add(values)
    yield from checks.validate_name(f"{path}.resourceClaimName", given.get("resourceClaimName"), names.check_subdomain)


def _user(user: Object, system: str, path: str) -> Errors:
    linux = user.get("linux")
    if linux is None:
        return
    if system == "windows":
        yield field.forbidden(path, "cannot be set for a windows pod")
    elif system == "linux":
        yield from checks.validate_ids(linux, path, "uid", "gid")
        yield from checks.validate_group_ids(linux, path)


def _allocated(status: Object, container: Object | None, path: str) -> Errors:
    for place, one in enumerate(each(status.get("allocatedResourcesStatus") or ())):
        where, name = f"{path}[{place}]", one.get("name", "")
        if container is not None:
            held = container.get("resources") or {}
            of_claims = name.startswith("claim:")
            known = _names(held.get("claims") or []) if of_claims else held.get("requests") or {}
            if name not in known:
                yield field.invalid(f"{where}.name", name, _OF_CLAIMS if of_claims else _OF_REQUESTS)
        seen: set[str] = set()
        for index, part in enumerate(each(one.get("resources") or ())):
            inside, health, known_as = f"{where}.resources[{index}]", part.get("health", ""), part.get("resourceID", "")
            yield from field.one_of(f"{inside}.health", health, _HEALTHS)
            yield from checks.validate_unique(f"{inside}.resourceID", known_as, seen)


def _names(claims: list[Object]) -> set[str]:
    """Return the names of a container's claims, as errors of the status show them."""
    return {
        f"claim:{one.get('name', '')}" + (f"/{one['request']}" if one.get("request") else "") for one in each(claims)
    }
