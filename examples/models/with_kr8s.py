"""Objects as generated classes, with kr8s."""

from __future__ import annotations

from typing import Any

from kr8s.objects import new_class
from teams_v1 import Team

Resource = new_class(kind="Team", version="example.com/v1", namespaced=True, asyncio=False)


def create_team(api: Any, team: Team) -> Team:
    """Create a team, and return it as the server has it."""
    resource = Resource(team.to_dict(), api=api)
    resource.create()
    return Team.from_dict(resource.raw.to_dict())


def count_members(api: Any, name: str) -> Team:
    """Write the number of members into the status."""
    resource = Resource.get(name, api=api)
    team = Team.from_dict(resource.raw.to_dict())
    resource.patch({"status": {"count": len(team.spec.members)}}, subresource="status")
    return Team.from_dict(resource.raw.to_dict())
