"""A controller in plain asyncio: gives each Team a ConfigMap with its members, and says so in its status."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from podless.client import Client
from podless.models import ObjectMeta, Resource, kind


@dataclass(kw_only=True)
class TeamSpec:
    """Who is in a team."""

    members: list[str]


@dataclass(kw_only=True)
class TeamStatus:
    """How many people the controller has seen."""

    count: int | None = None


@kind("example.com", "v1", status=True)
@dataclass(kw_only=True)
class Team(Resource):
    """A team of people."""

    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: TeamSpec
    status: TeamStatus | None = None


@kind("", "v1", name="ConfigMap")
@dataclass(kw_only=True)
class ConfigMap(Resource):
    """The fields of a ConfigMap that the controller needs."""

    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    data: dict[str, str] = field(default_factory=dict)


async def reconcile(client: Client, team: Team) -> None:
    """Make the cluster match a team."""
    place = ObjectMeta(name=team.metadata.name, namespace=team.metadata.namespace)
    members = {"members": "\n".join(team.spec.members)}
    await client.apply(ConfigMap(metadata=place, data=members), manager="teams", force=True)
    if team.status != (wanted := TeamStatus(count=len(team.spec.members))):
        team.status = wanted
        await client.update_status(team)


async def run(client: Client) -> None:
    """Reconcile all teams until the task is cancelled."""
    async for event in client.watch(Team, everywhere=True):
        if event.type != "DELETED":
            await reconcile(client, event.obj)


async def main() -> None:
    """Run against the cluster of the kubeconfig."""
    async with Client.connect() as client:
        await run(client)


if __name__ == "__main__":
    asyncio.run(main())
