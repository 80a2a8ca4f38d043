"""An API that misbehaves on purpose, so that clients can be tested against it."""

from __future__ import annotations

from podless.http.faults.fault import GROUP, BadFault, InjectedFault
from podless.http.faults.scripted import EXEMPT, Faults

__all__ = ["EXEMPT", "GROUP", "BadFault", "Faults", "InjectedFault"]
