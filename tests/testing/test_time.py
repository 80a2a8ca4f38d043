"""A server's clock, moved by a test."""

from __future__ import annotations

import asyncio
import json
import ssl
import urllib.request
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

from podless import Server
from podless.http.audit import Audit
from tests.conftest import Client

EVENT = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {"name": "one"},
    "involvedObject": {"kind": "Pod", "namespace": "default", "name": "x"},
}
THING = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"a": "b"}}


def test_what_is_written_later_says_so() -> None:
    with Server() as server, Server() as other:
        began = server.clock.now()
        server.clock.advance(days=400)
        assert (server.clock.now() - began).days == 400
        client = Client(server.url, server.token)
        made = client.post("/api/v1/namespaces/default/configmaps", THING).body
        year = int(began.strftime("%Y"))
        assert int(made["metadata"]["creationTimestamp"][:4]) > year
        assert int(made["metadata"]["managedFields"][0]["time"][:4]) > year
        plain = other.create(THING)
        assert int(plain["metadata"]["creationTimestamp"][:4]) == year  # each has its own
        with pytest.raises(ValueError, match="back"):
            server.clock.advance(hours=-1)


def test_what_a_server_says_of_requests_is_of_its_own_time(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    with Server(audit=Audit(path=log)) as server:
        server.clock.advance(days=400)
        earliest = server.clock.now()
        answer = Client(server.url, server.token).get("/api/v1/namespaces")
        latest = server.clock.now()
        (asked,) = server.requests.where(verb="list", resource="namespaces")
        assert earliest.timestamp() <= asked.at <= latest.timestamp()
        assert server.requests.since(earliest.timestamp())[-1] == asked
        whole = earliest.replace(microsecond=0)
        assert whole <= parsedate_to_datetime(answer.headers["Date"]) <= latest
    told = [json.loads(line) for line in log.read_text().splitlines()]
    stamps = [
        datetime.fromisoformat(one[key]) for one in told for key in ("requestReceivedTimestamp", "stageTimestamp")
    ]
    assert stamps
    assert min(stamps) >= whole


def test_a_clock_that_was_moved_leaves_a_certificate_that_clients_take() -> None:
    with Server() as server:
        server.clock.advance(days=4000)
        context = ssl.create_default_context(cafile=str(server.authority))
        with urllib.request.urlopen(f"{server.url}/livez", context=context) as answer:
            assert answer.status == 200


def test_events_expire() -> None:
    with Server() as server:
        server.apply(EVENT)
        server.clock.advance(minutes=59)
        assert server.get("event", "one") is not None
        server.clock.advance(minutes=2)
        server.wait("event", "one", "delete")


def test_tokens_expire_and_those_made_later_are_good() -> None:
    with Server(authorization="AlwaysAllow", anonymous=False) as server:
        admin = Client(server.url, server.token)
        path = "/api/v1/namespaces/default/serviceaccounts/default/token"
        ask = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600}}

        def status(token: str) -> int:
            return Client(server.url, token).get("/api/v1/namespaces").status

        first = admin.post(path, ask).body["status"]["token"]
        assert status(first) == 200
        server.clock.advance(minutes=11)
        assert status(first) == 401
        assert status(admin.post(path, ask).body["status"]["token"]) == 200


def test_watches_get_bookmarks_and_end_in_time() -> None:
    with Server() as server:
        client = Client(server.url, server.token)
        connection = client._connect()
        path = "/api/v1/configmaps?watch=true&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=0"
        connection.request("GET", path, headers={"Authorization": f"Bearer {server.token}"})
        answer = connection.getresponse()
        server.clock.advance(seconds=61)
        assert "annotations" in json.loads(answer.readline())["object"]["metadata"]  # the end of the initial state
        client.post("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "a"}})
        assert json.loads(answer.readline())["type"] == "ADDED"  # the first line since, for there was nothing to mark
        server.clock.advance(seconds=61)
        assert json.loads(answer.readline())["type"] == "BOOKMARK"
        server.clock.advance(minutes=5)
        assert json.loads(answer.readline())["type"] == "BOOKMARK"
        assert answer.readline() == b""


async def test_a_server_on_the_loop_of_a_test_has_a_clock_too() -> None:
    async with Server() as one, Server() as other:
        one.clock.advance(hours=24)
        made = [await server.client.create(THING) for server in (one, other)]
        days = [obj["metadata"]["creationTimestamp"][:10] for obj in made]
        assert days[0] > days[1]
        client = Client(one.url, one.token)
        thing = THING | {"metadata": {"name": "two"}}
        answer = await asyncio.to_thread(client.post, "/api/v1/namespaces/default/configmaps", thing)
        assert answer.body["metadata"]["creationTimestamp"][:10] == days[0]
