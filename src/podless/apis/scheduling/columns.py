"""Printer columns of scheduling.k8s.io."""

from __future__ import annotations

from dataclasses import replace

from podless.apis.shared.columns import AGE, NAME, Columns, boolean, integer, string

COLUMNS: Columns = {
    "priorityclasses": (
        NAME,
        integer("Value", "PriorityClass.value"),
        boolean("Global-Default", "PriorityClass.globalDefault"),
        AGE,
        replace(string("PreemptionPolicy", "PriorityClass.preemptionPolicy"), releases="1.32-"),
    )
}
