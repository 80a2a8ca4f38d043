"""Validates the metrics of autoscalers. Source: Kubernetes' pkg/apis/autoscaling/validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from podless.apis.podspec import resources
from podless.apis.shared import checks
from podless.codec import quantity
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_SOURCES = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
_TARGETS = ("Utilization", "Value", "AverageValue")


def validate_reference(ref: Object, path: str, *, grouped: bool) -> Iterator[FieldError]:
    """Validate a reference to an object. grouped: its apiVersion must name a group."""
    for part in ("kind", "name"):
        yield from checks.validate_name(f"{path}.{part}", ref.get(part), names.path_segment)
    version = ref.get("apiVersion") or ""
    group, slash, _ = version.partition("/")
    if version.count("/") > 1:
        yield field.invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}")
    elif grouped and not (slash and group):
        yield field.invalid(f"{path}.apiVersion", version, "apiVersion must specify API group")


def validate_metrics(metrics: list[Object], least: int | None, path: str) -> Iterator[FieldError]:
    """Validate metric specs. least: minReplicas."""
    for place, metric in enumerate(each(metrics)):
        yield from _metric(metric, f"{path}[{place}]")
    if least == 0 and not any(metric.get("type") in ("Object", "External") for metric in each(metrics)):
        text = "must specify at least one Object or External metric to support scaling to zero replicas"
        yield field.forbidden(path, text)


def _metric(metric: Object, path: str) -> Iterator[FieldError]:
    kind = metric.get("type") or ""
    if not kind:
        yield field.required(f"{path}.type", "must specify a metric source type")
    expected = _SOURCES.get(kind)
    if expected is None:  # kube-apiserver reports this here and again at the end
        yield field.not_supported(f"{path}.type", kind, sorted(_SOURCES))
    given = [name for name in _CHECKS if metric.get(name) is not None]
    if given:
        yield from _CHECKS[given[0]](metric[given[0]], f"{path}.{given[0]}")
    if expected is None:
        yield field.not_supported(f"{path}.type", kind, sorted(_SOURCES))
    elif expected not in given:
        yield field.required(f"{path}.{expected}", "must populate information for the given metric source")
    if len(given) != 1:
        others = (name for name in each(given) if name != expected)
        yield from (field.forbidden(f"{path}.{name}", "must populate the given metric source only") for name in others)


def _named(source: Object, path: str) -> Iterator[FieldError]:
    name = (source.get("metric") or {}).get("name")
    yield from checks.validate_name(f"{path}.metric.name", name, names.path_segment, "must specify a metric name")
    yield from _target(source.get("target") or {}, f"{path}.target")


def _target(target: Object, path: str) -> Iterator[FieldError]:
    kind, use = target.get("type") or "", target.get("averageUtilization")
    if not kind:
        yield field.required(f"{path}.type", "must specify a metric target type")
    if kind not in _TARGETS:
        yield field.invalid(f"{path}.type", kind, "must be either Utilization, Value, or AverageValue")
    for name in ("value", "averageValue"):
        amount = target.get(name)
        if amount is not None and quantity.parse_quantity(amount) <= 0:
            yield field.invalid(f"{path}.{name}", amount, "must be positive")
    if use is not None and use < 1:
        yield field.invalid(f"{path}.averageUtilization", use, "must be greater than 0")


def _object(source: Object, path: str) -> Iterator[FieldError]:
    yield from validate_reference(source.get("describedObject") or {}, f"{path}.describedObject", grouped=False)
    yield from _named(source, path)
    target = source.get("target") or {}
    if target.get("value") is None and target.get("averageValue") is None:
        yield field.required(f"{path}.target.averageValue", "must set either a target value or averageValue")


def _external(source: Object, path: str) -> Iterator[FieldError]:
    yield from _named(source, path)
    target = source.get("target") or {}
    value, average = target.get("value"), target.get("averageValue")
    if value is None and average is None:
        text = "must set either a target value for metric or a per-pod target"
        yield field.required(f"{path}.target.averageValue", text)
    if value is not None and average is not None:
        text = "may not set both a target value for metric and a per-pod target"
        yield field.forbidden(f"{path}.target.value", text)


def _pods(source: Object, path: str) -> Iterator[FieldError]:
    yield from _named(source, path)
    if (source.get("target") or {}).get("averageValue") is None:
        yield field.required(f"{path}.target.averageValue", "must specify a positive target averageValue")


def _resource(source: Object, path: str) -> Iterator[FieldError]:
    if not source.get("name"):
        yield field.required(f"{path}.name", "must specify a resource name")
    yield from _use(source, path)


def _use(source: Object, path: str) -> Iterator[FieldError]:
    target = source.get("target") or {}
    yield from _target(target, f"{path}.target")
    use, average = target.get("averageUtilization"), target.get("averageValue")
    if use is None and average is None:
        text = "must set either a target raw value or a target utilization"
        yield field.required(f"{path}.target.averageUtilization", text)
    if use is not None and average is not None:
        text = "may not set both a target raw value and a target utilization"
        yield field.forbidden(f"{path}.target.averageValue", text)


def _container(source: Object, path: str) -> Iterator[FieldError]:
    name = source.get("name") or ""
    if not name:
        yield field.required(f"{path}.name", "must specify a resource name")
    else:
        yield from resources.container_name(name, f"{path}.name")
    yield from checks.validate_name(f"{path}.container", source.get("container"), missing="must specify a container")
    yield from _use(source, path)


# metric sources in the order in which kube-apiserver validates them
_CHECKS: dict[str, Callable[[Object, str], Iterator[FieldError]]] = {
    "object": _object,
    "external": _external,
    "pods": _pods,
    "resource": _resource,
    "containerResource": _container,
}
