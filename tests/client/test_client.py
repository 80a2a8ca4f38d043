"""The typed client, over HTTP and inside the process: the same answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from podless import Server, crd
from podless.client import Client, Conflicting, Event, Refused
from podless.models import ObjectMeta, Resource, kind
from podless.runtime.jsonobject import Object


@dataclass(kw_only=True)
class Spec:
    size: int = 1


@dataclass(kw_only=True)
class Status:
    ready: bool | None = None


@kind("example.com", "v1", status=True)
@dataclass(kw_only=True)
class Widget(Resource):
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: Spec = field(default_factory=Spec)
    status: Status | None = None


def widget(name: str, size: int = 1, **labels: str) -> Widget:
    return Widget(metadata=ObjectMeta(name=name, labels=labels or None), spec=Spec(size=size))


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        server.apply(crd(Widget))
        yield server


@asynccontextmanager
async def connected(server: Server, how: str) -> AsyncIterator[Client]:
    if how == "direct":
        yield server.typed
    else:
        async with Client.connect(server.kubeconfig) as client:
            yield client


HOW = pytest.mark.parametrize("how", ["direct", "http"])


@HOW
async def test_objects_come_and_go_as_instances(server: Server, how: str) -> None:
    async with connected(server, how) as client:
        made = await client.create(widget("a", 3, color="red"))
        assert made.metadata.uid
        assert await client.get(Widget, "a") == made
        made.spec.size = 4
        changed = await client.update(made)
        assert changed.spec.size == 4
        with pytest.raises(Conflicting):
            await client.update(made)
        changed.status = Status(ready=True)
        assert (await client.update_status(changed)).status == Status(ready=True)
        await client.create(widget("b"))
        assert [one.metadata.name for one in await client.list(Widget, labels="color=red")] == ["a"]
        assert [one.metadata.name for one in await client.list(Widget, everywhere=True)] == ["a", "b"]
        await client.delete(Widget, "a")
        with pytest.raises(Refused) as found:
            await client.get(Widget, "a")
        assert found.value.code == 404


@HOW
async def test_apply_owns_fields(server: Server, how: str) -> None:
    async with connected(server, how) as client:
        await client.apply(widget("a", 3), manager="one")
        with pytest.raises(Conflicting):
            await client.apply(widget("a", 4), manager="two")
        assert (await client.apply(widget("a", 4), manager="two", force=True)).spec.size == 4


@HOW
async def test_a_watch_goes_on_where_it_ended(server: Server, how: str) -> None:
    async with connected(server, how) as client:
        await client.create(widget("a"))
        events = client.watch(Widget)
        assert await told(events) == ("ADDED", "a", 1)
        server.apply(widget("a", 2).to_dict())
        assert await told(events) == ("MODIFIED", "a", 2)
        server.delete("widget", "a")
        assert await told(events) == ("DELETED", "a", 2)


async def told(events: AsyncIterator[Event[Widget]]) -> tuple[str, str | None, int]:
    async with asyncio.timeout(60):
        event = await anext(events)
    return event.type, event.obj.metadata.name, event.obj.spec.size


async def test_a_revision_that_the_server_forgot_costs_no_change(server: Server) -> None:
    class Forgetting:
        """Ends each watch at once; the first one with 410."""

        def __init__(self) -> None:
            self.watched = 0

        async def send(self, method: str, path: str, body: Any = None, media: str = "application/json") -> Object:
            return await server.typed._transport.send(method, path, body, media)

        async def watch(self, path: str) -> AsyncIterator[Object]:
            self.watched += 1
            if self.watched == 1:
                server.apply(widget("a", 2).to_dict())
                server.delete("widget", "b")
                server.create(widget("c").to_dict())
                yield {"type": "ERROR", "object": {"kind": "Status", "code": 410}}

    server.apply([widget("a").to_dict(), widget("b").to_dict()])
    events = Client(Forgetting()).watch(Widget)
    first = [await told(events) for _ in range(2)]
    assert first == [("ADDED", "a", 1), ("ADDED", "b", 1)]
    assert [await told(events) for _ in range(3)] == [("DELETED", "b", 1), ("MODIFIED", "a", 2), ("ADDED", "c", 1)]


@HOW
async def test_waiting_for_a_state(server: Server, how: str) -> None:
    async with connected(server, how) as client:
        made = await client.create(widget("a"))

        async def report() -> None:
            made.status = Status(ready=True)
            await client.update_status(made)

        task = asyncio.create_task(report())
        found = await client.wait(Widget, "a", lambda one: one.status is not None and one.status.ready, timeout=60)
        assert found.status == Status(ready=True)
        await task
        with pytest.raises(TimeoutError):
            await client.wait(Widget, "nobody", lambda one: True, timeout=0.05)


def test_an_object_without_a_name_is_told_before_it_is_sent(server: Server) -> None:
    with pytest.raises(ValueError, match=r"Widget: metadata\.name is missing"):
        asyncio.run(server.typed.update(Widget()))
