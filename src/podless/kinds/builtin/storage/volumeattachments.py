"""VolumeAttachment: a volume is to be attached to a node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podless.kinds.builtin.immutable import immutable
from podless.kinds.builtin.podspec import disks
from podless.kinds.builtin.statused import keep_metadata
from podless.kinds.builtin.storage import parts
from podless.kinds.builtin.typed import TypedStrategy
from podless.kinds.builtin.volumes import spec as volumes
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Object
from podless.kinds.types import gostructs
from podless.kinds.types.storage import VOLUME_ATTACHMENT, VOLUME_ATTACHMENT_SPEC
from podless.meta import field, names
from podless.meta.field import FieldError

_MESSAGE_MOST, _SHOWN_MOST = 1024, 256 * 1024  # bytes; a real server names another number than it means
_ONE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


class VolumeAttachmentStrategy(TypedStrategy):
    """What is wanted stays; the status has its own endpoint."""

    unconditional = False
    shown_deleted = True
    rechecks = (1, 0)

    def prepare_create(self, version: Version, obj: Object) -> None:
        """Nothing is attached yet."""
        obj["status"] = {"attached": False}

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        """The status stays."""
        obj["status"] = old["status"]

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        """What is wanted stays, and so do all but the managed fields of the metadata."""
        obj["spec"] = old["spec"]
        keep_metadata(obj, old)

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Sequence[FieldError]:
        """Who attaches what to which node."""
        spec, status = obj["spec"], obj["status"]
        errors = [*disks.driver_name(spec["attacher"], "spec.attacher"), *_source(spec["source"])]
        errors += [field.invalid("spec.nodeName", spec["nodeName"], text) for text in names.subdomain(spec["nodeName"])]
        errors += parts.sized(status.get("attachmentMetadata") or {}, "status.attachmentMetadata")
        for name in ("attachError", "detachError"):
            errors += _error(status.get(name) or {}, f"status.{name}")
        return errors

    def validate_update(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """As a new one, of the same spec."""
        errors = [*self.validate_create(kind, version, obj)]
        if obj["spec"] != old["spec"]:
            errors.append(immutable("spec", gostructs.shown(VOLUME_ATTACHMENT_SPEC, obj["spec"])))
        return errors


def _source(source: Object) -> Iterator[FieldError]:
    path, inline, name = "spec.source", source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    if inline is None and name is None:
        yield field.required(path, _ONE)
    elif inline is not None and name is not None:
        yield field.forbidden(path, _ONE)
    elif inline is not None:
        yield from volumes.inline(inline, f"{path}.inlineVolumeSpec")
    elif not name:
        yield field.required(f"{path}.persistentVolumeName", "must specify non empty persistentVolumeName")
    if name is not None:
        yield from (field.invalid(f"{path}.persistentVolumeName", name, text) for text in names.subdomain(name))


def _error(error: Object, path: str) -> Iterator[FieldError]:
    if len((error.get("message") or "").encode()) > _MESSAGE_MOST:
        yield field.too_long(f"{path}.message", _SHOWN_MOST)
    code = error.get("errorCode")
    if code is not None and code < 0:
        yield field.invalid(f"{path}.errorCode", code, "must be between 0 and 2147483647, inclusive")


STRUCT = VOLUME_ATTACHMENT
STRATEGY = VolumeAttachmentStrategy()
