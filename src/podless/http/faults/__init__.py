"""An API that misbehaves on purpose, so that clients can be tested against it."""

from __future__ import annotations

from podless.http.faults.fault import EXEMPT, BadFault, Fault, Faults

__all__ = ["EXEMPT", "BadFault", "Fault", "Faults"]
