from __future__ import annotations

import os
import urllib.parse
from collections.abc import Iterator

import pytest
from bench.load import shapes
from bench.load.client import Ask, Broken, Target, fanout, hammer, version
from bench.serve import creating, patching

from podless import Server
from tests.conftest import Client


@pytest.fixture(scope="module", params=[True, False], ids=["TLS", "plain"])
def running(request: pytest.FixtureRequest) -> Iterator[Server]:
    with Server(tls=request.param) as server:
        yield server


@pytest.fixture(scope="module")
def target(running: Server) -> Target:
    url = urllib.parse.urlsplit(running.url)
    found = Target(url.hostname or "", url.port or 0, running.token, url.scheme == "https")
    hammer(found, Ask("POST", shapes.CRDS, shapes.text(shapes.definition())), 1, most=1)
    hammer(found, Ask("POST", shapes.OBJECTS, shapes.text(shapes.engine("target"))), 1, most=1)
    return found


@pytest.fixture
def api(running: Server) -> Iterator[Client]:
    client = Client(running.url, running.token)
    yield client
    client.close()


def test_each_request_has_numbers_of_its_own() -> None:
    ask = Ask("PUT", "/a-%d?x=%%41", '{"b":"%d"}', numbers=((10, 2), (500, 100)))
    feed = ask.requests(Target("host", 1, "secret"))
    first, second, third = (next(feed).decode() for _ in range(3))
    assert first.startswith("PUT /a-10?x=%41 HTTP/1.1\r\n")
    assert first.endswith('Content-Length: 11\r\n\r\n{"b":"500"}')
    assert "Authorization: Bearer secret\r\n" in first
    assert second.startswith("PUT /a-11?")
    assert second.endswith('{"b":"501"}')
    assert third.startswith("PUT /a-10?")
    assert third.endswith('{"b":"502"}')


def test_a_number_of_requests_is_sent_and_each_is_carried_out(target: Target, api: Client) -> None:
    load = hammer(target, creating("made"), 4, most=23)
    assert load.requests == len(load.times) == 23
    items = api.get(shapes.OBJECTS).body["items"]
    names = {item["metadata"]["name"] for item in items} - {"target"}
    assert names == {f"made-{10_000_000 + number}" for number in range(23)}
    assert {item["metadata"]["labels"]["shard"] for item in items} == {f"s{100 + number}" for number in range(23)}


def test_bodies_are_counted_whole(target: Target, api: Client) -> None:
    items = api.get(f"{shapes.OBJECTS}?limit=500").body["items"]
    one = hammer(target, Ask("GET", f"{shapes.OBJECTS}/target"), 2, most=10)
    many = hammer(target, Ask("GET", f"{shapes.OBJECTS}?limit=500"), 2, most=10)
    assert one.size % 10 == many.size % 10 == 0
    assert many.size > 10 * sum(len(shapes.text(item)) for item in items) > one.size > 10 * 1200


def test_times_are_in_order(target: Target) -> None:
    load = hammer(target, Ask("GET", f"{shapes.OBJECTS}/target"), 2, most=20)
    assert list(load.times) == sorted(load.times)
    assert load.at(0) <= load.at(0.5) <= load.at(1) == load.times[-1]


def test_a_refusal_ends_the_run(target: Target) -> None:
    with pytest.raises(Broken, match="404 Not Found"):
        hammer(target, Ask("GET", f"{shapes.OBJECTS}/missing"), 2, most=10)


def test_events_are_counted_at_every_watcher(target: Target, api: Client) -> None:
    hammer(target, patching("target"), 1, most=1)  # whose number the first write of the others is not
    watch = Ask("GET", f"{shapes.OBJECTS}?watch=1&resourceVersion={version(target, shapes.OBJECTS)}")
    fan = fanout(target, watch, patching("target"), 3, 12, os.getpid(), single=2)
    assert len(fan.lags) == 2
    assert fan.lag in fan.lags
    assert fan.rate > 0
    # each write patches the next number, these from the middle on: this is the 14th
    assert api.get(f"{shapes.OBJECTS}/target").body["spec"]["cylinders"] == 5513


def test_a_watch_that_is_refused_is_told(target: Target) -> None:
    watch = Ask("GET", f"{shapes.OBJECTS}?watch=1&resourceVersion=nonsense")
    with pytest.raises(Broken, match="nonsense"):
        fanout(target, watch, patching("target"), 1, 1, os.getpid())


def test_objects_and_definitions_are_of_the_size_they_are_said_to_be() -> None:
    assert 1100 < len(shapes.text(shapes.engine("e-10000000"))) < 1300
    schema = shapes.wide("things", "Thing", "g.example")["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert sum(len(entry["properties"]) for entry in schema["properties"].values()) == 72
