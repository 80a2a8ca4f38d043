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
from podless.structs.gotypes import INT32, QUANTITY, STRING, TIME, ListOf
from podless.structs.structfiles import load_struct
from podless.structs.structs import Field, Struct

LABEL_SELECTOR = load_struct("meta/v1", "LabelSelector")

_PREFIX = "autoscaling.alpha.kubernetes.io/"
METRICS, STATUSES = f"{_PREFIX}metrics", f"{_PREFIX}current-metrics"
CONDITIONS, BEHAVIOR = f"{_PREFIX}conditions", f"{_PREFIX}behavior"
ALL = (METRICS, STATUSES, CONDITIONS, BEHAVIOR)

_REFERENCE = Struct(
    "CrossVersionObjectReference",
    (Field("kind", STRING, always=True), Field("name", STRING, always=True), Field("apiVersion", STRING)),
)


def _source_struct(*fields: Field) -> Struct:
    return Struct("MetricSource", fields)


def _optional_field(name: str, kind: gotypes.GoType) -> Field:
    return Field(name, kind, pointer=True)


def _amount_field(name: str) -> Field:
    return Field(name, QUANTITY, always=True)


_NAME, _METRIC = Field("name", STRING, always=True), Field("metricName", STRING, always=True)
_TARGET = Field("target", _REFERENCE, always=True)
_SELECTOR, _OUTER = _optional_field("selector", LABEL_SELECTOR), _optional_field("metricSelector", LABEL_SELECTOR)
_UTIL, _VALUE = _optional_field("targetAverageUtilization", INT32), _optional_field("targetAverageValue", QUANTITY)
_UTIL_NOW = _optional_field("currentAverageUtilization", INT32)
_CONTAINER = Field("container", STRING, always=True)
_AVERAGE = _optional_field("averageValue", QUANTITY)

_SPECS = {
    "object": _source_struct(_TARGET, _METRIC, _amount_field("targetValue"), _SELECTOR, _AVERAGE),
    "pods": _source_struct(_METRIC, _amount_field("targetAverageValue"), _SELECTOR),
    "resource": _source_struct(_NAME, _UTIL, _VALUE),
    "containerResource": _source_struct(_NAME, _UTIL, _VALUE, _CONTAINER),
    "external": _source_struct(_METRIC, _OUTER, _optional_field("targetValue", QUANTITY), _VALUE),
}
_STATUSES = {
    "object": _source_struct(_TARGET, _METRIC, _amount_field("currentValue"), _SELECTOR, _AVERAGE),
    "pods": _source_struct(_METRIC, _amount_field("currentAverageValue"), _SELECTOR),
    "resource": _source_struct(_NAME, _UTIL_NOW, _amount_field("currentAverageValue")),
    "containerResource": _source_struct(_NAME, _UTIL_NOW, _amount_field("currentAverageValue"), _CONTAINER),
    "external": _source_struct(
        _METRIC, _OUTER, _amount_field("currentValue"), _optional_field("currentAverageValue", QUANTITY)
    ),
}
_TYPE = Field("type", STRING, always=True)
_METRIC_SPEC = Struct("MetricSpec", (_TYPE, *(_optional_field(name, kind) for name, kind in _SPECS.items())))
_METRIC_STATUS = Struct("MetricStatus", (_TYPE, *(_optional_field(name, kind) for name, kind in _STATUSES.items())))
_CONDITION = Struct(
    "HorizontalPodAutoscalerCondition",
    (
        _TYPE,
        Field("status", STRING, always=True),
        Field("lastTransitionTime", TIME, always=True),
        Field("reason", STRING),
        Field("message", STRING),
    ),
)
_POLICY = Struct(
    "HPAScalingPolicy",
    (
        Field("Type", STRING, always=True),
        Field("Value", INT32, always=True),
        Field("PeriodSeconds", INT32, always=True),
    ),
)
_RULES = Struct(
    "HPAScalingRules",
    (
        Field("StabilizationWindowSeconds", INT32, pointer=True, always=True),
        Field("SelectPolicy", STRING, pointer=True, always=True),
        Field("Policies", ListOf(_POLICY), always=True),
        Field("Tolerance", QUANTITY, pointer=True, always=True),
    ),
)
_BEHAVIOR = Struct(
    "HorizontalPodAutoscalerBehavior",
    (Field("ScaleUp", _RULES, pointer=True, always=True), Field("ScaleDown", _RULES, pointer=True, always=True)),
)


# conversions of a metric from v2 to v1 and back, for spec and status


def _spec_to_v1(kind: str, source: Object) -> Object:
    target, metric = source.get("target") or {}, source.get("metric") or {}
    value, average = target.get("value"), target.get("averageValue")
    if kind in ("resource", "containerResource"):
        return {
            "name": source.get("name"),
            "targetAverageUtilization": target.get("averageUtilization"),
            "targetAverageValue": average,
            "container": source.get("container"),
        }
    named = {"metricName": metric.get("name"), "selector": metric.get("selector")}
    if kind == "pods":
        return {**named, "targetAverageValue": average or "0"}
    if kind == "object":
        return {**named, "target": source.get("describedObject"), "targetValue": value or "0", "averageValue": average}
    return {
        "metricName": metric.get("name"),
        "metricSelector": metric.get("selector"),
        "targetValue": value,
        "targetAverageValue": average,
    }


