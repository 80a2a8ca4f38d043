"""Columns of policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from podless.publish.columns.cell import AGE, NAME, Cell, Object, Of, at
from podless.publish.columns.workload import number

_GROUP = "policy"
_SPEC = "PodDisruptionBudgetSpec"


def _bound(name: str) -> Callable[[Object], str]:
    return lambda obj: str(at(obj, "spec", name, default="N/A"))


COLUMNS: Mapping[str, tuple[Cell, ...]] = {
    "poddisruptionbudgets": (
        NAME,
        Cell("Min Available", "string", Of(_GROUP, _SPEC, "minAvailable"), _bound("minAvailable")),
        Cell("Max Unavailable", "string", Of(_GROUP, _SPEC, "maxUnavailable"), _bound("maxUnavailable")),
        Cell(
            "Allowed Disruptions",
            "integer",
            Of(_GROUP, "PodDisruptionBudgetStatus", "disruptionsAllowed"),
            number("status", "disruptionsAllowed"),
        ),
        AGE,
    )
}
