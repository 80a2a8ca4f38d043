"""Strategy of VolumeAttributesClass. Source: Kubernetes' pkg/apis/storage/validation."""

from __future__ import annotations

from podless.apis.shared.typed import TypedStrategy
from podless.apis.storage import storageclasses
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults
from podless.meta import field
from podless.runtime.jsonobject import Object


class VolumeAttributesClassStrategy(TypedStrategy):
    """Strategy of VolumeAttributesClass."""

    def validate_create(self, version: Version, obj: Object) -> Faults:
        parameters = obj.get("parameters") or {}
        errors = [
            *storageclasses.validate_provisioner(obj["driverName"], "driverName"),
            *storageclasses.validate_parameters(parameters),
        ]
        if not parameters:
            errors.append(field.required("parameters", "must contain at least one key/value pair"))
        return errors

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        errors = [
            field.forbidden(name, f"updates to {name} are forbidden.")
            for name in ("driverName", "parameters")
            if obj.get(name) != old.get(name)
        ]
        return [*errors, *self.validate_create(version, obj)]


STRATEGY = VolumeAttributesClassStrategy()
