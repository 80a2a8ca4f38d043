"""What a client does not read is not made, or is on an account; and who never reads is cut off."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import yaml

from podless import Server
from podless.auth.user import User
from podless.http import listener as listener_module
from podless.http import lists, outgoing
from podless.http.limits import Limits
from podless.http.message import Answer, HTTPRequest, LazyBody, Pending, Response, Sink, Stream
from podless.runtime import pace
from tests.conftest import Client as Plain
from tests.http.test_connection import Client, serving

pytestmark = pytest.mark.slow

GET = b"GET /%b HTTP/1.1\r\nHost: h\r\n\r\n"
MAPS = "/api/v1/namespaces/default/configmaps"


def wire(writer: asyncio.StreamWriter) -> Any:
    return writer.transport


async def until(true: Callable[[], Any]) -> None:
    """Wait for what the other side does."""
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.001)


class Making:
    """An answer, or a stream, of many pieces, which counts those that were made."""

    def __init__(self, many: int) -> None:
        self.many = many
        self.made = 0

    def pieces(self) -> Iterator[bytes]:
        for _ in range(self.many):
            self.made += 1
            yield b"x" * 50_000

    def handler(self, request: HTTPRequest) -> Answer | Pending:
        if request.path == "/stream":
            return Stream(self._start)
        return Response(200, LazyBody(self.pieces))

    def _start(self, sink: Sink) -> Callable[[], None]:
        sink.send_initial(self.pieces())
        sink.send(b"y" * 10)
        sink.end()
        return lambda: None

    async def settled(self) -> int:
        """How many are made when no more are."""
        await until(lambda: self.made)
        seen = -1
        while self.made > seen:
            seen = self.made
            await asyncio.sleep(0.05)
        return seen


async def test_a_stream_whose_last_piece_ends_a_turn_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "_MAKING", -1.0)  # each turn sends one piece
    async with serving(Making(2).handler) as opened:
        client = await opened()
        client.send(GET % b"stream")
        assert len((await client.answer())[2]) == 2 * 50_000 + 10


@pytest.mark.parametrize("path", [b"answer", b"stream"])
async def test_pieces_are_made_as_the_client_reads(path: bytes) -> None:
    making = Making(400)
    async with serving(making.handler) as opened:
        connect: Any = opened
        client = await connect()
        wire(client.writer).pause_reading()
        client.send(GET % path)
        assert await making.settled() < 350
        held = connect.listener._shared.memory
        assert 0 < held.total < 1 << 20
        wire(client.writer).resume_reading()
        _, headers, body = await client.answer()
        assert headers["transfer-encoding"] == "chunked"
        assert len(body) == 400 * 50_000 + (10 if path == b"stream" else 0)
        assert held.total == 0
        client.send(GET % path)  # the connection goes on
        assert (await client.answer())[0] == 200


async def test_pieces_that_take_time_to_make_leave_turns_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((outgoing, "_MAKING"), (pace, "_TURN_SECONDS")):
        monkeypatch.setattr(module, name, 0.0)  # each takes longer
    made = 0
    ahead: list[int] = []  # how many were made when a turn came that was asked for with a piece

    def turn(number: int) -> None:
        ahead.append(made - number)

    def counted() -> Iterator[bytes]:
        nonlocal made
        loop = asyncio.get_running_loop()
        for number in range(50):
            loop.call_soon(turn, number)
            made += 1
            yield b"x" if number % 2 else b""

    async with serving(lambda request: Response(200, LazyBody(counted))) as opened:
        connect: Any = opened
        client = await connect()
        client.send(GET % b"")
        assert len((await client.answer())[2]) == 25
    assert max(ahead) <= 2


async def test_an_old_client_gets_an_answer_of_unknown_length_too() -> None:
    making = Making(10)
    async with serving(making.handler) as opened:
        connect: Any = opened
        client = await connect()
        client.send(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        whole = await client.closed()
        assert whole.partition(b"\r\n\r\n")[2] == b"x" * 500_000
        client = await connect()
        client.send(b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n" + GET % b"")
        assert b"chunked" in await client.reader.readuntil(b"\r\n\r\n")
        assert len((await client.answer())[2]) == 500_000


async def test_an_answer_that_cannot_be_made_to_its_end_ends_the_connection() -> None:
    def failing() -> Iterator[bytes]:
        yield b"x"
        raise ValueError

    async with serving(lambda request: Response(200, LazyBody(failing))) as opened:
        connect: Any = opened
        client = await connect()
        client.send(GET % b"")
        with suppress(ConnectionResetError):
            assert not (await client.closed()).endswith(b"0\r\n\r\n")


@pytest.mark.parametrize("path", [b"answer", b"stream"])
async def test_who_reads_nothing_is_cut_off(path: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener_module, "_SWEEP", 0.02)
    making = Making(400)
    async with serving(making.handler, write_time=0.05) as opened:
        connect: Any = opened
        client = await connect()
        wire(client.writer).pause_reading()
        client.send(GET % path)
        await until(lambda: connect.listener.connections)
        await until(lambda: not connect.listener.connections)
        assert connect.listener._shared.memory.total == 0
        assert making.made < 400


async def test_streams_that_are_not_read_are_bounded_together() -> None:
    sinks: list[Sink] = []

    def start(sink: Sink) -> Callable[[], None]:
        sinks.append(sink)
        return lambda: None

    async with serving(lambda request: Stream(start), held=4 << 20) as opened:
        connect: Any = opened
        clients: list[Client] = [await connect() for _ in range(12)]
        for client in clients:
            wire(client.writer).pause_reading()
            client.send(GET % b"")
        await until(lambda: len(sinks) == len(clients))
        held = connect.listener._shared.memory
        going = set(sinks)
        for _ in range(400):
            going = {sink for sink in going if sink.send(b"z" * 50_000)}
            assert held.total <= 2 << 20  # a user's half
            await asyncio.sleep(0)
        assert len(going) < len(clients)
        assert held.cuts > 0
    assert held.total == 0


async def test_one_answer_alone_always_goes_out_and_one_without_room_is_refused(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def handler(request: HTTPRequest) -> Response:
        request.user = User(request.path[1:])
        return Response(200, [b"x" * (24 << 20 if request.path == "/b" else 20 << 20)])

    async with serving(handler, held=16 << 20) as opened:
        connect: Any = opened
        one, two = await connect(), await connect()
        held = connect.listener._shared.memory
        wire(one.writer).pause_reading()
        one.send(GET % b"a")
        await until(lambda: held.total > 20 << 20)
        two.send(GET % b"b")
        code, headers, body = await two.answer()
        assert (code, headers["retry-after"]) == (429, "1")
        assert json.loads(body)["reason"] == "TooManyRequests"
        assert '25165824 bytes to "GET /b" of "b"' in caplog.text
        wire(one.writer).resume_reading()
        assert len((await one.answer())[2]) == 20 << 20
        two.send(GET % b"b")
        assert len((await two.answer())[2]) == 24 << 20
        assert held.total == 0


async def test_what_a_piecewise_answer_is_made_of_is_on_the_account() -> None:
    body = LazyBody(lambda: iter([b"x" * 50_000] * 100), own_size=1 << 20)
    async with serving(lambda request: Response(200, body)) as opened:
        connect: Any = opened
        client = await connect()
        wire(client.writer).pause_reading()
        client.send(GET % b"")
        held = connect.listener._shared.memory
        await until(lambda: held.total >= 1 << 20)
        wire(client.writer).resume_reading()
        assert len((await client.answer())[2]) == 5_000_000
        assert held.total == 0


# lists


@pytest.fixture(scope="module")
def many() -> Iterator[Plain]:
    with Server(tls=False) as server:
        client = Plain(server.url, server.token)
        for number in range(150):
            data = {"text": f"line {number}: é\n" * 50, "n": "1"}
            assert client.post(MAPS, {"metadata": {"name": f"m{number}"}, "data": data}).status == 201
        yield client
        client.close()


FORMS = [
    "application/yaml",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/yaml;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/vnd.kubernetes.protobuf",
]


@pytest.mark.parametrize("accept", FORMS)
@pytest.mark.parametrize("query", ["", "?pretty=true"])
def test_a_long_list_is_the_same_whether_it_is_made_in_one_go(
    many: Plain, accept: str, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(**headers: str) -> bytes:
        connection = many._connect()
        connection.request(
            "GET", MAPS + query, None, {"Authorization": f"Bearer {many._token}", "Accept": accept, **headers}
        )
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        body = gzip.decompress(body) if answer.headers.get("Content-Encoding") == "gzip" else body
        return re.sub(rb'"\d+[sm]\w*"', b'"an age"', body)  # which may change from one to the next

    slowly = read()
    assert read(**{"Accept-Encoding": "gzip"}) == slowly
    monkeypatch.setattr(lists, "is_long", lambda page: False)
    assert read() == slowly
    if accept == "application/yaml":
        assert len(yaml.safe_load(slowly)["items"]) == 150


def test_a_long_list_for_people(many: Plain, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = many.get(f"{MAPS}?pretty=true").body
    assert shown == many.get(MAPS).body


async def test_a_watch_whose_beginning_is_large_comes_whole(many: Plain) -> None:
    size = 200_000
    with Server(tls=False, limits=Limits(buffer=1 << 20, held=8 << 20)) as server:
        client = Plain(server.url, server.token)
        for number in range(60):
            body = {"metadata": {"name": f"m{number:02}"}, "data": {"text": "x" * size}}
            assert client.post(MAPS, body).status == 201
        query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        host, _, port = server.url.rpartition("/")[2].partition(":")
        reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 22)
        head = f"GET {MAPS}?{query} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {server.token}\r\n\r\n"
        writer.write(head.encode())
        await reader.readuntil(b"\r\n\r\n")
        wire(writer).pause_reading()
        posted = await asyncio.to_thread(client.post, MAPS, {"metadata": {"name": "z"}})  # while nothing is read
        assert posted.status == 201
        wire(writer).resume_reading()
        events: list[Any] = []
        text = b""
        while not any(
            event["object"]["metadata"]["name"] == "z" for event in events if "name" in event["object"]["metadata"]
        ):
            length = int(await asyncio.wait_for(reader.readline(), 60), 16)
            text += await reader.readexactly(length)
            await reader.readexactly(2)
            *whole, text = text.split(b"\n")
            events += map(json.loads, whole)
        names = [event["object"]["metadata"].get("name", "") for event in events]
        marks = [index for index, event in enumerate(events) if event["type"] == "BOOKMARK"]
        assert [name for name in names if name.startswith("m")] == [f"m{number:02}" for number in range(60)]
        assert marks
        assert set(names[marks[0] + 1 :]) <= {"z"}
        assert names.count("z") == 1
        writer.close()
        client.close()
