"""The wire: requests and answers byte for byte, and what a client may not do."""

from __future__ import annotations

import asyncio
import gc
import ssl
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import pytest

from podless.app import App, Settings
from podless.http import connection, status
from podless.http import listener as listener_module
from podless.http.answering import ListenerState
from podless.http.clientmemory import ClientMemory
from podless.http.limits import Limits
from podless.http.listener import Listener
from podless.http.message import Answer, Handler, HTTPRequest, Observer, Pending, Response, Sink, Stream
from podless.http.status import with_status
from podless.runtime.pace import Pace
from tests.cost import Lines


async def echo(request: HTTPRequest) -> Response:
    await request.read_body()
    return told(request)


def told(request: HTTPRequest) -> Response:
    text = f"{request.method} {request.path} {sorted(request.query.items())} {request.body.decode('latin-1')}"
    return Response(200, [text.encode()], b"text/plain")


class Client:
    """A socket to the server under test."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 60)
        first, *lines = head.decode().split("\r\n")[:-2]
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        if headers.get("transfer-encoding") == "chunked":
            return int(first.split()[1]), headers, await self.chunks()
        body = await asyncio.wait_for(self.reader.readexactly(int(headers.get("content-length", 0))), 60)
        return int(first.split()[1]), headers, body

    async def chunks(self) -> bytes:
        parts = []
        while size := int(await asyncio.wait_for(self.reader.readline(), 60), 16):
            parts.append(await self.reader.readexactly(size))
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)
        return b"".join(parts)

    async def closed(self) -> bytes:
        """What comes before the server closes the connection."""
        return await asyncio.wait_for(self.reader.read(), 60)


@asynccontextmanager
async def serving(
    handler: Handler = echo,
    observe: Observer = lambda request, answer, took: answer,
    **limits: Any,
) -> AsyncIterator[Callable[[], Any]]:
    given = Limits(**limits)
    memory = ClientMemory(given.held)
    listener = Listener(ListenerState(with_status(handler), status.refuse_bytes, given, memory, observe=observe), None)
    port = await listener.open("127.0.0.1", 0)
    clients: list[Client] = []

    async def connect() -> Client:
        client = Client(*await asyncio.open_connection("127.0.0.1", port))
        clients.append(client)
        return client

    connect.listener = listener  # type: ignore[attr-defined]
    try:
        yield connect
    finally:
        await listener.close()
        for client in clients:
            client.writer.close()


async def test_a_request_and_its_answer() -> None:
    async with serving() as connect:
        client = await connect()
        client.send(b"GET /a%20b?x=1&x=2&y HTTP/1.1\r\nHost: h\r\n\r\n")
        code, headers, body = await client.answer()
        assert code == 200
        assert body == b"GET /a b [('x', ['1', '2']), ('y', [''])] "
        assert headers["content-type"] == "text/plain"
        assert headers["cache-control"] == "no-cache, private"
        assert headers["date"].endswith("GMT")


async def test_pipelined_requests_are_answered_in_order() -> None:
    release = asyncio.Event()

    def handler(request: HTTPRequest) -> Any:
        async def slow() -> Response:
            await release.wait()
            return await echo(request)

        return slow() if request.path == "/slow" else echo(request)

    async with serving(handler) as connect:
        client = await connect()
        get = b"GET /%b HTTP/1.1\r\nHost: h\r\n\r\n"
        client.send(get % b"slow" + get % b"1" + b"POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab")
        release.set()
        assert [(await client.answer())[2].split()[1] for _ in range(3)] == [b"/slow", b"/1", b"/2"]


async def test_more_pipelined_requests_than_may_wait_are_answered_all_the_same() -> None:
    def handler(request: HTTPRequest) -> Any:
        async def later() -> Response:
            await asyncio.sleep(0)
            return await echo(request)

        return later()

    async with serving(handler, pipeline=2) as connect:
        client = await connect()
        client.send(b"".join(b"GET /%d HTTP/1.1\r\nHost: h\r\n\r\n" % i for i in range(50)))
        answers = [(await client.answer())[2].split()[1] for _ in range(50)]
        assert answers == [b"/%d" % i for i in range(50)]


async def test_of_requests_in_a_row_few_are_answered_before_it_is_the_turn_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing goes on until the pace says so; how many pieces fit into a turn of the loop is said by its own tests."""
    turns: list[Callable[[], float | None]] = []
    monkeypatch.setattr(Pace, "run_soon", lambda self, user, work: turns.append(work))
    number, answered, worst = 2000, 0, 0

    def handler(request: HTTPRequest) -> Response:
        nonlocal answered
        answered += 1
        return told(request)

    request = b"GET /%04d HTTP/1.1\r\nHost: h\r\n\r\n"
    most = connection._PIPELINE_STEP // len(request % 0) + 1
    async with serving(handler) as connect:
        client = await connect()
        client.send(b"".join(request % place for place in range(number)))
        for place in range(number):
            answer = asyncio.ensure_future(client.answer())
            while not answer.done():
                if answered == place and turns:  # all that was answered has been read
                    assert len(turns) <= 2  # what is left of these bytes, and the next that come in
                    for _ in range(len(turns)):
                        before = answered
                        turns.pop(0)()
                        worst = max(worst, answered - before)
                await asyncio.sleep(0)
            assert (await answer)[2] == b"GET /%04d [] " % place
            assert answered - place <= 2 * most  # nothing went on meanwhile but what came in behind it
    assert 1 < worst <= most


