"""Deployment. Source: Kubernetes' pkg/apis/apps (v1/defaults, validation) and pkg/registry/apps/deployment."""

from __future__ import annotations

from podless.apis import podspec
from podless.apis.shared import checks, shares, template
from podless.apis.shared.speced import ReplicasStrategy, validate_collision_count, validate_counts
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

_STRATEGY = load_struct("apps/v1", "DeploymentStrategy")
_SHARE = "25%"
_COUNTS = (
    "observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
    "unavailableReplicas", "terminatingReplicas", "collisionCount",
)  # fmt: skip
_LIMITED_COUNTS = ("updatedReplicas", "readyReplicas", "availableReplicas")
_TYPES = ("Recreate", "RollingUpdate")


class DeploymentStrategy(ReplicasStrategy):
    """Strategy of Deployment."""

    status_resets = (("spec",), ("metadata", "labels"))

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        spec = obj["spec"]
        podspec.default_pod_template(spec["template"])
        strategy = spec["strategy"]
        if strategy["type"] == "RollingUpdate":
            rolling = strategy["rollingUpdate"] = strategy.get("rollingUpdate") or {}
            for name in ("maxUnavailable", "maxSurge"):
                if rolling.get(name) is None:
                    rolling[name] = _SHARE

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_status(version, obj, old)
        obj["metadata"].pop("labels", None)
        if "labels" in old["metadata"]:
            obj["metadata"]["labels"] = old["metadata"]["labels"]

    def increases_generation(self, version: Version, obj: Object, old: Object) -> bool:
        """Also count changes of annotations, because ReplicaSets get them."""
        annotations, before = (state["metadata"].get("annotations") or {} for state in (obj, old))
        return super().increases_generation(version, obj, old) or annotations != before

    def validate_spec(self, spec: Object, old: Object | None) -> list[FieldError]:
        errors = checks.validate_nonnegative("spec.replicas", spec["replicas"])
        selector_errors, selector = template.validate_selector(
            spec, "invalid label selector", "empty selector is invalid for deployment"
        )
        errors += selector_errors
        if selector is not None:
            errors += template.validate_replica_template(selector, spec["template"], old, "ReplicaSet")
        errors += _validate_strategy(spec["strategy"])
        errors += checks.all_nonnegative(spec, "spec", ("minReadySeconds", "revisionHistoryLimit"))
        deadline = spec["progressDeadlineSeconds"]
        errors += checks.validate_nonnegative("spec.progressDeadlineSeconds", deadline)
        if deadline <= (spec.get("minReadySeconds") or 0):
            text = "must be greater than minReadySeconds"
            errors.append(field.invalid("spec.progressDeadlineSeconds", deadline, text))
        return errors

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        status = obj["status"]
        errors = validate_counts(status, _COUNTS, _LIMITED_COUNTS, "readyReplicas")
        return [*errors, *validate_collision_count(status, old["status"])]


def _validate_strategy(strategy: Object) -> list[FieldError]:
    path, kind, rolling = "spec.strategy", strategy["type"], strategy.get("rollingUpdate")
    if kind == "Recreate":
        text = "may not be specified when strategy `type` is 'Recreate'"
        return [field.forbidden(f"{path}.rollingUpdate", text)] if rolling is not None else []
    if kind == "RollingUpdate":
        return [*_validate_rolling_update(rolling or {}, f"{path}.rollingUpdate")]
    return [field.not_supported(path, gostructs.format_struct(_STRATEGY, strategy), _TYPES)]


def _validate_rolling_update(rolling: Object, path: str) -> field.Errors:
    unavailable, surge = rolling["maxUnavailable"], rolling["maxSurge"]
    yield from shares.validate_int_or_percent(f"{path}.maxUnavailable", unavailable)
    yield from shares.validate_int_or_percent(f"{path}.maxSurge", surge)
    if not shares.read_int_or_percent(unavailable) and not shares.read_int_or_percent(surge):
        text = gostructs.format_int_or_string(unavailable)
        yield field.invalid(f"{path}.maxUnavailable", text, "may not be 0 when `maxSurge` is 0")
    yield from shares.at_most_all(f"{path}.maxUnavailable", unavailable)


STRATEGY = DeploymentStrategy()
