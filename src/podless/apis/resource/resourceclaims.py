"""Strategy of ResourceClaim. Source: pkg/registry/resource/resourceclaim."""

from __future__ import annotations

from functools import partial
from typing import Any

from podless.apis.podspec.affinity import node_selector
from podless.apis.podspec.disks import driver_name
from podless.apis.resource import parts, requests
from podless.apis.shared import checks
from podless.apis.shared.checks import immutable_error, validate_immutable
from podless.apis.shared.typed import KeptMetadataStrategy, put_part
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, ValidationCost
from podless.meta import addresses, conditions, field
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

# validates the status of ResourceClaims: allocated devices, consumers, and device statuses. Source: Kubernetes'
# pkg/apis/resource/validation.

ALLOCATION_RESULT = load_struct("resource/v1", "AllocationResult")

_MAX_USERS = 256
_MAX_CONDITIONS = 8
_MAX_ADDRESSES = 16
_LENGTHS = {"interfaceName": 256, "hardwareAddress": 128}  # bytes
_SOURCES = ("FromClaim", "FromClass")
_UNALLOCATED = "may not be specified when `allocated` is not set"
_ENDING = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"


def device_key(device: Object) -> tuple[str, ...]:
    """Return the key of a device, or of a share of it."""
    return (*(device[key] for key in ("driver", "pool", "device")), device.get("shareID") or "")


def allocated_devices(status: Object) -> set[tuple[str, ...]]:
    """Return the keys of a claim's devices."""
    devices = (status.get("allocation") or {}).get("devices") or {}
    return {device_key(result) for result in each(devices.get("results") or ())}


def _show_device(name: tuple[str, ...]) -> Object:
    """Return a device's name as errors show it."""
    return dict(zip(("Driver", "Pool", "Device", "ShareID"), name, strict=True))


def validate_allocation(obj: Object, old: Object) -> field.Errors:
    """Validate the status of a ResourceClaim."""
    status, before = obj["status"], old["status"]
    users, allocation = status.get("reservedFor") or [], status.get("allocation")
    yield from parts.validate_set(users, _MAX_USERS, "status.reservedFor", _validate_user, lambda user: user["uid"])
    check_device = partial(_validate_device, allocated_devices(status))
    yield from parts.validate_set(status.get("devices"), -1, "status.devices", check_device, device_key, _show_device)
    if users and allocation is None:
        yield field.forbidden("status.reservedFor", _UNALLOCATED)
    elif users and "deletionTimestamp" in obj["metadata"] and _adds_users(users, before.get("reservedFor") or []):
        yield field.forbidden("status.reservedFor", _ENDING)
    old_allocation = before.get("allocation")
    if allocation is not None and old_allocation is not None:
        yield from validate_immutable(
            "status.allocation", allocation, old_allocation, gostructs.format_struct(ALLOCATION_RESULT, allocation)
        )
    elif allocation is not None:
        yield from _validate_allocation(allocation, requests.known_requests(obj["spec"]))


def _adds_users(users: list[Object], before: list[Object]) -> bool:
    old_users = {tuple(sorted(consumer.items())) for consumer in each(before)}
    return any(tuple(sorted(user.items())) not in old_users for user in each(users))


def _validate_user(user: Object, path: str) -> field.Errors:
    yield from checks.require_fields(user, path, "resource", "name", "uid")


def _validate_allocation(allocation: Object, request_names: requests.RequestNames) -> field.Errors:
    devices, path = allocation["devices"], "status.allocation.devices"
    yield from parts.validate_list(
        devices.get("results"), requests.MAX_REQUESTS, f"{path}.results", partial(_validate_result, request_names)
    )
    config = partial(_validate_configuration, request_names)
    yield from parts.validate_list(devices.get("config"), 2 * parts.MAX_CONFIGS, f"{path}.config", config)
    if (selector := allocation.get("nodeSelector")) is not None:
        yield from node_selector(selector, "status.allocation.nodeSelector")


def _validate_result(request_names: requests.RequestNames, result: Object, path: str) -> field.Errors:
    yield from requests.validate_request_name(request_names, result["request"], f"{path}.request")
    yield from _validate_names(result, path)
    yield from parts.validate_binding(result, path)
    if (share := result.get("shareID")) is not None:
        yield from parts.validate_uid(share, f"{path}.shareID")


def _validate_names(device: Object, path: str) -> field.Errors:
    yield from driver_name(device["driver"], f"{path}.driver")
    yield from parts.validate_pool_name(device["pool"], f"{path}.pool")
    yield from parts.validate_label(device["device"], f"{path}.device")


def _validate_configuration(request_names: requests.RequestNames, config: Object, path: str) -> field.Errors:
    yield from checks.validate_enum(f"{path}.source", config["source"], _SOURCES)
    yield from requests.validate_request_names(config.get("requests"), f"{path}.requests", request_names)
    yield from parts.validate_configuration(config, path)


def _validate_device(allocated: set[Any], device: Object, path: str) -> field.Errors:
    yield from _validate_names(device, path)
    if (share := device.get("shareID")) is not None:
        yield from parts.validate_uid(share, f"{path}.shareID")
    if (name := device_key(device)) not in allocated:
        yield field.invalid(path, _show_device(name), "must be an allocated device in the claim")
    device_conditions = device.get("conditions") or []
    if len(device_conditions) > _MAX_CONDITIONS:
        yield field.too_many(f"{path}.conditions", len(device_conditions), _MAX_CONDITIONS)
    yield from conditions.validate_conditions(device_conditions, f"{path}.conditions")
    if "data" in device:
        yield from parts.validate_raw(device["data"], f"{path}.data")
    yield from _validate_network(device.get("networkData") or {}, f"{path}.networkData")


def _validate_network(network: Object, path: str) -> field.Errors:
    for name, maximum in _LENGTHS.items():
        if len(network.get(name, "").encode()) > maximum:
            yield field.too_long(f"{path}.{name}", maximum)
    yield from parts.validate_set(network.get("ips"), _MAX_ADDRESSES, f"{path}.ips", _validate_address, str)


def _validate_address(address: str, path: str) -> field.Errors:
    yield from field.invalid_details(path, address, addresses.interface_faults(address))


RESOURCE_CLAIM_SPEC = load_struct("resource/v1", "ResourceClaimSpec")


class ResourceClaimStrategy(KeptMetadataStrategy):
    """Strategy of ResourceClaim, whose spec is immutable."""

    checking = ValidationCost(preload=True, cost=parts.STRAIN)

    def load_rules(self) -> None:
        parts.load_cel()

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        requests.default_requests(obj["spec"])

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_status(version, obj, old)
        status = obj["status"]
        deallocated = allocated_devices(old["status"]) - allocated_devices(status)
        remaining = [device for device in each(status.get("devices") or ()) if device_key(device) not in deallocated]
        put_part(status, "devices", remaining)

    def validate_create(self, version: Version, obj: Object) -> Faults:
        return [*requests.validate_claim(obj["spec"], "spec")]

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        spec = obj["spec"]
        is_same = requests.is_same_spec(spec, old["spec"])
        return [] if is_same else [immutable_error("spec", gostructs.format_struct(RESOURCE_CLAIM_SPEC, spec))]

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        return [*validate_allocation(obj, old)]


STRATEGY = ResourceClaimStrategy()
