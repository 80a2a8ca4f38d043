"""A kopf operator that reads objects as generated classes."""

from __future__ import annotations

from typing import Any

import kopf
from teams_v1 import Team


@kopf.on.create("example.com", "v1", "teams")
def count_members(body: kopf.Body, patch: kopf.Patch, **_: Any) -> None:
    """Write the number of members into the status."""
    team = Team.from_dict(dict(body))
    patch.status["count"] = len(team.spec.members)
