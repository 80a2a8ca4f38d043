"""Bodies are read when somebody wants them, and what is held of them is bounded."""

from __future__ import annotations

import asyncio

import pytest

from podless.auth.user import User
from podless.http.bodies import Bodies
from podless.http.message import Request, Response
from podless.meta.errors import TooManyRequests
from tests.http.test_connection import serving

HEAD = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n"


def test_an_account_has_a_bound_for_all_and_one_for_each() -> None:
    bodies = Bodies(100)
    bodies.take("a", 50)
    with pytest.raises(TooManyRequests) as caught:
        bodies.take("a", 1)
    assert caught.value.details == {"retryAfterSeconds": 1}
    bodies.take("b", 50)
    with pytest.raises(TooManyRequests):
        bodies.take("c", 1)
    bodies.give("a", 50)
    bodies.take("c", 50)
    assert bodies.held == 100
    bodies.loose += 1
    assert bodies.full


async def test_who_is_refused_need_not_send_a_body() -> None:
    async with serving(lambda request: Response(403)) as connect:
        client = await connect()
        client.send(HEAD % 3_000_000 + b"x" * 100)
        code, headers, _ = await client.answer()
        assert (code, headers["connection"]) == (403, "close")
        assert await client.closed() == b""


async def test_the_rest_of_a_short_body_is_read_and_forgotten() -> None:
    async with serving(lambda request: Response(403)) as connect:
        client = await connect()
        client.send(HEAD % 6 + b"abc")
        code, headers, _ = await client.answer()
        assert (code, "connection" in headers) == (403, False)
        client.send(b"def" + HEAD % 0)
        assert (await client.answer())[0] == 403
        assert connect.listener._shared.bodies.held == 0  # type: ignore[attr-defined]


async def test_a_client_that_waits_for_leave_and_is_refused_gets_none() -> None:
    async with serving(lambda request: Response(401)) as connect:
        client = await connect()
        client.send(b"PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        code, headers, _ = await client.answer()
        assert (code, headers["connection"]) == (401, "close")


async def test_bodies_over_the_bound_are_refused_and_come_again_later() -> None:
    gate, wanted = asyncio.Event(), asyncio.Event()

    async def handler(request: Request) -> Response:
        request.user = User("a")
        body = await request.read()
        wanted.set()
        await gate.wait()
        return Response(200, [b"%d" % len(body)])

    async with serving(handler, bodies=2000) as connect:
        one, two = await connect(), await connect()
        one.send(HEAD % 800 + b"x" * 800)
        await wanted.wait()
        two.send(HEAD % 800 + b"x" * 800)
        code, headers, _ = await two.answer()
        assert (code, headers["retry-after"]) == (429, "1")
        gate.set()
        assert (await one.answer())[2] == b"800"
        two.send(HEAD % 800 + b"x" * 800)
        assert (await two.answer())[2] == b"800"
        assert connect.listener._shared.bodies.held == 0  # type: ignore[attr-defined]


async def test_what_nobody_wants_is_not_read_on() -> None:
    gate = asyncio.Event()

    async def handler(request: Request) -> Response:
        await gate.wait()
        return Response(200, [b"%d" % len(await request.read())])

    async with serving(handler) as connect:
        client = await connect()
        size = 3_000_000
        client.send(HEAD % size + b"x" * size)
        bodies = connect.listener._shared.bodies  # type: ignore[attr-defined]
        seen = -1
        while bodies.loose > seen:  # until no more comes in
            seen = bodies.loose
            for _ in range(20):
                await asyncio.sleep(0)
        assert bodies.loose < size / 2
        gate.set()
        assert (await client.answer())[2] == b"%d" % size
        assert bodies.held == 0


async def test_a_client_that_leaves_in_the_middle_holds_nothing() -> None:
    done = asyncio.Event()

    async def handler(request: Request) -> Response:
        try:
            await request.read()
        finally:
            done.set()
        return Response(200)

    async with serving(handler) as connect:
        client = await connect()
        client.send(HEAD % 1000 + b"x" * 500)
        await asyncio.sleep(0)
        client.writer.close()
        await asyncio.wait_for(done.wait(), 5)
        await connect.listener.close()  # type: ignore[attr-defined]
        assert connect.listener._shared.bodies.held == 0  # type: ignore[attr-defined]
