"""Strategy of ResourceClaim. Source: Kubernetes' pkg/registry/resource/resourceclaim and pkg/apis/resource."""

from __future__ import annotations

from functools import partial
from typing import Any

from podless.apis.podspec.affinity import validate_node_selector
from podless.apis.podspec.disks import validate_driver_name
from podless.apis.resource import parts, requests
from podless.apis.resource.requests import device_key
from podless.apis.shared import checks
from podless.apis.shared.typed import KeptMetadataStrategy, put_part
from podless.kinds.kind import Version
from podless.meta import addresses, field, validation
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs import gostructs

_MAX_USERS = 256
_MAX_CONDITIONS = 8
_MAX_ADDRESSES = 16
_LENGTHS = {"interfaceName": 256, "hardwareAddress": 128}  # bytes
_SOURCES = ("FromClaim", "FromClass")
_UNALLOCATED = "may not be specified when `allocated` is not set"
_ENDING = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"


class ResourceClaimStrategy(parts.SelectorStrategy, KeptMetadataStrategy):
    """Strategy of ResourceClaim, whose spec is immutable."""

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        requests.default_requests(obj["spec"])

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_status(version, obj, old)
        status = obj["status"]
        deallocated = _list_allocated(old["status"]) - _list_allocated(status)
        remaining = [device for device in each(status.get("devices") or ()) if device_key(device) not in deallocated]
        put_part(status, "devices", remaining)

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        spec = obj["spec"]
        if old is None:
            yield from requests.validate_claim(spec, "spec")
        elif not requests.is_same_spec(spec, old["spec"]):
            yield checks.immutable_error("spec", gostructs.format_struct("resource/v1.ResourceClaimSpec", spec))

    def validate_status(self, version: Version, obj: Object, old: Object) -> field.Errors:
        status, before = obj["status"], old["status"]
        users, allocation = status.get("reservedFor") or [], status.get("allocation")
        yield from parts.validate_set(users, _MAX_USERS, "status.reservedFor", _validate_user, lambda user: user["uid"])
        check = partial(_validate_device, _list_allocated(status))
        yield from parts.validate_set(status.get("devices"), -1, "status.devices", check, device_key, _show_device)
        if users and allocation is None:
            yield field.forbidden("status.reservedFor", _UNALLOCATED)
        elif users and "deletionTimestamp" in obj["metadata"] and _adds_users(users, before.get("reservedFor") or []):
            yield field.forbidden("status.reservedFor", _ENDING)
        if allocation is not None and before.get("allocation") is None:
            yield from _validate_allocation(allocation, requests.known_requests(obj["spec"]))
        elif allocation is not None and allocation != before["allocation"]:
            text = gostructs.format_struct("resource/v1.AllocationResult", allocation)
            yield checks.immutable_error("status.allocation", text)


def _list_allocated(status: Object) -> set[tuple[str, ...]]:
    devices = (status.get("allocation") or {}).get("devices") or {}
    return {device_key(result) for result in each(devices.get("results") or ())}


def _show_device(name: tuple[str, ...]) -> Object:
    """Return a device's name as errors show it."""
    return dict(zip(("Driver", "Pool", "Device", "ShareID"), name, strict=True))


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
        yield from validate_node_selector(selector, "status.allocation.nodeSelector")


def _validate_result(request_names: requests.RequestNames, result: Object, path: str) -> field.Errors:
    yield from requests.validate_request_name(request_names, result["request"], f"{path}.request")
    yield from _validate_names(result, path)
    yield from parts.validate_binding(result, path)
    if (share := result.get("shareID")) is not None:
        yield from parts.validate_uid(share, f"{path}.shareID")


def _validate_names(device: Object, path: str) -> field.Errors:
    yield from validate_driver_name(device["driver"], f"{path}.driver")
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
    yield from validation.validate_conditions(device_conditions, f"{path}.conditions")
    if "data" in device:
        yield from parts.validate_raw(device["data"], f"{path}.data")
    yield from _validate_network(device.get("networkData") or {}, f"{path}.networkData")


def _validate_network(network: Object, path: str) -> field.Errors:
    for name, maximum in _LENGTHS.items():
        if len(network.get(name, "").encode()) > maximum:
            yield field.too_long(f"{path}.{name}", maximum)
    yield from parts.validate_set(network.get("ips"), _MAX_ADDRESSES, f"{path}.ips", _validate_address, str)


def _validate_address(address: str, path: str) -> field.Errors:
    yield from field.invalid_details(path, address, addresses.find_interface_faults(address))


STRATEGY = ResourceClaimStrategy()
