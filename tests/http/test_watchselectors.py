"""What watches keep of their requests is shared, on the account of their users, and given back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

import pytest

from podless.app import App, Settings
from podless.http.clientmemory import STREAMS
from podless.http.limits import Limits
from podless.verbs.watch import Watch

MAPS = "/api/v1/namespaces/default/configmaps"


class Client:
    """A client on a connection of its own."""

    def __init__(self, app: App, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._app, self._reader, self.writer = app, reader, writer

    def send(self, method: str, target: str, body: Any = None) -> None:
        data = json.dumps(body).encode() if body is not None else b""
        token = self._app.token
        head = f"{method} {target} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {token}\r\nContent-Length: {len(data)}"
        self.writer.write(f"{head}\r\nContent-Type: application/json\r\n\r\n".encode() + data)

    async def code(self) -> int:
        """The code of the next answer; its body stays unread."""
        head = await self._reader.readuntil(b"\r\n\r\n")
        return int(head.split()[1])

    async def event(self) -> Any:
        """The next event of a watch."""
        while not (line := await self._reader.readline()).startswith(b"{"):  # chunks have several events, and lengths
            assert line
        return json.loads(line)


class World:
    """A server, and what it keeps for its watches."""

    def __init__(self, app: App) -> None:
        self.app = app
        assert app._listener is not None
        self.held = app._listener._shared.memory

    async def client(self) -> Client:
        url = urlsplit(self.app.url)
        return Client(self.app, *await asyncio.open_connection(url.hostname, url.port))

    @property
    def watchers(self) -> int:
        """Of config maps, beside what the server follows itself."""
        assert self.app.cluster is not None
        api = self.app.cluster.api
        kind = api.registry.get("", "configmaps")
        assert kind is not None
        collection = api.collection(kind)
        return collection.watchers - len(collection._handlers)


@asynccontextmanager
async def world(**limits: Any) -> AsyncIterator[World]:
    app = App(Settings(port=0, tls=False, limits=Limits(**limits)))
    await app.start()
    try:
        yield World(app)
    finally:
        await app.stop()


async def until(true: Any) -> None:
    """Wait for what the other side does."""
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.001)


def selector(many: int) -> str:
    return "%2C".join(f"!a{number}" for number in range(many))


async def test_equal_selectors_are_kept_once_and_given_back() -> None:
    async with world() as server:
        clients = [await server.client() for _ in range(3)]
        sizes = [server.held.by_purpose[STREAMS]]
        for client in clients:
            client.send("GET", f"{MAPS}?watch=1&resourceVersion=0&labelSelector={selector(500)}")
            assert await client.code() == 200
            sizes.append(server.held.by_purpose[STREAMS])
        first, second, third = (after - before for before, after in pairwise(sizes))
        assert second == third
        assert first > 8 * second > 0
        for client in clients:
            client.writer.close()
        await until(lambda: not server.held.by_purpose[STREAMS])
        assert server.watchers == 0


async def test_watches_with_different_selectors_are_refused_once_they_keep_too_much() -> None:
    async with world(held=1 << 20) as server:
        codes = []
        clients = [await server.client() for _ in range(8)]
        for number, client in enumerate(clients):
            client.send("GET", f"{MAPS}?watch=1&resourceVersion=0&labelSelector=b{number}%2C{selector(100)}")
            codes.append(await client.code())
        assert codes == sorted(codes)
        assert set(codes) == {200, 429}
        assert server.held.by_purpose[STREAMS] <= 1 << 17


async def test_equal_selectors_see_the_same() -> None:
    async with world() as server:
        clients = [await server.client() for _ in range(4)]
        for number, client in enumerate(clients):
            client.send("GET", f"{MAPS}?watch=1&resourceVersion=1&labelSelector=app%3D{'yn'[number % 2]}")
            assert await client.code() == 200
        writer = await server.client()
        for name, app in (("a", "y"), ("b", "n"), ("c", "y"), ("d", "n")):
            writer.send("POST", MAPS, {"metadata": {"name": name, "labels": {"app": app}}})
        for number, client in enumerate(clients):
            names = [(await client.event())["object"]["metadata"]["name"] for _ in range(2)]
            assert names == [["a", "c"], ["b", "d"]][number % 2]


async def test_a_watch_that_is_refused_follows_nothing() -> None:
    async with world(watches=2) as server:
        clients = [await server.client() for _ in range(3)]
        for client in clients:
            client.send("GET", f"{MAPS}?watch=1&resourceVersion=0")
        assert sorted([await client.code() for client in clients]) == [200, 429, 429]
        assert server.watchers == 1


async def test_a_client_that_leaves_before_its_watch_begins_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, gone = asyncio.Event(), asyncio.Event()
    prepare = Watch.prepare_initial

    async def prepare_late(watch: Watch) -> None:
        await prepare(watch)
        begun.set()
        await gone.wait()

    monkeypatch.setattr(Watch, "prepare_initial", prepare_late)
    async with world() as server:
        client = await server.client()
        client.send("GET", f"{MAPS}?watch=1&resourceVersion=0")
        await begun.wait()
        client.writer.close()
        await until(lambda: not server.app._listener.connections)  # type: ignore[union-attr]
        assert server.watchers == 1
        gone.set()
        await until(lambda: not server.watchers)
        assert not server.held.by_purpose[STREAMS]


async def test_a_watch_that_cannot_begin_keeps_nothing() -> None:
    async with world() as server:
        client = await server.client()
        client.send("GET", f"{MAPS}?watch=1&labelSelector=%21%21{selector(50)}")
        assert await client.code() == 400
        assert (server.held.by_purpose[STREAMS], server.watchers) == (0, 0)
