"""PodDisruptionBudget. Source: Kubernetes' pkg/apis/policy/validation and pkg/registry/policy/poddisruptionbudget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from podless.kinds.builtin import counts
from podless.kinds.builtin.speced import SpecStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Object
from podless.kinds.types.policy import POD_DISRUPTION_BUDGET
from podless.meta import conditions, field, labelselector, names
from podless.meta.field import FieldError

_POLICIES = ("AlwaysAllow", "IfHealthyBudget")
_COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
_BOTH = "minAvailable and maxUnavailable cannot be both set"


class PodDisruptionBudgetStrategy(SpecStrategy):
    """How many pods have to be there, or may be away."""

    unconditional = False
    qualified = False
    rechecks = status_rechecks = (0, 0)
    blank: ClassVar[Object] = dict.fromkeys(_COUNTS, 0)

    def name_errors(self, name: str, prefix: bool) -> list[str]:
        """Any part of a path will do."""
        return names.path_prefix(name) if prefix else names.path_segment(name)

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Sequence[FieldError]:
        """One share, and a selector."""
        spec = obj["spec"]
        least, most, policy = (
            spec.get("minAvailable"),
            spec.get("maxUnavailable"),
            spec.get("unhealthyPodEvictionPolicy"),
        )
        errors: list[FieldError] = []
        if least is not None and most is not None:
            errors.append(field.invalid("spec", _shown(spec), _BOTH))
        for name, value in (("minAvailable", least), ("maxUnavailable", most)):
            if value is not None:
                errors += [*counts.share(f"spec.{name}", value), *counts.at_most_all(f"spec.{name}", value)]
        errors += labelselector.errors(spec.get("selector") or {}, "spec.selector")
        if policy is not None and policy not in _POLICIES:
            errors.append(field.not_supported("spec.unhealthyPodEvictionPolicy", policy, _POLICIES))
        return errors

    def validate_update(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """The same."""
        return self.validate_create(kind, version, obj)

    def validate_status(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """Conditions and counts."""
        status = obj["status"]
        errors = conditions.errors(status.get("conditions") or [], "status.conditions")
        return [*errors, *counts.all_nonnegative(status, "status", _COUNTS)]


def _shown(spec: Object) -> Object:
    """The spec as errors show it: under the names of its Go fields."""
    fields = ("minAvailable", "selector", "maxUnavailable", "unhealthyPodEvictionPolicy")
    return {name[0].upper() + name[1:]: spec.get(name) for name in fields}


STRUCT = POD_DISRUPTION_BUDGET
STRATEGY = PodDisruptionBudgetStrategy()
