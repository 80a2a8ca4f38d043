"""Objects as generated classes, with lightkube."""

from __future__ import annotations

from lightkube import Client
from lightkube.generic_resource import create_namespaced_resource
from teams_v1 import Team, TeamStatus

Resource = create_namespaced_resource("example.com", "v1", "Team", "teams")


def create_team(client: Client, team: Team) -> Team:
    """Create a team, and return it as the server has it."""
    return Team.from_dict(client.create(Resource.from_dict(team.to_dict())).to_dict())


def count_members(client: Client, name: str) -> Team:
    """Write the number of members into the status."""
    team = Team.from_dict(client.get(Resource, name).to_dict())
    team.status = TeamStatus(count=len(team.spec.members))
    return Team.from_dict(client.replace(Resource.Status.from_dict(team.to_dict())).to_dict())
