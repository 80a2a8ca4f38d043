"""Annotations that autoscaling/v1 has in place of fields: metrics, behavior and conditions of autoscaling/v2.

Source: Kubernetes' pkg/apis/autoscaling (annotations, v1/conversion) and k8s.io/api/autoscaling/v1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podless.codec import serializer
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gotypes, structs
from podless.structs.gotypes import ListOf
from podless.structs.structfiles import load_struct

_PREFIX = "autoscaling.alpha.kubernetes.io/"
METRICS, STATUSES = f"{_PREFIX}metrics", f"{_PREFIX}current-metrics"
CONDITIONS, BEHAVIOR = f"{_PREFIX}conditions", f"{_PREFIX}behavior"
ALL = (METRICS, STATUSES, CONDITIONS, BEHAVIOR)

_CONDITION = load_struct("autoscaling/v1", "HorizontalPodAutoscalerCondition")
_BEHAVIOR = load_struct("autoscaling/v1", "HorizontalPodAutoscalerBehavior")
# annotation -> the struct of a metric in v1, and the part of its source that has the amounts
_FORMS = {
    METRICS: (load_struct("autoscaling/v1", "MetricSpec"), "target"),
    STATUSES: (load_struct("autoscaling/v1", "MetricStatus"), "current"),
}
# source of a metric -> its fields in v1, and their paths in v2. {} is "target" in a spec, "current" in a status
_PATHS = {
    "resource": {
        "name": "name",
        "{}AverageValue": "{}.averageValue",
        "{}AverageUtilization": "{}.averageUtilization",
        "container": "container",
    },
    "pods": {"metricName": "metric.name", "selector": "metric.selector", "{}AverageValue": "{}.averageValue"},
    "object": {
        "target": "describedObject",
        "metricName": "metric.name",
        "selector": "metric.selector",
        "{}Value": "{}.value",
        "averageValue": "{}.averageValue",
    },
    "external": {
        "metricName": "metric.name",
        "metricSelector": "metric.selector",
        "{}Value": "{}.value",
        "{}AverageValue": "{}.averageValue",
    },
}
_PATHS["containerResource"] = _PATHS["resource"]


def _source_to_v1(field_name: str, kind: str, source: Object) -> Object:
    converted: Object = {}
    for name, path in _PATHS[kind].items():
        top, _, nested = path.format(field_name).partition(".")
        converted[name.format(field_name)] = (source.get(top) or {}).get(nested) if nested else source.get(top)
    return converted


def _source_to_v2(field_name: str, kind: str, source: Object) -> Object:
    converted: Object = {field_name: {}}
    for name, path in _PATHS[kind].items():
        top, _, nested = path.format(field_name).partition(".")
        value = source.get(name.format(field_name))
        if value is not None and nested:
            converted.setdefault(top, {})[nested] = value
        elif value is not None:
            converted[top] = value
    if field_name == "target":
        converted[field_name] = {"type": _target_type(kind, converted[field_name]), **converted[field_name]}
    return converted


def _target_type(kind: str, target: Object) -> str:
    if "averageUtilization" in target:
        return "Utilization"
    first, second = ("averageValue", "value") if kind == "object" else ("value", "averageValue")
    chosen = first if first in target else second
    return chosen[0].upper() + chosen[1:]


def _change_sources(metric: Object, change: Callable[[str, str, Object], Object], field_name: str) -> Object:
    sources = {
        name: change(field_name, name, source)
        for name, source in each(metric).items()
        if name != "type" and source is not None
    }
    return {"type": metric.get("type", ""), **sources}


def write_metrics(name: str, metrics: list[Object]) -> str:
    """Encode metrics as in an annotation of v1. name: METRICS or STATUSES."""
    struct, field_name = _FORMS[name]
    return _encode_value(
        [structs.decode_struct(struct, _change_sources(metric, _source_to_v1, field_name)) for metric in each(metrics)]
    )


def write_conditions(conditions: list[Object]) -> str:
    """Encode conditions as in the annotation of v1."""
    return _encode_value([structs.decode_struct(_CONDITION, condition) for condition in each(conditions)])


def write_behavior(behavior: Object) -> str:
    """Encode the scaling behavior as in the annotation of v1, under the names of Go's fields."""
    named: Object = _rename_keys(behavior, str.upper)
    decoded = structs.decode_struct(_BEHAVIOR, named)
    if not has("ToleranceInAnnotations"):
        for rules in decoded.values():
            (rules or {}).pop("Tolerance", None)
    return _encode_value(decoded)


def read_metrics(name: str, text: str) -> list[Object] | None:
    """Decode metrics in an annotation; None for an invalid one. name: METRICS or STATUSES."""
    struct, field_name = _FORMS[name]
    value = _read_value(ListOf(struct), text)
    return None if value is None else [_change_sources(metric, _source_to_v2, field_name) for metric in each(value)]


def read_conditions(text: str) -> list[Object] | None:
    """Decode the annotation of conditions; None for an invalid one."""
    conditions: list[Object] | None = _read_value(ListOf(_CONDITION), text)
    return conditions


def read_behavior(text: str) -> Object | None:
    """Decode the annotation of the scaling behavior; None for an invalid one."""
    value = _read_value(_BEHAVIOR, text)
    return None if value is None else _rename_keys(value, str.lower)


def _rename_keys(value: Any, case: Callable[[str], str]) -> Any:
    """Change the case of the first letter of all names, and drop nulls."""
    if isinstance(value, dict):
        return {
            case(name[0]) + name[1:]: _rename_keys(item, case) for name, item in each(value).items() if item is not None
        }
    return [_rename_keys(item, case) for item in each(value)] if isinstance(value, list) else value


def _encode_value(value: Any) -> str:
    return serializer.encode_json(value).decode()


def _read_value(kind: gotypes.GoType, text: str) -> Any:
    try:
        value = serializer.decode_json(text.encode())
        return [] if value is None else kind.read_value(value, [])
    except (serializer.JSONError, gotypes.Mismatch):
        return None
