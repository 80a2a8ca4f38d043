"""Strategy of ConfigMap."""

from __future__ import annotations

from podless.apis.shared.checks import validate_sealed
from podless.apis.shared.typed import TypedStrategy
from podless.codec import gobase64
from podless.kinds.kind import Version
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.sorting import sort_keys

_MAX = 1024 * 1024  # maximum bytes of all keys and values


class ConfigMapStrategy(TypedStrategy):
    """Strategy of ConfigMap. Keys are file names in one of two maps; an immutable map cannot change."""

    rearranged = False

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        if old is not None:
            yield from validate_sealed(obj, old, "data", "binaryData")
        data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
        size = 0
        for key, value in each(sort_keys(data)).items():
            yield from field.invalid_details(f"data[{key}]", key, names.check_config_key(key))
            if key in binary:
                yield field.invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
            size += len(value.encode())
        for key, value in each(sort_keys(binary)).items():
            yield from field.invalid_details(f"binaryData[{key}]", key, names.check_config_key(key))
            size += gobase64.count_decoded_bytes(value or "")  # null has no bytes
        if size > _MAX:
            yield field.too_long("", _MAX)


STRATEGY = ConfigMapStrategy()