async def test_who_sends_much_is_read_from_when_it_is_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[Callable[[], float | None]] = []
    monkeypatch.setattr(Pace, "run_soon", lambda self, user, work: turns.append(work))
    size = 2 << 20

    async def count(request: HTTPRequest) -> Response:
        return Response(200, [b"%d" % len(await request.read_body())], b"text/plain")

    async with serving(count) as connect:
        client = await connect()
        client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size)
        answer = asyncio.ensure_future(client.answer())
        taken = 0
        while not answer.done():
            await asyncio.sleep(0.001)
            assert len(turns) <= 1
            if turns:
                turns.pop()()
                taken += 1
        assert (await answer)[2] == b"%d" % size
    assert taken >= size // (1 << 18)


async def test_a_chunked_body_is_put_together() -> None:
    async with serving() as connect:
        client = await connect()
        client.send(
            b"POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
        )
        assert (await client.answer())[2].endswith(b" abcde")


async def test_a_client_that_waits_for_leave_to_send_gets_it() -> None:
    async with serving() as connect:
        client = await connect()
        client.send(b"PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        assert await client.reader.readline() == b"HTTP/1.1 100 Continue\r\n"
        await client.reader.readline()
        client.send(b"ok")
        assert (await client.answer())[2].endswith(b" ok")


@pytest.mark.parametrize("method", ["FOO", "TRACE", "X-Y"])
async def test_methods_that_nobody_knows_reach_the_handler(method: str) -> None:
    async with serving() as connect:
        client = await connect()
        client.send(f"{method} /x HTTP/1.1\r\nHost: h\r\n\r\n".encode())
        assert (await client.answer())[2].startswith(f"{method} /x".encode())
        client.send(b"GET /again HTTP/1.1\r\nHost: h\r\n\r\n")
        assert (await client.answer())[2].startswith(b"GET /again")


async def test_head_has_the_headers_of_get_and_no_body() -> None:
    async with serving() as connect:
        client = await connect()
        client.send(b"HEAD /x HTTP/1.1\r\nHost: h\r\n\r\nGET /y HTTP/1.1\r\nHost: h\r\n\r\n")
        head = (await client.reader.readuntil(b"\r\n\r\n")).decode()
        assert "Content-Length: 11" in head
        assert (await client.answer())[2].startswith(b"GET /y")


async def test_a_connection_closes_when_it_is_asked_to() -> None:
    async with serving() as connect:
        client = await connect()
        client.send(b"GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        assert (await client.answer())[1]["connection"] == "close"
        assert await client.closed() == b""


async def test_an_old_client_is_answered_and_closed() -> None:
    async with serving() as connect:
        client = await connect()
        client.send(b"GET /x HTTP/1.0\r\n\r\n")
        assert (await client.answer())[0] == 200
        assert await client.closed() == b""


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nBad Header: x\r\n\r\n",
    ],
)
async def test_what_is_no_clear_request_is_refused_and_the_connection_closed(request_bytes: bytes) -> None:
    async with serving() as connect:
        client = await connect()
        client.send(request_bytes)
        assert b"HTTP/1.1 400 Bad Request\r\n" in await client.closed()


@pytest.mark.parametrize(
    "head", [b"Content-Length: 2000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n7d0\r\n" + b"x" * 2000 + b"\r\n"]
)
async def test_a_body_over_the_limit_is_refused(head: bytes) -> None:
    async with serving(body=1000) as connect:
        client = await connect()
        client.send(b"POST / HTTP/1.1\r\nHost: h\r\n" + head)
        answer = await client.closed()
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"Request entity too large: limit is 1000" in answer


async def test_a_head_over_the_limit_is_refused() -> None:
    async with serving(head=1000) as connect:
        client = await connect()
        client.send(b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"y" * 2000)
        client.send(b"\r\n\r\n")
        assert (await client.closed()).startswith(b"HTTP/1.1 431 ")


async def test_a_big_answer_comes_whole() -> None:
    chunks = [bytes([i]) * 100_000 for i in range(64)]
    async with serving(lambda request: Response(200, chunks)) as connect:
        client = await connect()
        client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\nGET /next HTTP/1.1\r\nHost: h\r\n\r\n")
        assert (await client.answer())[2] == b"".join(chunks)
        assert (await client.answer())[2] == b"".join(chunks)


class Tap:
    """A stream that the test writes to."""

    def __init__(self) -> None:
        self.sinks: list[Sink] = []
        self.stopped = asyncio.Event()

    def handler(self, request: HTTPRequest) -> Answer | Pending:
        return Stream(self._start) if request.path == "/stream" else echo(request)

    def _start(self, sink: Sink) -> Callable[[], None]:
        self.sinks.append(sink)
        return self.stopped.set


