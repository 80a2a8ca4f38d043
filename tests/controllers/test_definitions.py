"""Facts about definitions that come into force."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import orjson
import pytest

from podless.app import App, Settings
from podless.http.message import HTTPRequest, Response, settle_answer
from podless.runtime.jsonobject import Object
from podless.store import Operation, StoreChange
from tests.conftest import CRDS, definition


class Direct:
    """Requests to a server in this loop, any number at once."""

    def __init__(self, app: App) -> None:
        assert app.handler is not None
        self._handler = app.handler
        self._token = app.token
        self.app = app

    async def send(self, method: str, path: str, body: Object | None = None) -> tuple[int, Object]:
        request = HTTPRequest.of(
            method, path, {"authorization": f"Bearer {self._token}", "content-type": "application/json"}
        )
        request.body = orjson.dumps(body) if body is not None else b""
        answer = self._handler(request)
        answer = await settle_answer(answer)
        assert isinstance(answer, Response)
        return answer.status, orjson.loads(b"".join(answer.chunks))


def conditions(found: Object) -> dict[str, str]:
    return {condition["type"]: condition["status"] for condition in found["status"]["conditions"]}


async def test_what_becomes_of_a_definition_is_seen_step_by_step(tmp_path: Path) -> None:
    app = App(Settings(data=tmp_path, tls=False))
    await app.start()
    batches: list[list[StoreChange]] = []
    try:
        assert app.cluster is not None
        store = app.cluster.store
        assert store is not None
        store.watch("/", await store.read_revision(), lambda changes, _: batches.append(list(changes)))
        status, made = await Direct(app).send("POST", CRDS, definition("example.com"))
        assert (status, made["status"]["conditions"]) == (201, None)
        records = [
            change.record for batch in batches for change in batch if "/customresourcedefinitions/" in change.key
        ]
    finally:
        await app.stop()
    assert len({record.created for record in records if record is not None}) == 1
    states = [orjson.loads(record.stored.data)["status"]["conditions"] for record in records if record is not None]
    assert [{one["type"]: one["status"] for one in state or ()} for state in states] == [
        {},
        {"NamesAccepted": "True", "Established": "False"},
        {"NamesAccepted": "True", "Established": "True"},
    ]
    again = App(Settings(data=tmp_path, tls=False))
    await again.start()
    try:
        assert (await Direct(again).send("GET", "/apis/example.com/v1/gadgets"))[0] == 200
    finally:
        await again.stop()


@pytest.fixture
async def direct() -> AsyncIterator[Direct]:
    app = App(Settings(tls=False))
    await app.start()
    yield Direct(app)
    await app.stop()


async def test_a_definition_is_in_force_with_the_commit_that_makes_it(direct: Direct) -> None:
    assert direct.app.cluster is not None
    store = direct.app.cluster.store
    assert store is not None
    chains, chain = [], store.commit_chain

    async def noted(commits: Sequence[Sequence[Operation]]) -> list[int]:
        if len(commits) > 1:
            chains.append([[operation.key for operation in operations] for operations in commits])
        return await chain(commits)

    store.commit_chain = noted  # type: ignore[method-assign]
    await direct.send("POST", CRDS, definition("example.com"))
    key, names = "/apiextensions.k8s.io/customresourcedefinitions/gadgets.example.com", "/podless/names/example.com"
    assert chains == [[[key], [key, names], [key]]]
    assert (await direct.send("GET", "/apis/example.com/v1/gadgets"))[0] == 200


async def test_of_definitions_that_come_at_once_one_gets_the_name(direct: Direct) -> None:
    plurals = [f"gadgets{place}" for place in range(8)]
    made = await asyncio.gather(*(direct.send("POST", CRDS, definition("example.com", plural)) for plural in plurals))
    assert [status for status, _ in made] == [201] * 8
    found = [(await direct.send("GET", f"{CRDS}/{plural}.example.com"))[1] for plural in plurals]
    established = [one["metadata"]["name"] for one in found if conditions(one)["Established"] == "True"]
    assert len(established) == 1
    refused = [conditions(one) for one in found if one["metadata"]["name"] not in established]
    assert refused == [{"NamesAccepted": "False", "Established": "False"}] * 7


async def test_of_the_same_definition_sent_twice_at_once_one_is_there_already(direct: Direct) -> None:
    made = await asyncio.gather(*(direct.send("POST", CRDS, definition("example.com")) for _ in range(3)))
    assert sorted(status for status, _ in made) == [201, 409, 409]
    found = (await direct.send("GET", f"{CRDS}/gadgets.example.com"))[1]
    assert conditions(found) == {"NamesAccepted": "True", "Established": "True"}


async def test_a_name_that_a_definition_gives_up_goes_to_one_that_waits_for_it(direct: Direct) -> None:
    first, second = definition("example.com"), definition("example.com", "widgets", "Widget")
    for value in (first, second):
        value["spec"]["names"]["shortNames"] = ["x"]
        await direct.send("POST", CRDS, value)
    path = f"{CRDS}/widgets.example.com"
    assert conditions((await direct.send("GET", path))[1])["NamesAccepted"] == "False"
    found = (await direct.send("GET", f"{CRDS}/gadgets.example.com"))[1]
    found["spec"]["names"]["shortNames"] = ["y"]
    assert (await direct.send("PUT", f"{CRDS}/gadgets.example.com", found))[0] == 200
    assert conditions((await direct.send("GET", path))[1]) == {"NamesAccepted": "True", "Established": "True"}


async def test_the_own_list_kind_is_free_for_the_kind_after_it_changed(direct: Direct) -> None:
    first, second = definition("example.com"), definition("example.com", "widgets", "Widget")
    for value in (first, second):
        value["spec"]["names"]["shortNames"] = ["x"]
    second["spec"]["names"]["listKind"] = "Thing"
    for value in (first, second):
        await direct.send("POST", CRDS, value)
    path = f"{CRDS}/widgets.example.com"
    found = (await direct.send("GET", path))[1]
    found["spec"]["names"] |= {"kind": "Thing", "listKind": "ThingList"}
    assert (await direct.send("PUT", path, found))[0] == 200
    found = (await direct.send("GET", path))[1]
    assert found["status"]["acceptedNames"]["kind"] == "Thing"


async def test_conditions_that_a_client_takes_away_are_not_put_back_while_the_names_stay(direct: Direct) -> None:
    await direct.send("POST", CRDS, definition("example.com"))
    path = f"{CRDS}/gadgets.example.com"
    found = (await direct.send("GET", path))[1]
    bare = {**found, "status": {**found["status"], "conditions": None}}
    assert (await direct.send("PUT", f"{path}/status", bare))[0] == 200
    found = (await direct.send("GET", path))[1]
    assert found["status"]["conditions"] is None
    assert (await direct.send("GET", f"{path}/status"))[0] == 200
    found["spec"]["names"]["shortNames"] = ["gg"]
    assert (await direct.send("PUT", path, found))[0] == 200
    assert conditions((await direct.send("GET", path))[1]) == {"NamesAccepted": "True", "Established": "True"}
    assert (await direct.send("GET", "/apis/example.com/v1/gadgets"))[0] == 200


async def test_of_a_definition_that_never_came_into_force_a_delete_says_so(direct: Direct) -> None:
    await direct.send("POST", CRDS, definition("example.com"))
    second = definition("example.com", "widgets")
    second["metadata"]["finalizers"] = ["example.com/hold"]
    await direct.send("POST", CRDS, second)
    path = f"{CRDS}/widgets.example.com"
    assert (await direct.send("DELETE", path))[0] == 200
    deadline = asyncio.get_running_loop().time() + 60
    while True:
        found = (await direct.send("GET", path))[1]
        last = found["status"]["conditions"][-1]
        if last["type"] == "Terminating" and last["status"] == "False":
            break
        assert asyncio.get_running_loop().time() < deadline, found
        await asyncio.sleep(0.01)
    assert (last["reason"], last["message"]) == ("NeverEstablished", "resource was never established")
    assert found["metadata"]["finalizers"] == ["example.com/hold"]
