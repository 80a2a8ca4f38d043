"""Helpers for tests of a server in the same process: apply objects, wait, take and restore snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podless.runtime.lazy import deprecated_names
from podless.testing.client import AdminClient, Missing
from podless.testing.snapshot import Snapshot
from podless.testing.wait import Waited

__all__ = ["AdminClient", "Missing", "Snapshot", "Waited"]

if TYPE_CHECKING:
    Client = AdminClient
else:
    __getattr__ = deprecated_names(__name__, {"Client": "AdminClient"})