async def test_a_stream_comes_in_chunks_and_ends_in_order() -> None:
    tap = Tap()
    async with serving(tap.handler) as connect:
        client = await connect()
        client.send(b"GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
        await client.reader.readuntil(b"\r\n\r\n")
        assert tap.sinks[0].send(b"one\n")
        assert await client.reader.readuntil(b"one\n\r\n") == b"4\r\none\n\r\n"
        tap.sinks[0].end()
        assert await client.chunks() == b""
        client.send(b"GET /after HTTP/1.1\r\nHost: h\r\n\r\n")
        assert (await client.answer())[0] == 200


async def test_a_stream_whose_client_leaves_is_stopped() -> None:
    tap = Tap()
    async with serving(tap.handler) as connect:
        client = await connect()
        client.send(b"GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
        await client.reader.readuntil(b"\r\n\r\n")
        client.writer.close()
        await asyncio.wait_for(tap.stopped.wait(), 60)
        assert not tap.sinks[0].send(b"x")


@pytest.mark.parametrize("end", ["connection_lost", "eof_received"])
async def test_clients_that_leave_at_once_are_let_go_at_their_turns(monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    tap = Tap()
    async with serving(tap.handler) as connect:
        client = await connect()
        client.send(b"GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
        await client.reader.readuntil(b"\r\n\r\n")
        [known] = connect.listener.connections  # type: ignore[attr-defined]
        turns: list[Callable[[], object]] = []
        monkeypatch.setattr(Pace, "run_soon", lambda self, user, work, first: turns.append(work))
        with Lines() as lines:
            known.eof_received() if end == "eof_received" else known.connection_lost(None)
        assert lines.number < 10
        assert not tap.stopped.is_set()
        monkeypatch.undo()
        for work in turns:
            work()
        await asyncio.wait_for(tap.stopped.wait(), 60)


@pytest.mark.parametrize("path", ["/api/v1/namespaces", "/api/v1/namespaces?watch=1"])
async def test_what_a_connection_holds_is_free_when_its_client_leaves(path: str) -> None:
    app = App(Settings())
    await app.start()
    gc.disable()  # what it would have to find is memory that stays until then
    try:
        address = urlsplit(app.url)
        trust = ssl._create_unverified_context()
        client = Client(*await asyncio.open_connection(address.hostname, address.port, ssl=trust))
        client.send(f"GET {path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {app.token}\r\n\r\n".encode())
        await client.reader.readuntil(b"\r\n\r\n")
        gone = asyncio.Event()
        assert app._listener is not None
        known = [weakref.ref(connection, lambda _: gone.set()) for connection in app._listener.connections]
        client.writer.close()
        await asyncio.wait_for(gone.wait(), 60)
        assert [ref() for ref in known] == [None]
    finally:
        gc.enable()
        await app.stop()


async def test_a_client_that_does_not_read_its_stream_is_cut_off() -> None:
    tap = Tap()
    async with serving(tap.handler, buffer=1 << 16) as connect:
        client = await connect()
        client.send(b"GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
        await client.reader.readuntil(b"\r\n\r\n")
        sent = 0
        while tap.sinks[0].send(b"x" * 65536):
            sent += 1
            assert sent < 10_000
            await asyncio.sleep(0)
        await asyncio.wait_for(tap.stopped.wait(), 60)


async def test_a_stopping_server_ends_streams_in_order() -> None:
    tap = Tap()
    async with serving(tap.handler) as connect:
        client = await connect()
        client.send(b"GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
        await client.reader.readuntil(b"\r\n\r\n")
        await connect.listener.close()  # type: ignore[attr-defined]
        assert await client.closed() == b"0\r\n\r\n"
        assert tap.stopped.is_set()


@pytest.mark.parametrize(
    ("sent", "limits"),
    [
        (b"", {"head_time": 0.05}),
        (b"GET / HTTP/1.1\r\nHost: h\r\nX: ", {"head_time": 0.05}),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab", {"body_time": 0.05}),
        (b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", {"idle_time": 0.05}),
    ],
    ids=["nothing", "half a head", "half a body", "nothing more"],
)
async def test_a_client_that_takes_its_time_is_cut_off(
    sent: bytes, limits: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener_module, "_SWEEP", 0.02)
    async with serving(**limits) as connect:
        client = await connect()
        client.send(sent)
        with suppress(ConnectionResetError):
            rest = await client.closed()
            assert rest.count(b"HTTP/1.1 200") == (sent.endswith(b"\r\n\r\n"))


async def test_more_connections_than_there_may_be_are_closed() -> None:
    async with serving(connections=2) as connect:
        clients = [await connect() for _ in range(2)]
        for client in clients:
            client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            assert (await client.answer())[0] == 200
        third = await connect()
        third.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        with suppress(ConnectionResetError):
            assert await third.closed() == b""
        clients[0].send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        assert (await clients[0].answer())[0] == 200
