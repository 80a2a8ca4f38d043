"""DaemonSet. Source: Kubernetes' pkg/apis/apps (v1, validation) and pkg/registry/apps/daemonset."""

from __future__ import annotations

from typing import ClassVar

from podless.apis.podspec.template import validate_pod_template
from podless.apis.shared import checks, workloads
from podless.codec import gotext
from podless.kinds.kind import Version
from podless.kinds.strategy import ValidationCost
from podless.meta import field, validation
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


class DaemonSetStrategy(workloads.ReplicasStrategy):
    """Strategy of DaemonSet."""

    blank: ClassVar[Object] = dict.fromkeys(_NUMBERS, 0)
    checking = ValidationCost(once="SetsOnce")
    named = False
    counts = (
        *_NUMBERS, "observedGeneration", "updatedNumberScheduled", "numberAvailable", "numberUnavailable",
        "collisionCount",
    )  # fmt: skip

    def show_partial(self, obj: Object) -> Object:
        """Drop the template generation: kube-apiserver's Tables and PartialObjectMetadata lack the field for it."""
        annotations = obj["metadata"].get("annotations") or {}
        remaining = {name: text for name, text in annotations.items() if name != _GENERATION}
        return {**obj, "metadata": {**obj["metadata"], "annotations": remaining}}

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        """Raise DecodeError if the annotation with the template generation is not a number."""
        spec, metadata = obj["spec"], obj["metadata"]
        super().fill_computed_defaults(version, obj)
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

    def validate_spec(self, spec: Object, old: Object | None) -> field.Errors:
        selector, pod = spec.get("selector"), spec["template"]
        yield from validation.validate_selector(selector or {}, "spec.selector")
        yield from workloads.validate_matches(workloads.parse_selector(selector), pod)
        if selector is not None and workloads.is_empty(selector):
            yield field.invalid("spec.selector", selector, "empty selector is invalid for daemonset")
        yield from validate_pod_template(pod, "spec.template", old["template"] if old is not None else None)
        yield from workloads.validate_always_running(pod, "DaemonSet")
        yield from checks.validate_nonnegative("spec.minReadySeconds", spec.get("minReadySeconds"))
        yield from _validate_strategy(spec["updateStrategy"])
        yield from checks.validate_nonnegative("spec.revisionHistoryLimit", spec["revisionHistoryLimit"])

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        """Warn only if the template changes, not at other changes of the generation."""
        is_unchanged = old is not None and obj["spec"]["template"] == old["spec"]["template"]
        return [] if is_unchanged else super().list_warnings(version, obj, old)


def _read_generation(obj: Object) -> int:
    return gotext.parse_int((obj["metadata"].get("annotations") or {}).get(_GENERATION) or "0")


def _write_generation(metadata: Object, number: int) -> None:
    annotations = {**(metadata.get("annotations") or {}), _GENERATION: str(number)}
    metadata["annotations"] = sort_keys(annotations)


def _validate_strategy(strategy: Object) -> field.Errors:
    path, kind = "spec.updateStrategy", strategy["type"]
    if kind != "RollingUpdate":
        if kind != "OnDelete":
            text = gostructs.format_struct(_UPDATE, strategy)
            yield field.not_supported(path, text, ("RollingUpdate", "OnDelete"))
        return
    path, rolling = f"{path}.rollingUpdate", strategy["rollingUpdate"]
    names = ("maxUnavailable", "maxSurge")
    for check in (checks.validate_int_or_percent, checks.validate_at_most_all):
        for name in names:
            yield from check(f"{path}.{name}", rolling[name])
    unavailable, surge = (checks.read_int_or_percent(rolling[name]) for name in names)
    if unavailable and surge:
        text = gostructs.format_int_or_string(rolling["maxSurge"])
        yield field.invalid(f"{path}.maxSurge", text, "may not be set when maxUnavailable is non-zero")
    if not unavailable and not surge:
        yield field.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


STRATEGY = DaemonSetStrategy()
