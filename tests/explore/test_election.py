"""Leaders: who holds a lease, who is deposed, and when a write of a deposed leader goes on."""

from __future__ import annotations

import asyncio

from podless.explore.election import Election, Lease

LEASE = ("default", "gardens")


async def _lead(client: str) -> tuple[Election, list[Lease]]:
    freed: list[Lease] = []

    async def free(lease: Lease) -> None:
        freed.append(lease)

    election = Election(free)
    election.note_lease(LEASE, client)
    return election, freed


async def test_a_deposed_leader_may_not_take_the_lease_again_before_another_one_leads() -> None:
    election, freed = await _lead("one")
    assert await election.depose_client("one")
    assert freed == [LEASE]
    assert election.is_awaited
    assert election.refuses_lease(LEASE, "one")
    assert not election.refuses_lease(LEASE, "two")
    election.note_lease(LEASE, "two")
    assert not election.is_awaited
    assert not election.refuses_lease(LEASE, "one")


async def test_a_client_without_a_lease_is_not_deposed() -> None:
    election, freed = await _lead("one")
    assert not await election.depose_client("two")
    assert (freed, election.is_awaited, election.deposed) == ([], False, set())


async def test_a_write_of_a_deposed_leader_waits_for_the_release() -> None:
    election, _ = await _lead("one")
    await election.depose_client("one")
    assert not election.release_writes()
    write = asyncio.create_task(election.wait_for_release())
    await asyncio.sleep(0)
    assert election.has_stopped_writes
    assert not write.done()
    assert election.release_writes()
    await asyncio.wait_for(write, 10)
    assert not election.has_stopped_writes
