"""Printer columns of events.k8s.io: those of the core group's events."""

from __future__ import annotations

from podless.apis.core.columns import EVENTS
from podless.apis.shared.columns import Columns

COLUMNS: Columns = {"events": EVENTS}
