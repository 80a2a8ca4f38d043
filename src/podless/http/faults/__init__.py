"""An API that misbehaves on purpose, so that clients can be tested against it."""

from __future__ import annotations

from podless.http.faults.fault import GROUP, BadFault, Fault
from podless.http.faults.scripted import EXEMPT, Faults

__all__ = ["EXEMPT", "GROUP", "BadFault", "Fault", "Faults"]
