"""What tests do with a server: say what is there, wait for what is to come, go back to what was."""

from __future__ import annotations

from podless.testing.client import Client, Missing
from podless.testing.snapshot import Snapshot
from podless.testing.wait import Waited

__all__ = ["Client", "Missing", "Snapshot", "Waited"]
