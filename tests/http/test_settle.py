"""Metrics and the audit log tell what went out: also of an answer that found no room."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import orjson
import pytest

from podless.auth.user import User
from podless.http.audit import policy
from podless.http.audit.auditor import Auditor
from podless.http.message import HTTPRequest, Response
from podless.http.metrics import RequestMetrics
from podless.kinds.registry import Registry
from tests.http.test_connection import serving

LONG = b"x" * (1 << 20)


class Backend:
    """Keeps what the audit log would get."""

    def __init__(self) -> None:
        self.lines: list[Any] = []

    def queue_line(self, line: bytes) -> None:
        self.lines.append(orjson.loads(line))

    def codes(self) -> list[int]:
        return [line["responseStatus"]["code"] for line in self.lines if line["stage"] == "ResponseComplete"]


async def test_an_answer_that_finds_no_room_is_told_as_such() -> None:
    backend, measured = Backend(), RequestMetrics()

    def inner(request: HTTPRequest) -> Response:
        request.user = User("a")
        assert request.audit is not None
        request.audit.set_user(request.user)
        return Response(200, [LONG if request.path == "/long" else b"short"])

    handler = Auditor(policy.METADATA, cast(Any, backend), Registry().find_struct).wrap_handler(inner)
    async with serving(handler, measured.note_answer, held=len(LONG)) as connect:
        client = await connect()
        held = connect.listener._shared.memory  # type: ignore[attr-defined]
        statuses = []
        for path, taken in ((b"/long", 0), (b"/short", 10), (b"/long", 10), (b"/long", 0)):
            if taken:
                held.charge_user("a", taken)
            client.send(b"GET %b HTTP/1.1\r\nHost: h\r\n\r\n" % path)
            statuses.append((await client.answer())[0])
            if taken:
                held.release_bytes("a", taken)
    assert statuses == [200, 200, 429, 200]
    assert backend.codes() == statuses
    counted = [*dict(measured.list_samples())["apiserver_request_total"]]
    assert [count for (*_, code), count in counted if code == "429"] == [1]
    assert sum(cast(int, count) for _, count in counted) == len(statuses)


@pytest.mark.parametrize(("status", "taken", "told"), [(422, 0, 422), (201, 0, 201), (422, 10, 429), (201, 10, 0)])
async def test_a_write_whose_answer_finds_no_room_is_told_unless_it_was_carried_out(
    status: int, taken: int, told: int
) -> None:
    async def handler(request: HTTPRequest) -> Response:
        request.user = User("a")
        assert await request.read_body() == b"x" * 1000
        return Response(status, [LONG])

    async with serving(handler, held=len(LONG)) as connect:
        client = await connect()
        held = connect.listener._shared.memory  # type: ignore[attr-defined]
        if taken:
            held.charge_user("a", taken)
        client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n" + b"x" * 1000)
        if told:
            assert (await client.answer())[0] == told
        else:
            with pytest.raises(asyncio.IncompleteReadError):
                await client.answer()
        assert held.total == taken
