"""Printer columns of node.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import AGE, NAME, Columns, string

COLUMNS: Columns = {"runtimeclasses": (NAME, string("Handler", "RuntimeClass.handler"), AGE)}
