"""Strategy of DeviceTaintRule. Source: Kubernetes' pkg/apis/resource/validation and pkg/registry/resource."""

from __future__ import annotations

from podless.apis.podspec.disks import validate_driver_name
from podless.apis.resource import parts
from podless.apis.shared.typed import KeptMetadataStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy
from podless.meta import field
from podless.meta.validation import validate_conditions
from podless.runtime import clock
from podless.runtime.jsonobject import Object

_MAX_CONDITIONS = 8


class DeviceTaintRuleStrategy(KeptMetadataStrategy):
    """Strategy of DeviceTaintRule. timeAdded changes with the effect."""

    allow_unconditional_update = False
    has_generation = True
    metadata = MetadataPolicy(on_update=(0, 1), on_status=(0, 1))

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        taint = obj["spec"]["taint"]
        if taint.get("timeAdded") is None:
            taint["timeAdded"] = clock.now()

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_update(version, obj, old)
        taint, before = obj["spec"]["taint"], old["spec"]["taint"]
        if taint["effect"] != before["effect"] and taint.get("timeAdded") == before.get("timeAdded"):
            taint["timeAdded"] = clock.now()

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        """Validate the spec. The effect of a stored rule need not be valid."""
        taint, selector = obj["spec"]["taint"], obj["spec"].get("deviceSelector") or {}
        checks = (
            ("driver", validate_driver_name),
            ("pool", parts.validate_pool_name),
            ("device", parts.validate_label),
        )
        for name, check in checks:
            if (value := selector.get(name)) is not None:
                yield from check(value, f"spec.deviceSelector.{name}")
        has_known_effect = old is not None and old["spec"]["taint"]["effect"] == taint["effect"]
        for error in parts.validate_taint(taint, "spec.taint"):
            if not (has_known_effect and str(error.at) == "spec.taint.effect"):
                yield error

    def validate_status(self, version: Version, obj: Object, old: Object) -> field.Errors:
        conditions = (obj.get("status") or {}).get("conditions") or []
        yield from validate_conditions(conditions, "status.conditions")
        if len(conditions) > _MAX_CONDITIONS:
            yield field.too_many("status.conditions", len(conditions), _MAX_CONDITIONS)


STRATEGY = DeviceTaintRuleStrategy()
