"""Several servers on one store: what one of them may decide alone, none does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from podless.app import App, Settings
from podless.store import Operation, StoredValue
from tests.conftest import CRDS, definition
from tests.controllers.test_definitions import Direct, conditions
from tests.store.late import LateStore

pytestmark = pytest.mark.slow


class Shared(LateStore):
    """Opened by the first of its servers, closed by nobody of them."""

    opened = False

    async def open(self) -> None:
        if not self.opened:
            self.opened = True
            await super().open()

    async def close(self) -> None:
        pass


@pytest.fixture(params=range(3))
async def two(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[Direct]]:
    store = Shared(seed=request.param)
    monkeypatch.setattr("podless.store.sqlite.store.SQLiteStore", lambda path, **_: store)
    apps = [App(Settings(tls=False)) for _ in range(2)]
    await asyncio.gather(*(app.start() for app in apps))
    yield [Direct(app) for app in apps]
    for app in apps:
        await app.stop()
    await LateStore.close(store)


async def test_a_name_is_given_once(two: list[Direct]) -> None:
    plurals = [f"gadgets{place}" for place in range(8)]
    sent = (two[index % 2].send("POST", CRDS, definition("e.io", plural)) for index, plural in enumerate(plurals))
    assert [status for status, _ in await asyncio.gather(*sent)] == [201] * 8
    found = [(await two[0].send("GET", f"{CRDS}/{plural}.e.io"))[1] for plural in plurals]
    assert sorted(conditions(one)["NamesAccepted"] for one in found) == ["False"] * 7 + ["True"]


async def test_a_quota_holds(two: list[Direct]) -> None:
    home = "/api/v1/namespaces/default"
    quota = {"metadata": {"name": "few"}, "spec": {"hard": {"configmaps": 3}}}
    assert (await two[0].send("POST", f"{home}/resourcequotas", quota))[0] == 201
    sent = (
        two[place % 2].send("POST", f"{home}/configmaps", {"metadata": {"name": f"m{place}"}}) for place in range(8)
    )
    assert sorted(status for status, _ in await asyncio.gather(*sent)) == [201] * 3 + [403] * 5
    for server in two:
        assert len((await server.send("GET", f"{home}/configmaps"))[1]["items"]) == 3
        assert (await server.send("GET", f"{home}/resourcequotas/few"))[1]["status"]["used"]["configmaps"] == "3"


async def test_what_one_has_answered_the_other_knows(two: list[Direct]) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    for number in range(5):
        name = f"{path}/c{number}"
        one, other = two[number % 2], two[1 - number % 2]
        assert (await one.send("POST", path, {"metadata": {"name": f"c{number}"}}))[0] == 201
        assert (await other.send("GET", name))[0] == 200
        assert (await other.send("DELETE", name))[0] == 200
        assert (await one.send("GET", name))[0] == 404


async def test_tokens_of_one_are_good_for_the_other(two: list[Direct]) -> None:
    path = "/api/v1/namespaces/default/serviceaccounts/default/token"
    status, made = await two[0].send("POST", path, {"spec": {}})
    assert status == 201
    review = {"spec": {"token": made["status"]["token"]}}
    answer = (await two[1].send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review))[1]
    assert answer["status"]["authenticated"] is True


async def test_a_definition_is_in_force_also_where_its_client_did_not_wait(tmp_path: Path) -> None:
    app = App(Settings(tls=False))
    await app.start()
    direct = Direct(app)
    given_up = asyncio.ensure_future(direct.send("POST", CRDS, definition("e.io")))
    stored, served = asyncio.Event(), asyncio.Event()
    assert app.cluster is not None
    store = app.cluster.store
    assert store is not None
    store.watch("/apiextensions.k8s.io/", await store.read_revision(), lambda changes, _: stored.set())
    store.watch("/podless/names/e.io", await store.read_revision(), lambda changes, _: served.set())
    await stored.wait()
    given_up.cancel()
    await asyncio.wait_for(served.wait(), 60)
    await app.stop()


async def test_a_handler_that_fails_keeps_no_writer_waiting() -> None:
    app = App(Settings(tls=False))
    await app.start()

    def fails(changes: object, revision: int) -> None:
        raise RuntimeError("a defect")

    assert app.cluster is not None
    store = app.cluster.store
    assert store is not None
    store.watch("/", await store.read_revision(), fails)
    writes = (store.commit([Operation(f"/g/r/{place}", StoredValue(b""), 0)]) for place in range(3))
    await asyncio.wait_for(asyncio.gather(*writes), 60)
    await app.stop()
