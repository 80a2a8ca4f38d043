"""PodDisruptionBudget. Source: Kubernetes' pkg/apis/policy/validation and pkg/registry/policy/poddisruptionbudget."""

from __future__ import annotations

from typing import ClassVar

from podless.apis.shared import checks
from podless.apis.shared.typed import SpecStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, MetadataPolicy
from podless.meta import conditions, field, labelselector, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

_POLICIES = ("AlwaysAllow", "IfHealthyBudget")
_COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
_SPEC = load_struct("policy/v1", "PodDisruptionBudgetSpec")
_BOTH_SET = "minAvailable and maxUnavailable cannot be both set"


class PodDisruptionBudgetStrategy(SpecStrategy):
    """Strategy of PodDisruptionBudget."""

    allow_unconditional_update = False
    metadata = MetadataPolicy(on_update=(0, 0), on_status=(0, 0), qualified_finalizers=False)
    blank: ClassVar[Object] = dict.fromkeys(_COUNTS, 0)
    naming = names.PATH_SEGMENTS

    def validate_create(self, version: Version, obj: Object) -> Faults:
        spec = obj["spec"]
        minimum, maximum, policy = (
            spec.get("minAvailable"),
            spec.get("maxUnavailable"),
            spec.get("unhealthyPodEvictionPolicy"),
        )
        errors: list[FieldError] = []
        if minimum is not None and maximum is not None:
            errors.append(field.invalid("spec", gostructs.format_struct(_SPEC, spec), _BOTH_SET))
        for name, value in (("minAvailable", minimum), ("maxUnavailable", maximum)):
            if value is not None:
                errors += [
                    *checks.validate_int_or_percent(f"spec.{name}", value),
                    *checks.validate_at_most_all(f"spec.{name}", value),
                ]
        errors += labelselector.validate_selector(spec.get("selector") or {}, "spec.selector")
        errors += field.one_of("spec.unhealthyPodEvictionPolicy", policy, _POLICIES)
        return errors

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        status = obj["status"]
        errors = conditions.validate_conditions(status.get("conditions"), "status.conditions")
        return [*errors, *checks.all_nonnegative(status, "status", _COUNTS)]


STRATEGY = PodDisruptionBudgetStrategy()
