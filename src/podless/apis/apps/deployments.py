"""Deployment. Source: Kubernetes' pkg/apis/apps (v1/defaults, validation) and pkg/registry/apps/deployment."""

from __future__ import annotations

from podless.apis.shared import checks, workloads
from podless.apis.shared.typed import keep_parts
from podless.kinds.kind import Version
from podless.meta import field
from podless.runtime.jsonobject import Object
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

_STRATEGY = load_struct("apps/v1", "DeploymentStrategy")
_TYPES = ("Recreate", "RollingUpdate")


class DeploymentStrategy(workloads.ReplicasStrategy):
    """Strategy of Deployment."""

    counts = (
        "observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
        "unavailableReplicas", "terminatingReplicas", "collisionCount",
    )  # fmt: skip
    limited_counts = ("updatedReplicas", "readyReplicas", "availableReplicas")
    status_resets = (("spec",), ("metadata", "labels"))

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        spec = obj["spec"]
        super().fill_computed_defaults(version, obj)
        strategy = spec["strategy"]
        if strategy["type"] == "RollingUpdate":
            rolling = strategy["rollingUpdate"] = strategy.get("rollingUpdate") or {}
            for name in ("maxUnavailable", "maxSurge"):
                if rolling.get(name) is None:
                    rolling[name] = "25%"

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_status(version, obj, old)
        keep_parts(obj["metadata"], old["metadata"], "labels")

    def increases_generation(self, version: Version, obj: Object, old: Object) -> bool:
        """Also count changes of annotations, because ReplicaSets get them."""
        annotations, before = (state["metadata"].get("annotations") or {} for state in (obj, old))
        return super().increases_generation(version, obj, old) or annotations != before

    def validate_spec(self, spec: Object, old: Object | None) -> field.Errors:
        yield from checks.validate_nonnegative("spec.replicas", spec["replicas"])
        yield from workloads.validate_replica_spec(spec, old)
        yield from _validate_strategy(spec["strategy"])
        yield from checks.validate_nonnegatives(
            spec, "spec", ("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
        )
        deadline = spec["progressDeadlineSeconds"]
        if deadline <= (spec.get("minReadySeconds") or 0):
            yield field.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")


def _validate_strategy(strategy: Object) -> field.Errors:
    kind = strategy["type"]
    if kind == "RollingUpdate":
        yield from _validate_rolling_update(strategy["rollingUpdate"], "spec.strategy.rollingUpdate")
    elif kind != "Recreate":
        yield field.not_supported("spec.strategy", gostructs.format_struct(_STRATEGY, strategy), _TYPES)
    elif strategy.get("rollingUpdate") is not None:
        text = "may not be specified when strategy `type` is 'Recreate'"
        yield field.forbidden("spec.strategy.rollingUpdate", text)


def _validate_rolling_update(rolling: Object, path: str) -> field.Errors:
    unavailable, surge = rolling["maxUnavailable"], rolling["maxSurge"]
    yield from checks.validate_int_or_percent(f"{path}.maxUnavailable", unavailable)
    yield from checks.validate_int_or_percent(f"{path}.maxSurge", surge)
    if not checks.read_int_or_percent(unavailable) and not checks.read_int_or_percent(surge):
        text = gostructs.format_int_or_string(unavailable)
        yield field.invalid(f"{path}.maxUnavailable", text, "may not be 0 when `maxSurge` is 0")
    yield from checks.validate_at_most_all(f"{path}.maxUnavailable", unavailable)


STRATEGY = DeploymentStrategy()
