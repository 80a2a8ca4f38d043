"""Validates requests, constraints and configuration of a ResourceClaim.

Source: Kubernetes' pkg/apis/resource/validation.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import partial

from podless.apis.resource import parts
from podless.apis.shared import checks
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

MAX_REQUESTS = 32
_MAX_CONSTRAINTS = 32
_MAX_CHOICES = 8
_ONE_REQUIRED = "exactly one of `exactly` or `firstAvailable` is required"
_UNKNOWN = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
_ATTRIBUTES = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'

# names of requests, each with the names of its subrequests
RequestNames = Mapping[str, Set[str]]


def known_requests(spec: Object) -> RequestNames:
    """Return the names of a claim's requests."""
    requests = (spec.get("devices") or {}).get("requests") or []
    return {
        item["name"]: {choice["name"] for choice in each(item.get("firstAvailable") or ())} for item in each(requests)
    }


def validate_claim(spec: Object, path: str) -> field.Errors:
    """Validate the spec of a ResourceClaim."""
    devices, at, requests = spec.get("devices") or {}, f"{path}.devices", known_requests(spec)
    yield from parts.validate_set(
        devices.get("requests"), MAX_REQUESTS, f"{at}.requests", _validate_request, _request_name
    )
    constraint = partial(_validate_constraint, requests)
    yield from parts.validate_list(devices.get("constraints"), _MAX_CONSTRAINTS, f"{at}.constraints", constraint)
    check = partial(_validate_configuration, requests)
    yield from parts.validate_list(devices.get("config"), parts.MAX_CONFIGS, f"{at}.config", check)


def validate_request_names(request_names: list[str] | None, path: str, requests: RequestNames) -> field.Errors:
    """Validate references to requests."""
    yield from parts.validate_set(request_names, MAX_REQUESTS, path, partial(validate_request_name, requests), str)


def validate_request_name(requests: RequestNames, name: str, path: str) -> field.Errors:
    """Validate a reference to a request or subrequest."""
    request, slash, choice = name.partition("/")
    if "/" in choice:
        yield field.invalid(path, name, _UNKNOWN)
        return
    for label in each((request, choice) if slash else (request,)):
        yield from parts.validate_label(label, path)
    if request not in requests or (slash and choice not in requests[request]):
        yield field.invalid(path, name, _UNKNOWN)


def device_key(device: Object) -> tuple[str, ...]:
    """Return the key of a device, or of a share of it."""
    return (*(device[key] for key in ("driver", "pool", "device")), device.get("shareID") or "")


def _request_name(request: Object) -> str:
    name: str = request["name"]
    return name


def _validate_request(request: Object, path: str) -> field.Errors:
    yield from parts.validate_label(request["name"], f"{path}.name")
    exactly, choices = request.get("exactly"), request.get("firstAvailable")
    if exactly is not None and choices:
        yield field.invalid(path, None, f"{_ONE_REQUIRED}, but multiple fields are set")
    elif choices:
        yield from parts.validate_set(choices, _MAX_CHOICES, f"{path}.firstAvailable", _validate_choice, _request_name)
    elif exactly is not None:
        yield from _validate_exact_request(exactly, f"{path}.exactly")
    else:
        yield field.required(path, _ONE_REQUIRED)


def _validate_choice(choice: Object, path: str) -> field.Errors:
    yield from parts.validate_label(choice["name"], f"{path}.name")
    yield from _validate_exact_request(choice, path)


def _validate_exact_request(exact_request: Object, path: str) -> field.Errors:
    yield from checks.validate_name(f"{path}.deviceClassName", exact_request["deviceClassName"], names.check_subdomain)
    yield from parts.validate_selectors(exact_request.get("selectors"), f"{path}.selectors")
    mode, count = exact_request.get("allocationMode") or "", exact_request.get("count") or 0
    if mode == "All" and count:
        yield field.invalid(f"{path}.count", count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount" and count <= 0:
        yield field.invalid(f"{path}.count", count, checks.POSITIVE)
    yield from field.one_of(f"{path}.allocationMode", mode, ("All", "ExactCount"))
    for index, toleration in enumerate(each(exact_request.get("tolerations") or ())):
        yield from parts.validate_toleration(toleration, f"{path}.tolerations[{index}]")


def _validate_constraint(requests: RequestNames, constraint: Object, path: str) -> field.Errors:
    yield from validate_request_names(constraint.get("requests"), f"{path}.requests", requests)
    for name in ("matchAttribute", "distinctAttribute"):
        if (attribute := constraint.get(name)) is not None:
            yield from parts.fully_qualified(attribute, f"{path}.{name}")
            return
    yield field.required(path, _ATTRIBUTES)


def _validate_configuration(requests: RequestNames, configuration: Object, path: str) -> field.Errors:
    yield from validate_request_names(configuration.get("requests"), f"{path}.requests", requests)
    yield from parts.validate_configuration(configuration, path)


def is_same_spec(first: Object, second: Object) -> bool:
    """Return whether two specs are equal; a missing list of requests equals an empty one."""
    return _list_missing_requests(first) == _list_missing_requests(second)


def _list_missing_requests(spec: Object) -> Object:
    devices = spec.get("devices") or {}
    return {**devices, "requests": devices.get("requests") or []}


def default_requests(spec: Object) -> None:
    """Set the default count of 1."""
    for request in each((spec.get("devices") or {}).get("requests") or ()):
        for choice in filter(None, each((request.get("exactly"), *(request.get("firstAvailable") or ())))):
            if choice.get("allocationMode") == "ExactCount" and not choice.get("count"):
                choice["count"] = 1
