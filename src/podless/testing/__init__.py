"""Helpers for tests of a server in the same process: apply objects, wait, take and restore snapshots."""

from __future__ import annotations

from podless.testing.client import Client, Missing
from podless.testing.snapshot import Snapshot
from podless.testing.wait import Waited

__all__ = ["Client", "Missing", "Snapshot", "Waited"]
