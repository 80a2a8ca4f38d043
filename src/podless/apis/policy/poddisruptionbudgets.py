"""PodDisruptionBudget. Source: Kubernetes' pkg/apis/policy/validation and pkg/registry/policy/poddisruptionbudget."""

from __future__ import annotations

from typing import ClassVar

from podless.apis.shared import checks
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy
from podless.meta import field, names, validation
from podless.runtime.jsonobject import Object
from podless.structs import gostructs

_POLICIES = ("AlwaysAllow", "IfHealthyBudget")
_COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


class PodDisruptionBudgetStrategy(TypedStrategy):
    """Strategy of PodDisruptionBudget."""

    allow_unconditional_update = False
    has_generation = True
    metadata = MetadataPolicy(on_update=(0, 0), on_status=(0, 0), qualified_finalizers=False)
    blank: ClassVar[Object] = dict.fromkeys(_COUNTS, 0)
    naming = names.PATH_SEGMENTS

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        spec = obj["spec"]
        values = {name: spec.get(name) for name in ("minAvailable", "maxUnavailable")}
        if None not in values.values():
            shown_spec = gostructs.format_struct("policy/v1.PodDisruptionBudgetSpec", spec)
            yield field.invalid("spec", shown_spec, "minAvailable and maxUnavailable cannot be both set")
        for name, value in values.items():
            if value is not None:
                yield from checks.validate_int_or_percent(f"spec.{name}", value)
                yield from checks.validate_at_most_all(f"spec.{name}", value)
        yield from validation.validate_selector(spec.get("selector") or {}, "spec.selector")
        policy = spec.get("unhealthyPodEvictionPolicy")
        yield from field.one_of("spec.unhealthyPodEvictionPolicy", policy, _POLICIES)

    def validate_status(self, version: Version, obj: Object, old: Object) -> field.Errors:
        status = obj["status"]
        yield from validation.validate_conditions(status.get("conditions"), "status.conditions")
        yield from checks.validate_nonnegatives(status, "status", _COUNTS)


STRATEGY = PodDisruptionBudgetStrategy()
