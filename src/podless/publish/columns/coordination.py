"""Columns of coordination.k8s.io."""

from __future__ import annotations

from collections.abc import Mapping

from podless.publish.columns.cell import AGE, NAME, Cell, Of, text

_HOLDER = Of("coordination.k8s.io", "LeaseSpec", "holderIdentity")

COLUMNS: Mapping[str, tuple[Cell, ...]] = {
    "leases": (NAME, Cell("Holder", "string", _HOLDER, text("spec", "holderIdentity")), AGE)
}
