"""A mixture of what goes wrong between a cluster and its clients, all of which a sound client gets over.

What a test sets up before it begins is left alone: definitions, and what is said of admission; and so is what a test
itself asks, where its User-Agent says so.
"""

from __future__ import annotations

from typing import Any

MIXTURE: tuple[dict[str, Any], ...] = (
    {"probability": 0.02, "status": 500},
    {"probability": 0.02, "status": 503},
    {"probability": 0.02, "status": 504},
    {"probability": 0.02, "status": 429, "retry_after": 1},
    {"verb": "update", "probability": 0.1, "status": 409},
    {"verb": "patch", "probability": 0.05, "status": 409},
    {"probability": 0.02, "drop": "before"},
    {"probability": 0.02, "drop": "after"},
    {"probability": 0.1, "delay": 0.05},
    {"verb": "watch", "probability": 0.05, "status": 410},
    {"verb": "watch", "probability": 0.2, "cut_after": 5},
    {"verb": "watch", "probability": 0.1, "expire_after": 3},
    {"verb": "watch", "probability": 0.1, "duplicate": 2},
    {"verb": "watch", "probability": 0.1, "burst": 0.2, "compress": True},
)
AGENT = "podless-test"
GROUPS = ("apiextensions.k8s.io", "admissionregistration.k8s.io", "authorization.k8s.io", "authentication.k8s.io")
SPARED: dict[str, Any] = {"spared": GROUPS, "spared_agent": AGENT}
