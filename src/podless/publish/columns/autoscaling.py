"""Columns of autoscaling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podless.publish.columns.cell import AGE, NAME, Cell, Object, Of, at
from podless.publish.columns.workload import cut, number
from podless.runtime.meter import each

_GROUP = "autoscaling"
_SPEC = "HorizontalPodAutoscalerSpec"
_MOST = 2
_UNKNOWN = "<unknown>"
_SOURCES = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def _metric(spec: Any, now: Any) -> str:
    """What a metric is, of what it is to be."""
    source = _SOURCES.get(spec["type"])
    if source is None:
        return "<unknown type>"
    target, current = at(spec, source, "target", default={}), at(now, source, "current", default={})
    average = target.get("averageValue")
    if source in ("resource", "containerResource"):
        name = at(spec, source, "name")
        if average is not None:
            return f"{name}: {current.get('averageValue') or _UNKNOWN}/{average}"
        used, wanted = current.get("averageUtilization"), target.get("averageUtilization")
        used_text = f"{used}%" if used is not None else _UNKNOWN
        return f"{name}: {used_text}/{f'{wanted}%' if wanted is not None else '<auto>'}"
    if source == "pods":
        return f"{current.get('averageValue') or _UNKNOWN}/{average}"
    if average is not None:
        return f"{current.get('averageValue') or _UNKNOWN}/{average} (avg)"
    return f"{current.get('value') or _UNKNOWN}/{target.get('value')}"


def _targets(obj: Object) -> str:
    specs, now = at(obj, "spec", "metrics", default=()), at(obj, "status", "currentMetrics", default=())
    shown = [_metric(spec, now[place] if place < len(now) else None) for place, spec in enumerate(each(specs))]
    return cut(shown, ", ", _MOST) or "<none>"


def _newest(obj: Object) -> Object:
    """The object in v2, whose metrics are fields."""
    if at(obj, "apiVersion") != "autoscaling/v1":
        return obj
    from podless.apis.autoscaling import versions

    return versions.to_v2(dict(obj))


COLUMNS: Mapping[str, tuple[Cell, ...]] = {
    "horizontalpodautoscalers": (
        NAME,
        Cell(
            "Reference",
            "string",
            Of(_GROUP, _SPEC, "scaleTargetRef"),
            lambda obj: f"{at(obj, 'spec', 'scaleTargetRef', 'kind')}/{at(obj, 'spec', 'scaleTargetRef', 'name')}",
        ),
        Cell("Targets", "string", Of(_GROUP, _SPEC, "metrics"), lambda obj: _targets(_newest(obj))),
        Cell(
            "MinPods",
            "string",
            Of(_GROUP, _SPEC, "minReplicas"),
            lambda obj: str(at(obj, "spec", "minReplicas", default="<unset>")),
        ),
        Cell("MaxPods", "string", Of(_GROUP, _SPEC, "maxReplicas"), number("spec", "maxReplicas")),
        Cell(
            "Replicas",
            "string",
            Of(_GROUP, "HorizontalPodAutoscalerStatus", "currentReplicas"),
            number("status", "currentReplicas"),
        ),
        AGE,
    )
}
