"""HorizontalPodAutoscaler. Source: Kubernetes' pkg/apis/autoscaling (v2/defaults, validation)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podless.apis.autoscaling import versions
from podless.apis.podspec import resources
from podless.apis.shared import checks
from podless.apis.shared.typed import TypedStrategy
from podless.codec import quantity
from podless.codec.gotext import Named
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Faults, MetadataPolicy
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_TARGETS = ("Utilization", "Value", "AverageValue")
_BLANK: dict[str, Object] = {
    "v1": {"currentReplicas": 0, "desiredReplicas": 0},
    "v2": {"desiredReplicas": 0, "currentMetrics": None},
}
_SELECTIONS = ("Disabled", "Max", "Min")
_POLICIES = ("Percent", "Pods")
_MAX_PERIOD, _MAX_WINDOW = 1800, 3600  # seconds
_SCALE_UP: Object = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_SCALE_DOWN: Object = {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}


class AutoscalerStrategy(TypedStrategy):
    """Strategy of HorizontalPodAutoscaler. Stored in v2, and served in v1 too."""

    metadata = MetadataPolicy(on_update=(0, 1))

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        spec = obj["spec"]
        if version.name == "v1":
            metadata, converted = obj["metadata"], versions.convert_to_v1(versions.convert_to_v2(obj))
            metadata.update(converted["metadata"])
            if "annotations" not in converted["metadata"]:
                metadata.pop("annotations", None)
            obj.update({**converted, "metadata": metadata})
            return
        versions.strip_annotations(obj["metadata"])
        if not spec.get("metrics"):
            spec["metrics"] = [versions.make_cpu_metric(versions.UTILIZATION)]
        behavior = spec.get("behavior")
        if behavior is not None:
            for name, rules in (("scaleUp", _SCALE_UP), ("scaleDown", _SCALE_DOWN)):
                behavior[name] = {**rules, **(behavior.get(name) or {})}

    def convert_object(self, kind: Kind, version: Version, obj: Object) -> Object:
        if obj.get("apiVersion") == kind.api_version(version.name):
            return obj
        return versions.convert_to_v1(obj) if version.name == "v1" else versions.convert_to_v2(obj)

    def prepare_create(self, version: Version, obj: Object) -> None:
        obj["status"] = dict(_BLANK[version.name])
        if version.name == "v1":
            versions.restore_status_annotations(obj["metadata"])

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_update(version, obj, old)
        if version.name == "v1":
            versions.restore_status_annotations(obj["metadata"], old["metadata"])

    def validate(self, version: Version, obj: Object, old: Object | None) -> Faults:
        stored = versions.convert_to_v2(obj) if version.name == "v1" else obj
        return _validate_spec(stored["spec"], None if old is None else old["spec"])

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        return checks.validate_nonnegatives(obj["status"], "status", ("currentReplicas", "desiredReplicas"))


def _validate_spec(spec: Object, old: Object | None) -> field.Errors:
    minimum, maximum, target = spec.get("minReplicas"), spec.get("maxReplicas") or 0, spec.get("scaleTargetRef") or {}
    to_zero = has("HPAScaleToZero") and not has("AlwaysOneReplica")
    lowest = 0 if to_zero or (old is not None and old.get("minReplicas") == 0) else 1
    if minimum is not None and minimum < lowest:
        yield field.invalid("spec.minReplicas", minimum, f"must be greater than or equal to {lowest}")
    if maximum < 1:
        if not has("RequiredMaxReplicas"):
            yield field.invalid("spec.maxReplicas", maximum, "must be greater than 0")
        elif maximum:
            yield field.invalid("spec.maxReplicas", maximum, "must be greater than or equal to 1")
        else:
            yield field.required("spec.maxReplicas", "must be set and greater than 0")
    if minimum is not None and maximum < minimum:
        yield field.invalid("spec.maxReplicas", maximum, "must be greater than or equal to `minReplicas`")
    # an unchanged reference may have an apiVersion without a group
    keeps_version = old is not None and (old.get("scaleTargetRef") or {}).get("apiVersion") == target.get("apiVersion")
    grouped = target.get("kind") != "ReplicationController" and not keeps_version
    yield from _validate_reference(target, "spec.scaleTargetRef", grouped=grouped)
    for metric, path in checks.list_items(spec, "metrics", "spec"):
        yield from _validate_metric(metric, path)
    types = {metric.get("type") for metric in each(spec.get("metrics") or ())}
    if minimum == 0 and types.isdisjoint(("Object", "External")):
        text = "must specify at least one Object or External metric to support scaling to zero replicas"
        yield field.forbidden("spec.metrics", text)
    behavior = spec.get("behavior") or {}
    for name in ("scaleUp", "scaleDown"):
        if behavior.get(name) is not None:
            yield from _validate_rules(behavior[name], f"spec.behavior.{name}")


def _validate_rules(rules: Object, path: str) -> field.Errors:
    window = rules.get("stabilizationWindowSeconds")
    window_path = f"{path}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        yield field.invalid(window_path, window, "must be greater than or equal to zero")
    if window is not None and window > _MAX_WINDOW:
        yield field.invalid(window_path, window, f"must be less than or equal to {_MAX_WINDOW}")
    yield from field.one_of(f"{path}.selectPolicy", rules.get("selectPolicy"), _SELECTIONS)
    if not rules.get("policies"):
        yield field.required(f"{path}.policies", "must specify at least one Policy")
    for policy, at in checks.list_items(rules, "policies", path):
        yield from _validate_policy(policy, at)
    tolerance: Any = rules.get("tolerance")
    if tolerance is not None and quantity.parse_nanos(tolerance) < 0:
        yield field.invalid(f"{path}.tolerance", tolerance, "must be greater than or equal to 0")


def _validate_policy(policy: Object, path: str) -> field.Errors:
    period = policy.get("periodSeconds") or 0
    yield from field.one_of(f"{path}.type", policy.get("type") or "", _POLICIES)
    for name in ("value", "periodSeconds"):
        if (policy.get(name) or 0) <= 0:
            yield field.invalid(f"{path}.{name}", policy.get(name) or 0, checks.POSITIVE)
    if period > _MAX_PERIOD:
        yield field.invalid(f"{path}.periodSeconds", period, f"must be less than or equal to {_MAX_PERIOD}")


def _validate_reference(ref: Object, path: str, *, grouped: bool) -> field.Errors:
    """Validate a reference to an object. grouped: its apiVersion must name a group."""
    for field_name in ("kind", "name"):
        yield from checks.validate_name(f"{path}.{field_name}", ref.get(field_name), names.check_path_segment)
    version = ref.get("apiVersion") or ""
    group, slash, _ = version.partition("/")
    if not has("GroupedReferences"):
        return
    if version.count("/") > 1:
        yield field.invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}")
    elif grouped and not (slash and group):
        yield field.invalid(f"{path}.apiVersion", version, "apiVersion must specify API group")


def _validate_metric(metric: Object, path: str) -> field.Errors:
    kind = metric.get("type") or ""
    if not kind:
        yield field.required(f"{path}.type", "must specify a metric source type")
    expected = versions.SOURCES.get(kind)
    if expected is None:  # kube-apiserver reports this here and again at the end
        yield field.not_supported(f"{path}.type", kind, versions.SOURCES)
    sources = [name for name in _CHECKS if metric.get(name) is not None]
    if sources:
        yield from _CHECKS[sources[0]](metric[sources[0]], f"{path}.{sources[0]}")
    if expected is None:
        yield field.not_supported(f"{path}.type", kind, versions.SOURCES)
    elif expected not in sources:
        yield field.required(f"{path}.{expected}", "must populate information for the given metric source")
    extra = [name for name in each(sources) if name != expected] if len(sources) > 1 else []
    yield from (field.forbidden(f"{path}.{name}", "must populate the given metric source only") for name in extra)


def _validate_metric_name(source: Object, path: str) -> field.Errors:
    name = (source.get("metric") or {}).get("name")
    yield from checks.validate_name(f"{path}.metric.name", name, names.check_path_segment, "must specify a metric name")
    yield from _validate_target(source.get("target") or {}, f"{path}.target")


def _validate_target(target: Object, path: str) -> field.Errors:
    kind, use = target.get("type") or "", target.get("averageUtilization")
    if not kind:
        yield field.required(f"{path}.type", "must specify a metric target type")
    if kind not in _TARGETS:
        yield field.invalid(f"{path}.type", Named(kind), "must be either Utilization, Value, or AverageValue")
    for name in ("value", "averageValue"):
        amount = target.get(name)
        if amount is not None and quantity.parse_nanos(amount) <= 0:
            yield field.invalid(f"{path}.{name}", amount, "must be positive")
    if use is not None and use < 1:
        yield field.invalid(f"{path}.averageUtilization", use, "must be greater than 0")


def _validate_object(source: Object, path: str) -> field.Errors:
    yield from _validate_reference(source.get("describedObject") or {}, f"{path}.describedObject", grouped=False)
    yield from _validate_metric_name(source, path)
    target = source.get("target") or {}
    if target.get("value") is None and target.get("averageValue") is None:
        yield field.required(f"{path}.target.averageValue", "must set either a target value or averageValue")


def _validate_external(source: Object, path: str) -> field.Errors:
    yield from _validate_metric_name(source, path)
    names = ("averageValue", "value")
    yield from _require_one(source, path, names, ("a target value for metric", "a per-pod target"))


def _require_one(source: Object, path: str, names: tuple[str, str], wordings: tuple[str, str]) -> field.Errors:
    """Require one of two fields of the target. names: of those that errors name if none is set, and if both are."""
    set_names = [name for name in names if (source.get("target") or {}).get(name) is not None]
    if not set_names:
        yield field.required(f"{path}.target.{names[0]}", f"must set either {' or '.join(wordings)}")
    if len(set_names) > 1:
        yield field.forbidden(f"{path}.target.{names[1]}", f"may not set both {' and '.join(wordings)}")


def _validate_pods(source: Object, path: str) -> field.Errors:
    yield from _validate_metric_name(source, path)
    if (source.get("target") or {}).get("averageValue") is None:
        yield field.required(f"{path}.target.averageValue", "must specify a positive target averageValue")


def _validate_resource(source: Object, path: str) -> field.Errors:
    if not source.get("name"):
        yield field.required(f"{path}.name", "must specify a resource name")
    yield from _validate_resource_target(source, path)


def _validate_resource_target(source: Object, path: str) -> field.Errors:
    yield from _validate_target(source.get("target") or {}, f"{path}.target")
    names = ("averageUtilization", "averageValue")
    yield from _require_one(source, path, names, ("a target raw value", "a target utilization"))


def _validate_container(source: Object, path: str) -> field.Errors:
    name = source.get("name") or ""
    if not name:
        yield field.required(f"{path}.name", "must specify a resource name")
    else:
        yield from resources.validate_container_resource(name, f"{path}.name")
    yield from checks.validate_name(f"{path}.container", source.get("container"), missing="must specify a container")
    yield from _validate_resource_target(source, path)


# metric sources in the order in which kube-apiserver validates them
_CHECKS: dict[str, Callable[[Object, str], field.Errors]] = {
    "object": _validate_object,
    "external": _validate_external,
    "pods": _validate_pods,
    "resource": _validate_resource,
    "containerResource": _validate_container,
}


STRATEGY = AutoscalerStrategy()
