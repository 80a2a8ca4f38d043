"""Validates volume mounts and devices of containers. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from podless.apis.shared import checks
from podless.apis.shared.checks import Errors
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")
_BLOCK = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"


def validate_mounts(container: Object, path: str, volumes: Mapping[str, Object]) -> Errors:
    """Validate the mounts and devices of a container. volumes: the pod's valid volumes by name."""
    mounts, devices = container.get("volumeMounts") or [], container.get("volumeDevices") or []
    if mounts:
        yield from _mounts(mounts, devices, f"{path}.volumeMounts", volumes, _privileged(container))
    if devices:
        yield from _devices(devices, mounts, f"{path}.volumeDevices", volumes)


def _privileged(container: Object) -> bool:
    return (container.get("securityContext") or {}).get("privileged") is True


def _last(items: list[Object], key: str) -> dict[str, str]:
    """Return the path of each volume; the last one counts."""
    return {item.get("name", ""): item.get(key, "") for item in each(items)}


def _mounts(
    mounts: list[Object], devices: list[Object], path: str, volumes: Mapping[str, Object], privileged: bool
) -> Errors:
    others = _last(devices, "devicePath")
    places = set(others.values())
    seen: set[str] = set()
    for index, mount in enumerate(each(mounts)):
        where = f"{path}[{index}]"
        name, place = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield field.required(f"{where}.name")
        if name not in volumes:
            yield FieldError("FieldValueNotFound", f"{where}.name", name)
        if not place:
            yield field.required(f"{where}.mountPath")
        if place in seen:
            yield field.invalid(f"{where}.mountPath", place, "must be unique")
        seen.add(place)
        yield from _overlap(where, "mountPath", name, place, others, places, "volumeDevices")
        yield from _sub_paths(mount, path, where)
        yield from _propagation(mount, path, privileged)


def _overlap(
    where: str, key: str, name: str, place: str, others: Mapping[str, str], places: Collection[str], what: str
) -> Errors:
    if name in others:
        yield field.invalid(f"{where}.name", name, f"must not already exist in {what}")
    if place in places:
        yield field.invalid(f"{where}.{key}", place, f"must not already exist as a path in {what}")


def _sub_paths(mount: Object, path: str, where: str) -> Errors:
    plain, expression = mount.get("subPath"), mount.get("subPathExpr")
    if plain:
        yield from checks.validate_descending(f"{path}.subPath", plain)
    if expression:
        if plain:
            text = "subPathExpr and subPath are mutually exclusive"
            yield field.invalid(f"{where}.subPathExpr", expression, text)
        yield from checks.validate_descending(f"{path}.subPathExpr", expression)


def _propagation(mount: Object, path: str, privileged: bool) -> Errors:
    given, recursive = mount.get("mountPropagation"), mount.get("recursiveReadOnly")
    if given is not None:
        yield from checks.validate_enum(f"{path}.mountPropagation", given, _PROPAGATIONS, needed=False)
        if given == "Bidirectional" and not privileged:
            text = "Bidirectional mount propagation is available only to privileged containers"
            yield field.forbidden(f"{path}.mountPropagation", text)
    if recursive is None or recursive == "Disabled":
        return
    where = f"{path}.recursiveReadOnly"
    if recursive not in _RECURSIVE:
        yield checks.unsupported(where, recursive, _RECURSIVE)
        return
    if not mount.get("readOnly"):
        yield field.forbidden(where, "may only be specified when readOnly is true")
    if given not in (None, "None"):
        yield field.forbidden(where, "may only be specified when mountPropagation is None or not specified")


def _devices(devices: list[Object], mounts: list[Object], path: str, volumes: Mapping[str, Object]) -> Errors:
    others = _last(mounts, "mountPath")
    occupied = set(others.values())
    names: set[str] = set()
    places: set[str] = set()
    for index, device in enumerate(each(devices)):
        where = f"{path}[{index}]"
        name, place = device.get("name", ""), device.get("devicePath", "")
        if not name:
            yield field.required(f"{where}.name")
        if name in names:
            yield field.invalid(f"{where}.name", name, "must be unique")
        yield from _source(volumes.get(name), name, where)
        if not place:
            yield field.required(f"{where}.devicePath")
        if place in places:
            yield field.invalid(f"{where}.devicePath", place, "must be unique")
        if ".." in place.split("/"):
            yield field.invalid(f"{where}.devicePath", place, "can not contain backsteps ('..')")
        else:
            places.add(place)
        yield from _overlap(where, "devicePath", name, place, others, occupied, "volumeMounts")
        if name:
            names.add(name)


def _source(volume: Object | None, name: str, where: str) -> Errors:
    """Require the volume of a device to be a claim."""
    if volume is None:
        yield FieldError("FieldValueNotFound", f"{where}.name", name)
    elif volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is None:
        yield field.invalid(f"{where}.name", name, _BLOCK)
