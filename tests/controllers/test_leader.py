"""Of several servers one runs the controllers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from podless.apis.coordination.group import LEASES
from podless.apis.core.group import NAMESPACES, SERVICE_ACCOUNTS
from podless.cluster import Cluster
from podless.controllers import leader
from podless.settings import ClusterSettings
from podless.store import Operation, StoredValue
from podless.store.etcd.settings import Etcd
from podless.verbs import storage
from tests.store.etcd.cluster import shared

pytestmark = pytest.mark.slow


@pytest.fixture
async def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[Cluster]]:
    """Three servers over one etcd."""
    for name, seconds in (("LEASE_SECONDS", 3.0), ("_RENEW_INTERVAL", 0.3), ("_RENEW_DEADLINE", 2.0)):
        monkeypatch.setattr(leader, name, seconds)
    etcd = Etcd(servers=(shared().url,), prefix=f"/leader-{tmp_path.name}")
    async with AsyncExitStack() as stack:
        found = []
        for number in range(3):
            (tmp_path / str(number)).mkdir()
            found.append(Cluster(ClusterSettings(store="etcd", etcd=etcd), tmp_path / str(number)))
            stack.push_async_callback(found[-1].stop)
            await found[-1].start()
        yield found


def leaders(servers: list[Cluster]) -> list[Cluster]:
    return [server for server in servers if server.leader is not None and server.leader.leading]


async def led(servers: list[Cluster]) -> Cluster:
    """The one that leads, as soon as there is one."""
    async with asyncio.timeout(60):
        while not (found := leaders(servers)):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return found[0]


async def test_one_leads_and_another_after_it_has_ended(servers: list[Cluster]) -> None:
    first = await led(servers)
    assert leaders(servers) == [first]
    lease = (await servers[1].api.load_collection(LEASES)).get(LEASES.key("kube-system", "podless-controllers"))
    assert lease is not None
    assert first.leader is not None
    assert lease.decode()["spec"]["holderIdentity"] == first.leader.name
    await first.stop()
    assert await led(servers) is not first


async def test_what_is_made_on_one_server_is_seen_to_by_the_leader(servers: list[Cluster]) -> None:
    api = servers[2].api
    obj = {
        "kind": "Namespace",
        "apiVersion": "v1",
        "metadata": {"name": "made", "uid": "1", "creationTimestamp": "2026-01-01T00:00:00Z"},
    }
    await storage.store_new(api, NAMESPACES, NAMESPACES.key("", "made"), obj)
    key = SERVICE_ACCOUNTS.key("made", "default")
    async with asyncio.timeout(60):
        while (await api.load_collection(SERVICE_ACCOUNTS)).get(key) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_one_that_was_suspended_cannot_write_when_it_wakes_up(servers: list[Cluster]) -> None:
    former = await led(servers)
    assert former.leader is not None
    assert former.leader._task is not None
    former.leader._task.cancel()  # it writes its lease no more, and does not know
    follower = await led([server for server in servers if server is not former])
    assert former.leader.leading
    storage.GUARD.set(former.leader.guard)
    with pytest.raises(storage.Deposed):
        await storage.commit_together(former.api, lambda: _plan("/podless/test/former"))
    assert follower.leader is not None
    storage.GUARD.set(follower.leader.guard)
    await storage.commit_together(follower.api, lambda: _plan("/podless/test/present"))


async def _plan(key: str) -> list[Operation]:
    return [Operation(key, StoredValue(b"1"), 0)]


async def test_it_stops_also_where_that_is_said_as_a_look_ends(
    servers: list[Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    running = (await led(servers)).leader
    assert running is not None
    stopping: asyncio.Queue[asyncio.Task[None]] = asyncio.Queue()

    async def turn() -> None:
        if stopping.empty():
            stopping.put_nowait(asyncio.get_running_loop().create_task(running.stop()))

    monkeypatch.setattr(running, "_renew_lease", turn)
    running._look.set()
    async with asyncio.timeout(60):
        await (await stopping.get())
