"""The controller against a server inside the test."""

from __future__ import annotations

import asyncio

from team_controller import ConfigMap, Team, TeamSpec, TeamStatus, run

from podless import Server, crd


def test_a_team_gets_its_config_map_and_its_status(podless: Server) -> None:
    podless.apply(crd(Team))

    async def scenario() -> None:
        client = podless.typed
        controller = asyncio.create_task(run(client))
        team = Team(spec=TeamSpec(members=["ann", "bob"]))
        team.metadata.name = "blue"
        await client.create(team)
        found = await client.wait(Team, "blue", lambda one: one.status is not None)
        assert found.status == TeamStatus(count=2)
        assert (await client.get(ConfigMap, "blue")).data == {"members": "ann\nbob"}
        controller.cancel()

    asyncio.run(scenario())
