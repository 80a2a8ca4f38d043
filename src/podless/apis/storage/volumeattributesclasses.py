"""Strategy of VolumeAttributesClass. Source: Kubernetes' pkg/apis/storage/validation."""

from __future__ import annotations

from podless.apis.shared.typed import TypedStrategy
from podless.apis.storage import storageclasses
from podless.kinds.kind import Version
from podless.meta import field
from podless.runtime.jsonobject import Object


class VolumeAttributesClassStrategy(TypedStrategy):
    """Strategy of VolumeAttributesClass."""

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        yield from storageclasses.forbid_changes(obj, old or obj, "driverName", "parameters")
        yield from storageclasses.validate_provisioner(obj["driverName"], "driverName")
        yield from storageclasses.validate_parameters(obj.get("parameters") or {})
        if not obj.get("parameters"):
            yield field.required("parameters", "must contain at least one key/value pair")


STRATEGY = VolumeAttributesClassStrategy()
