"""Strategy of ConfigMap."""

from __future__ import annotations

from podless.apis.shared.typed import TypedStrategy
from podless.codec import gobase64
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.sorting import sort_keys

_MAX = 1024 * 1024  # maximum bytes of all keys and values


class ConfigMapStrategy(TypedStrategy):
    """Strategy of ConfigMap. Keys are file names in one of two maps; an immutable map cannot change."""

    def validate_create(self, version: Version, obj: Object) -> Faults:
        errors: list[FieldError] = []
        data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
        size = 0
        for key, value in each(sort_keys(data)).items():
            errors += field.invalid_details(f"data[{key}]", key, names.check_config_key(key))
            if key in binary:
                errors.append(field.invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
            size += len(value.encode())
        for key, value in each(sort_keys(binary)).items():
            errors += field.invalid_details(f"binaryData[{key}]", key, names.check_config_key(key))
            size += gobase64.count_decoded_bytes(value or "")  # null has no bytes
        if size > _MAX:
            errors.append(field.too_long("", _MAX))
        return errors

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        errors: list[FieldError] = []
        if old.get("immutable"):
            if not obj.get("immutable"):
                errors.append(field.forbidden("immutable", "field is immutable when `immutable` is set"))
            errors += [
                field.forbidden(name, "field is immutable when `immutable` is set")
                for name in ("data", "binaryData")
                if obj.get(name) != old.get(name)
            ]
        return [*errors, *self.validate_create(version, obj)]


STRATEGY = ConfigMapStrategy()
