"""What nobody may do who has said nothing of themselves but a few bytes."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Any

import pytest

from podless.http import status
from podless.http.answering import ListenerState
from podless.http.clientmemory import ClientMemory
from podless.http.info import RequestLine
from podless.http.limits import Limits
from podless.http.listener import Listener
from podless.http.message import HTTPRequest, Response
from podless.http.parsing import RequestParser
from podless.http.tls import Certificates
from tests.cost import assert_linear
from tests.http.test_connection import Client, echo, serving

pytestmark = pytest.mark.slow

GET = b"GET /%b HTTP/1.1\r\nHost: h\r\n\r\n"


class Told:
    """A receiver that keeps what it is told."""

    def __init__(self, data: bytes = b"", size: int = 1 << 20) -> None:
        self.requests: list[HTTPRequest] = []
        self.faults: list[tuple[int, str]] = []
        self.body = b""
        self.parser = RequestParser(self, 1 << 16, HTTPRequest.of)
        for start in range(0, len(data), size):
            self.parser.feed(data[start : start + size])

    def begin_head(self) -> None:
        pass

    def take_head(self, request: HTTPRequest, length: int) -> None:
        self.requests.append(request)

    def take_piece(self, part: bytes) -> None:
        self.body += part

    def end_request(self) -> None:
        pass

    def take_request(self, line: RequestLine, headers: dict[str, str], body: bytes) -> None:
        self.requests.append(HTTPRequest(line, headers))

    def fail_request(self, status: int, text: str) -> None:
        self.faults.append((status, text))


def test_an_unknown_method_behind_other_requests_ends_the_connection_after_them() -> None:
    told = Told(GET % b"1" + b"FOO / HTTP/1.1\r\nHost: h\r\n\r\n" + GET % b"2")
    assert [request.path for request in told.requests] == ["/1"]
    assert [code for code, _ in told.faults] == [400]


def test_an_unknown_method_right_behind_the_rest_of_a_body_is_a_request() -> None:
    told = Told(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab")
    told.parser.feed(b"cdeFOO /x HTTP/1.1\r\nHost: h\r\n\r\n")
    assert [(request.method, request.path) for request in told.requests] == [("POST", "/"), ("FOO", "/x")]
    assert told.body == b"abcde"


def test_unknown_methods_do_not_multiply() -> None:
    for data in (b"FOO / HTTP/1.1\r\nHost: h\r\n\r\n", b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\nFOO"):
        assert_linear(lambda n, data=data: Told(data * n), lambda n: n, 50, charged=False)  # type: ignore[misc]
        told = Told(data * 200)
        assert len(told.requests) <= 1
        assert len(told.faults) == 1


async def test_a_request_before_what_is_none_keeps_its_answer() -> None:
    async with serving() as connect:
        client = await connect()
        client.send(b"POST /done HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nabFOO /x HTTP/1.1\r\nHost: h\r\n\r\n")
        code, _, body = await client.answer()
        assert (code, body[:10]) == (200, b"POST /done")
        assert (await client.answer())[0] == 400
        assert await client.closed() == b""


def test_what_stands_behind_a_chunked_body_is_no_header() -> None:
    head = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    told = Told(head + b"1\r\na\r\n0\r\nImpersonate-User: admin\r\nAuthorization: Bearer x\r\n\r\n")
    assert told.requests[0].headers == {"host": "h", "transfer-encoding": "chunked"}
    assert told.body == b"a"


@pytest.mark.parametrize("offer", [b"h2c", b"websocket"])
async def test_an_upgrade_is_not_taken_and_the_request_is_answered_once(offer: bytes) -> None:
    async with serving() as connect:
        client = await connect()
        client.send(b"GET /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: %b\r\n\r\n" % offer)
        assert (await client.answer())[2].startswith(b"GET /a")
        client.send(GET % b"b" + GET % b"c")
        assert [(await client.answer())[2][:6] for _ in range(2)] == [b"GET /b", b"GET /c"]


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/0.9\r\nHost: h\r\n\r\n",
        b"GET / HTTP/2.0\r\nHost: h\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"FOO / HTTP/3\r\nHost: h\r\n\r\n",
        b"X" * 40 + b" / HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET /a%zz?b HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET /a%2 HTTP/1.1\r\nHost: h\r\n\r\n",
    ],
)
async def test_what_a_go_server_refuses(head: bytes) -> None:
    async with serving() as connect:
        client = await connect()
        client.send(head)
        answer = await client.closed()
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert answer.partition(b"\r\n\r\n")[2].startswith(b"400 Bad Request")


def test_an_old_client_need_not_name_a_host() -> None:
    assert Told(b"GET / HTTP/1.0\r\n\r\n").faults == []


@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"])
def test_a_head_that_does_not_end_is_refused(end: bytes) -> None:
    told = Told(b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"y" * 200_000 + end, 1000)
    assert [code for code, _ in told.faults] == [431]
    assert told.requests == []


def test_a_header_that_comes_often_is_joined_once() -> None:
    told = Told(b"GET / HTTP/1.1\r\nHost: h\r\n" + b"a:b\r\n" * 5000 + b"\r\n")
    assert told.requests[0].headers["a"] == ", ".join(["b"] * 5000)
    many = lambda n: Told(b"GET / HTTP/1.1\r\nHost: h\r\n" + b"a:b\r\n" * n + b"\r\n")  # noqa: E731
    assert_linear(many, lambda n: n, 500, charged=False)


async def test_nothing_is_begun_for_who_does_not_read() -> None:
    begun = 0

    def handler(request: HTTPRequest) -> Response:
        nonlocal begun
        begun += 1
        return Response(200, [b"x" * 100_000])

    async with serving(handler) as connect:
        client = await connect()
        client.writer.transport.pause_reading()
        many = 5000
        client.send((GET % b"") * many)
        seen = -1
        while begun > seen:  # until nothing more is begun
            seen = begun
            await asyncio.sleep(0.05)
        assert begun < many / 4
        client.writer.transport.resume_reading()
        for _ in range(many):
            assert (await client.answer())[0] == 200


async def test_a_head_request_for_a_stream_ends_it_and_leaves_the_connection_open() -> None:
    ended: list[str] = []

    def handler(request: HTTPRequest) -> Any:
        from podless.http.message import Stream

        return Stream(lambda sink: lambda: ended.append(request.path)) if request.method == "HEAD" else echo(request)

    async with serving(handler) as connect:
        client = await connect()
        client.send(b"HEAD /w?watch=1 HTTP/1.1\r\nHost: h\r\n\r\n")
        assert b"200 OK" in await client.reader.readuntil(b"\r\n\r\n")
        assert ended == ["/w"]
        client.send(GET % b"after")
        assert (await client.answer())[0] == 200


# connections before they are one


@pytest.fixture
def context(tmp_path: Path) -> ssl.SSLContext:
    certificates = Certificates(tmp_path)
    certificates.create_missing([])
    return certificates.make_context()


async def hello(port: int) -> int:
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    client = Client(*await asyncio.open_connection("127.0.0.1", port, ssl=trust))
    client.send(GET % b"")
    code, _, _ = await client.answer()
    client.writer.close()
    return code


def make_listener(limits: Limits, context: ssl.SSLContext) -> Listener:
    return Listener(ListenerState(echo, status.refuse_bytes, limits, ClientMemory(limits.held)), context)


@pytest.mark.parametrize("limits", [{"handshakes": 3}, {"connections": 3}])
async def test_connections_without_a_handshake_are_bounded_and_keep_nobody_out(
    context: ssl.SSLContext, limits: dict[str, int]
) -> None:
    listener = make_listener(Limits(**limits), context)
    port = await listener.open("127.0.0.1", 0)
    silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(8)]
    try:
        assert await asyncio.wait_for(silent[0][0].read(), 60) == b""  # the oldest is let go
        assert len(listener._handshakes) <= 3
        assert await hello(port) == 200
    finally:
        for _, writer in silent:
            writer.close()
        await listener.close()


async def test_a_handshake_has_a_time(context: ssl.SSLContext) -> None:
    listener = make_listener(Limits(handshake_time=0.05), context)
    port = await listener.open("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        assert await asyncio.wait_for(reader.read(), 60) == b""
        assert not listener._handshakes
    finally:
        writer.close()
        await listener.close()
