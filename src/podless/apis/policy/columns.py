"""Printer columns of policy."""

from __future__ import annotations

from podless.apis.shared.columns import AGE, NAME, Columns, integer, string, text

COLUMNS: Columns = {
    "poddisruptionbudgets": (
        NAME,
        string("Min Available", "PodDisruptionBudgetSpec.minAvailable", text("spec.minAvailable", "N/A")),
        string("Max Unavailable", "PodDisruptionBudgetSpec.maxUnavailable", text("spec.maxUnavailable", "N/A")),
        integer("Allowed Disruptions", "PodDisruptionBudgetStatus.disruptionsAllowed"),
        AGE,
    )
}
