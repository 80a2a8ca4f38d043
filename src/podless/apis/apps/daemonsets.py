"""DaemonSet. Source: Kubernetes' pkg/apis/apps (v1, validation) and pkg/registry/apps/daemonset."""

from __future__ import annotations

from typing import ClassVar

from podless.apis import podspec
from podless.apis.shared import checks, shares, template
from podless.apis.shared.speced import ReplicasStrategy, validate_collision_count
from podless.codec import gotext
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, ValidationCost
from podless.meta import field, labelselector
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.sorting import sort_keys
from podless.structs import gostructs
from podless.structs.structfiles import load_struct
from podless.structs.structs import DecodeError

_UPDATE = load_struct("apps/v1", "DaemonSetUpdateStrategy")
# the annotation in which apps/v1 has a field of earlier versions
_GENERATION = "deprecated.daemonset.template.generation"
_NUMBERS = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")
_COUNTS = (
    *_NUMBERS, "observedGeneration", "updatedNumberScheduled", "numberAvailable", "numberUnavailable",
    "collisionCount",
)  # fmt: skip


class DaemonSetStrategy(ReplicasStrategy):
    """Strategy of DaemonSet."""

    blank: ClassVar[Object] = dict.fromkeys(_NUMBERS, 0)
    checking = ValidationCost(once="SetsOnce")
    named = False

    def show_partial(self, obj: Object) -> Object:
        """Drop the template generation: kube-apiserver's Tables and PartialObjectMetadata lack the field for it."""
        annotations = obj["metadata"].get("annotations") or {}
        remaining = {name: text for name, text in annotations.items() if name != _GENERATION}
        return {**obj, "metadata": {**obj["metadata"], "annotations": remaining}}

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        """Raise DecodeError if the annotation with the template generation is not a number."""
        spec, metadata = obj["spec"], obj["metadata"]
        podspec.default_pod_template(spec["template"])
        strategy = spec["updateStrategy"]
        rolling, used = strategy.get("rollingUpdate"), strategy["type"] == "RollingUpdate"
        if used or rolling is not None:
            defaults = {"maxUnavailable": int(used), "maxSurge": 0}
            strategy["rollingUpdate"] = defaults | {
                name: value for name, value in each(rolling or {}).items() if value is not None
            }
        annotations = metadata.get("annotations") or {}
        try:
            count = gotext.parse_int(annotations.get(_GENERATION) or "0") if _GENERATION in annotations else 0
        except ValueError as error:
            raise DecodeError(str(error)) from None
        _write_generation(metadata, count)

    def prepare_create(self, version: Version, obj: Object) -> None:
        super().prepare_create(version, obj)
        _write_generation(obj["metadata"], max(_read_generation(obj), 1))

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_update(version, obj, old)
        changed = obj["spec"]["template"] != old["spec"]["template"]
        _write_generation(obj["metadata"], _read_generation(old) + changed)

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_status(version, obj, old)
        _write_generation(obj["metadata"], _read_generation(old))

    def validate_spec(self, spec: Object, old: Object | None) -> list[FieldError]:
        selector, pod = spec.get("selector"), spec["template"]
        errors = labelselector.validate_selector(selector or {}, "spec.selector")
        parsed = template.parse_selector(selector)
        if parsed is not None and not parsed.matches(template.template_labels(pod)):
            errors.append(template.selector_mismatch(pod, "spec.template"))
        if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
            errors.append(field.invalid("spec.selector", selector, "empty selector is invalid for daemonset"))
        errors += podspec.validate_pod_template(pod, "spec.template", old["template"] if old is not None else None)
        errors += template.validate_always_running(pod, "spec.template", "DaemonSet")
        errors += checks.validate_nonnegative("spec.minReadySeconds", spec.get("minReadySeconds"))
        return [
            *errors,
            *_validate_strategy(spec),
            *checks.validate_nonnegative("spec.revisionHistoryLimit", spec["revisionHistoryLimit"]),
        ]

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        """Warn only if the template changes, not at other changes of the generation."""
        is_unchanged = old is not None and obj["spec"]["template"] == old["spec"]["template"]
        return [] if is_unchanged else super().list_warnings(version, obj, old)

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        status = obj["status"]
        return [*checks.all_nonnegative(status, "status", _COUNTS), *validate_collision_count(status, old["status"])]


def _read_generation(obj: Object) -> int:
    return gotext.parse_int((obj["metadata"].get("annotations") or {}).get(_GENERATION) or "0")


def _write_generation(metadata: Object, number: int) -> None:
    annotations = {**(metadata.get("annotations") or {}), _GENERATION: str(number)}
    metadata["annotations"] = sort_keys(annotations)


def _validate_strategy(spec: Object) -> list[FieldError]:
    strategy, path = spec["updateStrategy"], "spec.updateStrategy"
    kind, rolling = strategy["type"], strategy.get("rollingUpdate")
    if kind == "OnDelete":
        return []
    if kind != "RollingUpdate":
        text = gostructs.format_struct(_UPDATE, strategy)
        return [field.not_supported(path, text, ("RollingUpdate", "OnDelete"))]
    path += ".rollingUpdate"
    errors: list[FieldError] = []
    for check in (shares.validate_int_or_percent, shares.at_most_all):
        for name in ("maxUnavailable", "maxSurge"):
            errors += check(f"{path}.{name}", rolling[name])
    unavailable, surge = (
        shares.read_int_or_percent(rolling["maxUnavailable"]),
        shares.read_int_or_percent(rolling["maxSurge"]),
    )
    if unavailable and surge:
        text = gostructs.format_int_or_string(rolling["maxSurge"])
        errors.append(field.invalid(f"{path}.maxSurge", text, "may not be set when maxUnavailable is non-zero"))
    if not unavailable and not surge:
        errors.append(field.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0"))
    return errors


STRATEGY = DaemonSetStrategy()
