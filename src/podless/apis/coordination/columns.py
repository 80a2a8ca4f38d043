"""Printer columns of coordination.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import AGE, NAME, Columns, string

COLUMNS: Columns = {"leases": (NAME, string("Holder", "LeaseSpec.holderIdentity"), AGE)}
