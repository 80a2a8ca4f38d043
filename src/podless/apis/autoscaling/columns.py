"""Cells of the printer columns of autoscaling."""

from __future__ import annotations

from typing import Any

from podless.apis.autoscaling import versions
from podless.apis.shared.columns import NONE, Object, at, shorten
from podless.runtime.meter import each

_MAX = 2
_UNKNOWN = "<unknown>"


def _read_metric(spec: Any, now: Any) -> str:
    """Format a metric as CURRENT/TARGET, as kubectl shows it."""
    source = versions.SOURCES.get(spec["type"])
    if source is None:
        return "<unknown type>"
    target, current = at(spec, source, "target", default={}), at(now, source, "current", default={})
    average, missing = target.get("averageValue"), "<nil>" if at(now, source) else _UNKNOWN
    if source in ("resource", "containerResource"):
        name = at(spec, source, "name")
        if average is not None:
            return f"{name}: {current.get('averageValue') or missing}/{average}"
        used, average_utilization = current.get("averageUtilization"), target.get("averageUtilization")
        used_text = f"{used}%" if used is not None else _UNKNOWN
        return f"{name}: {used_text}/{f'{average_utilization}%' if average_utilization is not None else '<auto>'}"
    if source == "pods":
        return f"{current.get('averageValue') or missing}/{average}"
    if average is not None:
        return f"{current.get('averageValue') or _UNKNOWN}/{average} (avg)"
    return f"{current.get('value') or missing}/{target.get('value')}"


def read_targets(obj: Object) -> str:
    if at(obj, "apiVersion") == "autoscaling/v1":
        obj = versions.convert_to_v2(dict(obj))  # v2 has metrics as fields
    specs, now = at(obj, "spec", "metrics", default=()), at(obj, "status", "currentMetrics", default=())
    texts = [_read_metric(spec, now[index] if index < len(now) else None) for index, spec in enumerate(each(specs))]
    return shorten(texts, ", ", _MAX) or NONE
