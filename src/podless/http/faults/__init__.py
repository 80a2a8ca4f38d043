"""Injected faults: requests that fail on purpose, to test clients."""

from __future__ import annotations

from podless.http.faults.fault import GROUP, BadFault, InjectedFault
from podless.http.faults.scripted import EXEMPT, Faults

__all__ = ["EXEMPT", "GROUP", "BadFault", "Faults", "InjectedFault"]
