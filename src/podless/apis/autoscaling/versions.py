"""Converts HorizontalPodAutoscalers between autoscaling/v1 and v2.

Source: Kubernetes' pkg/apis/autoscaling/v1/conversion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podless.apis.autoscaling import annotated
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.sorting import sort_keys

_OF_STATUS = (annotated.CONDITIONS, annotated.STATUSES)
# types of metrics, sorted: the field with the source
SOURCES = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
UTILIZATION = 80  # percent of the CPU, the default metric


def make_cpu_metric(utilization: int) -> Object:
    """Return the metric spec for targetCPUUtilizationPercentage of v1."""
    target = {"type": "Utilization", "averageUtilization": utilization}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _read_cpu(metric: Object, field_name: str) -> int | None:
    """Return the CPU utilization of a metric (field_name: target or current), None for other metrics."""
    resource = metric.get("resource") or {}
    if metric.get("type") != "Resource" or resource.get("name") != "cpu":
        return None
    cpu: int | None = (resource.get(field_name) or {}).get("averageUtilization")
    return cpu


def convert_to_v1(obj: Object) -> Object:
    """Convert an object from v2 to v1, without changing it."""
    spec, status, metadata = obj.get("spec") or {}, obj.get("status") or {}, obj.get("metadata") or {}
    metrics, current = spec.get("metrics") or [], status.get("currentMetrics") or []
    other_metrics = [metric for metric in each(metrics) if _read_cpu(metric, "target") is None]
    new_annotations = {
        annotated.BEHAVIOR: annotated.write_behavior(spec["behavior"]) if spec.get("behavior") is not None else "",
        annotated.CONDITIONS: annotated.write_conditions(status["conditions"]) if status.get("conditions") else "",
        annotated.STATUSES: annotated.write_metrics(annotated.STATUSES, current) if current else "",
        annotated.METRICS: annotated.write_metrics(annotated.METRICS, other_metrics) if other_metrics else "",
    }
    new_spec = _drop_fields(spec, "metrics", "behavior")
    target_percentage = next(
        (target for metric in each(metrics) if (target := _read_cpu(metric, "target")) is not None), None
    )
    if target_percentage is not None:
        new_spec["targetCPUUtilizationPercentage"] = target_percentage
    state = {
        "observedGeneration": status.get("observedGeneration"),
        "lastScaleTime": status.get("lastScaleTime"),
        "currentReplicas": status.get("currentReplicas") or 0,
        "desiredReplicas": status.get("desiredReplicas") or 0,
        "currentCPUUtilizationPercentage": next(
            (use for metric in reversed(each(current)) if (use := _read_cpu(metric, "current")) is not None), None
        ),
    }
    state = {name: value for name, value in each(state).items() if value is not None}
    named = {name: text for name, text in each(new_annotations).items() if text}
    return {**_assemble_version(obj, "v1", metadata, named), "spec": new_spec, "status": state}


def convert_to_v2(obj: Object) -> Object:
    """Convert an object from v1 to v2, without changing it."""
    spec, status, metadata = obj.get("spec") or {}, obj.get("status") or {}, obj.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    target, used = spec.get("targetCPUUtilizationPercentage"), status.get("currentCPUUtilizationPercentage")
    metrics = [*(_read_metrics(annotations, annotated.METRICS) or ())]
    if target is not None:
        metrics.append(make_cpu_metric(target))
    new_spec = {
        **_drop_fields(spec, "targetCPUUtilizationPercentage"),
        "metrics": metrics or [make_cpu_metric(UTILIZATION)],
    }
    behavior = _read_annotation(annotations, annotated.BEHAVIOR, annotated.read_behavior)
    if behavior is not None:
        new_spec["behavior"] = behavior
    current = _read_metrics(annotations, annotated.STATUSES)
    if current is None and used is not None:
        current = [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": used}}}]
    conditions = _read_annotation(annotations, annotated.CONDITIONS, annotated.read_conditions)
    state = {
        "observedGeneration": status.get("observedGeneration"),
        "lastScaleTime": status.get("lastScaleTime"),
        "currentReplicas": status.get("currentReplicas") or None,
        "desiredReplicas": status.get("desiredReplicas") or 0,
    }
    state = {name: value for name, value in each(state).items() if value is not None} | {
        "currentMetrics": current or None
    }
    if conditions:
        state["conditions"] = conditions
    return {**_assemble_version(obj, "v2", metadata, {}), "spec": new_spec, "status": state}


def strip_annotations(metadata: Object) -> None:
    """Remove annotations that only v1 has."""
    annotations = metadata.get("annotations")
    if annotations and not annotations.keys().isdisjoint(annotated.ALL):
        remaining = _drop_fields(annotations, *annotated.ALL)
        metadata["annotations"] = remaining
        if not remaining:
            del metadata["annotations"]


def restore_status_annotations(metadata: Object, old: Object | None = None) -> None:
    """Replace v1's annotations about the status by those of the old metadata, or remove them."""
    annotations, before = metadata.get("annotations") or {}, (old or {}).get("annotations") or {}
    restored = {name: text for name, text in each(annotations).items() if name not in _OF_STATUS}
    restored |= {name: before[name] for name in _OF_STATUS if name in before}
    metadata.pop("annotations", None)
    if restored:
        metadata["annotations"] = sort_keys(restored)


def _assemble_version(obj: Object, version: str, metadata: Object, annotations: dict[str, str]) -> Object:
    """Return the object in a version, with the annotations of that version only."""
    metadata = dict(metadata)
    strip_annotations(metadata)
    if annotations:
        metadata["annotations"] = sort_keys({**(metadata.get("annotations") or {}), **annotations})
    return {**obj, "apiVersion": f"autoscaling/{version}", "metadata": metadata}


def _read_metrics(annotations: dict[str, str], name: str) -> list[Object] | None:
    return annotated.read_metrics(name, annotations[name]) if name in annotations else None


def _read_annotation(annotations: dict[str, str], name: str, read: Callable[[str], Any]) -> Any:
    return read(annotations[name]) if name in annotations else None


def _drop_fields(obj: Object, *names: str) -> Object:
    return {name: value for name, value in each(obj).items() if name not in names}
