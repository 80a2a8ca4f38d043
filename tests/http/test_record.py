from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from podless.auth.user import AUTHENTICATED, User
from podless.http.message import HTTPRequest, Response, Stream
from podless.http.record import RecentRequests, answer_log
from tests.conftest import Client

PLACE = "/podless/requests"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(enable_faults=True, tokens={"zoe-token": User("zoe", "", (AUTHENTICATED,))}) as running:
        yield running


def test_requests_are_listed_and_watched(server: Server) -> None:
    client = Client(server.url, server.token)
    client.get("/api/v1/namespaces/none", User_Agent="tester/1")
    answer = client.get(PLACE)
    assert answer.status == 200
    (shown,) = [one for one in map(json.loads, answer.body.splitlines()) if one["agent"] == "tester/1"]
    assert {name: shown[name] for name in ("user", "agent", "verb", "resource", "name", "path", "status")} == {
        "user": "admin",
        "agent": "tester/1",
        "verb": "get",
        "resource": "namespaces",
        "name": "none",
        "path": "/api/v1/namespaces/none",
        "status": 404,
    }
    server.requests.clear()
    connection = client._connect()
    connection.request("GET", f"{PLACE}?watch=true", headers={"Authorization": f"Bearer {server.token}"})
    stream = connection.getresponse()
    assert stream.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert json.loads(stream.readline())["path"] == f"{PLACE}?watch=true"
    client.get("/api/v1/configmaps?watch=0")
    assert json.loads(stream.readline())["path"] == "/api/v1/configmaps?watch=0"
    connection.close()


def test_rbac_decides_by_path_and_other_servers_have_no_log(server: Server) -> None:
    assert Client(server.url, "zoe-token").get(PLACE).status == 403
    assert Client(server.url, server.token).get(f"{PLACE}?watch=maybe").status == 400
    assert Client(server.url, server.token).send("POST", PLACE, {}).status == 405
    with Server() as plain:
        assert Client(plain.url, plain.token).get(PLACE).status == 404


class Sink:
    """Takes pieces until it is full."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.lines: list[dict[str, Any]] = []

    def send(self, data: bytes) -> bool:
        self.room -= 1
        self.lines += [json.loads(line) for line in data.splitlines()]
        return self.room > 0


def record(requests: RecentRequests, count: int) -> None:
    handle = requests.wrap_handler(lambda request: Response(200))
    for number in range(count):
        request = HTTPRequest.of("GET", f"/api/v1/n{number}", {})
        handle(request)


async def watch(requests: RecentRequests, sink: Sink) -> Any:
    request = HTTPRequest.of("GET", f"{PLACE}?watch=1", {})
    answer = answer_log(requests, request)
    assert isinstance(answer, Stream)
    return answer.start(sink)  # type: ignore[arg-type]


async def test_more_requests_than_a_piece_holds_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    requests, sink = RecentRequests(), Sink(9)
    record(requests, 300)
    stop = await watch(requests, sink)
    assert len(sink.lines) == 100
    record(requests, 1200)
    (watcher,) = requests._followers.values()
    watcher.__self__._send_lines()  # type: ignore[attr-defined]
    assert sink.lines[100] == {"skipped": 700}
    assert len(sink.lines) == 601
    stop()
    assert not requests._followers


async def test_a_client_that_is_gone_is_not_told_again() -> None:
    requests, sink = RecentRequests(), Sink(2)
    await watch(requests, sink)
    record(requests, 1)
    (watcher,) = requests._followers.values()
    watcher.__self__._send_lines()  # type: ignore[attr-defined]
    assert len(sink.lines) == 1
    assert not requests._followers
