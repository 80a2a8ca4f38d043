"""Columns of apiregistration.k8s.io."""

from __future__ import annotations

from collections.abc import Mapping

from podless.publish.columns.cell import AGE, NAME, Cell, Object, Of, at
from podless.runtime.meter import each


def _service(obj: Object) -> str:
    service = at(obj, "spec", "service", default=None)
    return f"{at(service, 'namespace')}/{at(service, 'name')}" if service else "Local"


def _available(obj: Object) -> str:
    conditions = {one.get("type"): one for one in each(at(obj, "status", "conditions", default=()))}
    found = conditions.get("Available", {})
    status, reason = found.get("status", "Unknown"), found.get("reason", "")
    return str(status if status == "True" or not reason else f"{status} ({reason})")


COLUMNS: Mapping[str, tuple[Cell, ...]] = {
    "apiservices": (
        NAME,
        Cell("Service", "string", Of("apiregistration.k8s.io", "APIServiceSpec", "service"), _service),
        Cell("Available", "string", "Whether the API can be reached.", _available),
        AGE,
    )
}
