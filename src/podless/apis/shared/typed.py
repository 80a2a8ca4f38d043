"""Strategies of kinds with a struct, and functions that restore parts of the old object in updates."""

from __future__ import annotations

from typing import Any, ClassVar

from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import NOT_STATUS, MetadataPolicy, Strategy
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs import defaults, structs

# metadata that clients and controllers set
CLIENT_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
_SYSTEM = ("generateName", "uid", "resourceVersion", "creationTimestamp", "deletionGracePeriodSeconds", "managedFields")


class TypedStrategy(Strategy[Kind]):
    """Strategy of kinds with a struct: unknown fields are dropped, and values of a wrong type are rejected.

    Of a kind with a status subresource, only writes to it change the status, and they change nothing else.
    selects: the field names that `read_selectable_fields` returns. blank: the status of a new object.
    """

    rearranged = True  # False for kinds with frequent or long writes, if their rules append no fields
    metadata = MetadataPolicy()
    selects: frozenset[str] = frozenset()
    blank: ClassVar[Object] = {}

    def decode(
        self,
        kind: Kind,
        version: Version,
        obj: Object,
        unknown: list[str],
        stored_metadata: Object | None = None,
        *,
        fill: bool = True,
    ) -> Object:
        struct = kind.struct_of(version)
        assert struct is not None
        decoded = structs.decode_struct(struct, obj, unknown)
        metadata = decoded.pop("metadata", None) or {}
        if type(raw_metadata := obj.get("metadata")) is dict and raw_metadata.get("managedFields") == []:
            metadata["managedFields"] = []  # an empty list asks the server to forget field managers
        head = {"kind": obj["kind"], "apiVersion": obj["apiVersion"], "metadata": metadata}
        decoded = head | {name: value for name, value in decoded.items() if name not in head}
        if fill:
            self.fill_defaults(kind, version, decoded)
        self.complete(decoded, obj)
        return decoded

    def list_selectable_fields(self, version: Version) -> frozenset[str]:
        return self.selects

    def explain_unselectable(self, name: str) -> str:
        return f"field label not supported: {name}" if self.selects else super().explain_unselectable(name)

    def complete(self, obj: Object, raw: Object) -> None:
        """Complete the decoded object, if the struct cannot describe all. raw: the value before decoding."""

    def fill_defaults(self, kind: Kind, version: Version, obj: Object) -> None:
        struct = kind.struct_of(version)
        assert struct is not None
        defaults.fill_defaults(struct, obj)
        self.fill_computed_defaults(version, obj)

    def prepare_create(self, version: Version, obj: Object) -> None:
        if version.status:
            obj["status"] = dict(self.blank)

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        if version.status:
            obj["status"] = old["status"]


class KeptMetadataStrategy(TypedStrategy):
    """Strategy of kinds whose status writes also keep all metadata except managedFields."""

    status_resets = NOT_STATUS

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_status(version, obj, old)
        keep_metadata(obj, old)


def keep_metadata(obj: Object, old: Object) -> None:
    """Restore the old metadata, except managedFields and immutable fields, whose changes are rejected later.

    Source: ResetObjectMetaForStatus of k8s.io/apimachinery.
    """
    metadata = obj["metadata"]
    obj["metadata"] = {name: value for name, value in each(old["metadata"]).items() if name not in _SYSTEM}
    obj["metadata"] |= {name: metadata[name] for name in _SYSTEM if name in metadata}


def keep_parts(obj: Object, before: Object, *names: str) -> None:
    """Restore parts of an object from `before`; remove those that were not set."""
    for name in names:
        if name in before:
            obj[name] = before[name]
        else:
            obj.pop(name, None)


def put_part(obj: Object, name: str, value: Any) -> None:
    """Set a part of an object; remove it if the value is empty."""
    if value:
        obj[name] = value
    else:
        obj.pop(name, None)