def _status_to_v1(kind: str, source: Object) -> Object:
    current, metric = source.get("current") or {}, source.get("metric") or {}
    value, average = current.get("value"), current.get("averageValue")
    if kind in ("resource", "containerResource"):
        return {
            "name": source.get("name"),
            "currentAverageUtilization": current.get("averageUtilization"),
            "currentAverageValue": average or "0",
            "container": source.get("container"),
        }
    named = {"metricName": metric.get("name"), "selector": metric.get("selector")}
    if kind == "pods":
        return {**named, "currentAverageValue": average or "0"}
    if kind == "object":
        return {**named, "target": source.get("describedObject"), "currentValue": value or "0", "averageValue": average}
    return {
        "metricName": metric.get("name"),
        "metricSelector": metric.get("selector"),
        "currentValue": value or "0",
        "currentAverageValue": average,
    }


def _read_metric(source: Object, selector: str = "selector") -> Object:
    return _read_spec({"name": source["metricName"], "selector": source.get(selector)})


def _spec_to_v2(kind: str, source: Object) -> Object:
    if kind in ("resource", "containerResource"):
        utilization = source.get("targetAverageUtilization")
        target = {
            "type": "AverageValue" if utilization is None else "Utilization",
            "averageValue": source.get("targetAverageValue"),
            "averageUtilization": utilization,
        }
        return _read_spec({"name": source["name"], "target": _read_spec(target), "container": source.get("container")})
    if kind == "pods":
        average = {"type": "AverageValue", "averageValue": source["targetAverageValue"]}
        return {"metric": _read_metric(source), "target": average}
    if kind == "object":
        own = source.get("averageValue")
        target = {"type": "Value" if own is None else "AverageValue", "value": source["targetValue"]}
        target["averageValue"] = own
        return {"describedObject": source["target"], "target": _read_spec(target), "metric": _read_metric(source)}
    value = source.get("targetValue")
    target = {"type": "AverageValue" if value is None else "Value", "value": value}
    target["averageValue"] = source.get("targetAverageValue")
    return {"metric": _read_metric(source, "metricSelector"), "target": _read_spec(target)}


def _status_to_v2(kind: str, source: Object) -> Object:
    average = source.get("currentAverageValue")
    if kind in ("resource", "containerResource"):
        current = {"averageValue": average, "averageUtilization": source.get("currentAverageUtilization")}
        return _read_spec(
            {"name": source["name"], "current": _read_spec(current), "container": source.get("container")}
        )
    if kind == "pods":
        return {"metric": _read_metric(source), "current": {"averageValue": average}}
    if kind == "object":
        current = {"value": source["currentValue"], "averageValue": source.get("averageValue")}
        return {"metric": _read_metric(source), "current": _read_spec(current), "describedObject": source["target"]}
    current = {"value": source["currentValue"], "averageValue": average}
    return {"metric": _read_metric(source, "metricSelector"), "current": _read_spec(current)}


def _read_spec(obj: Object) -> Object:
    return {name: value for name, value in each(obj).items() if value is not None}


_Change = Callable[[str, Object], Object]


def _change_sources(metric: Object, change: _Change) -> Object:
    sources = {
        name: change(name, source) for name, source in each(metric).items() if name != "type" and source is not None
    }
    return {"type": metric.get("type", ""), **sources}


def write_metrics(metrics: list[Object]) -> str:
    """Encode metric specs as in the annotation of v1."""
    return _encode_value(
        [structs.decode_struct(_METRIC_SPEC, _change_sources(metric, _spec_to_v1)) for metric in each(metrics)]
    )


def write_statuses(metrics: list[Object]) -> str:
    """Encode metric statuses as in the annotation of v1."""
    return _encode_value(
        [structs.decode_struct(_METRIC_STATUS, _change_sources(metric, _status_to_v1)) for metric in each(metrics)]
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


def read_metrics(text: str) -> list[Object] | None:
    """Decode the annotation of metric specs; None for an invalid one."""
    found = _read_value(ListOf(_METRIC_SPEC), text)
    return None if found is None else [_change_sources(metric, _spec_to_v2) for metric in each(found)]


def read_statuses(text: str) -> list[Object] | None:
    """Decode the annotation of metric statuses; None for an invalid one."""
    found = _read_value(ListOf(_METRIC_STATUS), text)
    return None if found is None else [_change_sources(metric, _status_to_v2) for metric in each(found)]


def read_conditions(text: str) -> list[Object] | None:
    """Decode the annotation of conditions; None for an invalid one."""
    conditions: list[Object] | None = _read_value(ListOf(_CONDITION), text)
    return conditions


def read_behavior(text: str) -> Object | None:
    """Decode the annotation of the scaling behavior; None for an invalid one."""
    found = _read_value(_BEHAVIOR, text)
    return None if found is None else _rename_keys(found, str.lower)


def _rename_keys(value: Any, case: Callable[[str], str]) -> Any:
    """Change the case of the first letter of all names, and drop nulls."""
    if isinstance(value, dict):
        return {
            case(name[0]) + name[1:]: _rename_keys(one, case) for name, one in each(value).items() if one is not None
        }
    return [_rename_keys(one, case) for one in each(value)] if isinstance(value, list) else value


def _encode_value(value: Any) -> str:
    return serializer.encode_json(value).decode()


def _read_value(kind: gotypes.GoType, text: str) -> Any:
    try:
        value = serializer.decode_json(text.encode())
        return [] if value is None else kind.read_value(value, [])
    except (serializer.JSONError, gotypes.Mismatch):
        return None
