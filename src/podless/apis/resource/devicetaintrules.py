"""Strategy of DeviceTaintRule. Source: Kubernetes' pkg/apis/resource/validation and pkg/registry/resource."""

from __future__ import annotations

from podless.apis.podspec.disks import driver_name
from podless.apis.resource import parts
from podless.apis.shared.typed import KeptMetadataStrategy, SpecStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, MetadataPolicy
from podless.meta import field
from podless.meta.conditions import validate_conditions
from podless.runtime import clock
from podless.runtime.jsonobject import Object

_MAX_CONDITIONS = 8


class DeviceTaintRuleStrategy(KeptMetadataStrategy, SpecStrategy):
    """Strategy of DeviceTaintRule. timeAdded changes with the effect."""

    allow_unconditional_update = False
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

    def validate_create(self, version: Version, obj: Object) -> Faults:
        return [*_validate_spec(obj["spec"], None)]

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        return [*_validate_spec(obj["spec"], old["spec"]["taint"]["effect"])]

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        conditions = (obj.get("status") or {}).get("conditions") or []
        errors = [*validate_conditions(conditions, "status.conditions")]
        if len(conditions) > _MAX_CONDITIONS:
            errors.append(field.too_many("status.conditions", len(conditions), _MAX_CONDITIONS))
        return errors


def _validate_spec(spec: Object, known_effect: str | None) -> field.Errors:
    """Validate a spec. known_effect: the stored effect, which need not be valid; None for a new rule."""
    selector = spec.get("deviceSelector") or {}
    checks = (("driver", driver_name), ("pool", parts.validate_pool_name), ("device", parts.validate_label))
    for name, check in checks:
        if (value := selector.get(name)) is not None:
            yield from check(value, f"spec.deviceSelector.{name}")
    for error in parts.validate_taint(spec["taint"], "spec.taint"):
        if not (known_effect == spec["taint"]["effect"] and str(error.at) == "spec.taint.effect"):
            yield error


STRATEGY = DeviceTaintRuleStrategy()
