"""Strategy of VolumeAttachment."""

from __future__ import annotations

from typing import ClassVar

from podless.apis.podspec import disks
from podless.apis.shared import checks, volumes
from podless.apis.shared.checks import immutable_error
from podless.apis.shared.typed import KeptMetadataStrategy
from podless.apis.storage import storageclasses
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.release import has
from podless.structs import gostructs

_MAX_MESSAGE, _MAX_SHOWN = 1024, 256 * 1024  # bytes: the real limit, and the one that most releases name in the error
_LARGEST = (1 << 31) - 1
_ONE_SOURCE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


class VolumeAttachmentStrategy(KeptMetadataStrategy):
    """Strategy of VolumeAttachment, whose spec is immutable."""

    allow_unconditional_update = False
    metadata = MetadataPolicy(on_update=(1, 0))
    blank: ClassVar[Object] = {"attached": False}

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        spec, errors = obj["spec"], [*_validate_attachment(obj)]
        if not spec["attacher"] and not has("AttachersOnce"):
            errors.append(field.required("spec.attacher"))
        if old is None or has("AttachersOnce"):
            errors += _validate_names(spec)
        yield from errors
        if old is not None and not has("UpdatesOnce"):
            yield from errors
        if old is not None and spec != old["spec"]:
            yield immutable_error("spec", gostructs.format_struct("storage/v1.VolumeAttachmentSpec", spec))


def _validate_attachment(obj: Object) -> field.Errors:
    spec, status = obj["spec"], obj["status"]
    yield from _validate_source(spec["source"])
    yield from field.invalid_details("spec.nodeName", spec["nodeName"], names.check_subdomain(spec["nodeName"]))
    yield from storageclasses.validate_size(status.get("attachmentMetadata") or {}, "status.attachmentMetadata")
    for name in ("attachError", "detachError"):
        yield from _validate_error(status.get(name) or {}, f"status.{name}")


def _validate_names(spec: Object) -> field.Errors:
    yield from disks.validate_driver_name(spec["attacher"], "spec.attacher")
    name = spec["source"].get("persistentVolumeName")
    if name is not None:
        yield from field.invalid_details("spec.source.persistentVolumeName", name, names.check_subdomain(name))


def _validate_source(source: Object) -> field.Errors:
    path, inline, name = "spec.source", source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    if inline is None and name is None:
        yield field.required(path, _ONE_SOURCE)
    elif inline is not None and name is not None:
        yield field.forbidden(path, _ONE_SOURCE)
    elif inline is not None:
        yield from volumes.validate_inline_spec(inline, f"{path}.inlineVolumeSpec")
    elif not name:
        yield field.required(f"{path}.persistentVolumeName", "must specify non empty persistentVolumeName")


def _validate_error(error: Object, path: str) -> field.Errors:
    if len((error.get("message") or "").encode()) > _MAX_MESSAGE:
        yield field.too_long(f"{path}.message", _MAX_SHOWN if has("OddMessageLimits") else _MAX_MESSAGE)
    yield from checks.validate_range(f"{path}.errorCode", error.get("errorCode"), 0, _LARGEST)


STRATEGY = VolumeAttachmentStrategy()
