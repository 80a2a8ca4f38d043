"""What goes wrong on purpose, as clients see it."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from podless.http.faults import BadFault, InjectedFault
from tests.conftest import Client

PATH = "/api/v1/namespaces/default/configmaps"


def thing(name: str = "one", **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def bench(shared: Server) -> Iterator[Server]:
    state = shared.snapshot()
    yield shared
    shared.faults.clear()
    shared.restore(state)


@pytest.fixture
def client(bench: Server) -> Iterator[Client]:
    client = Client(bench.url, bench.token)
    yield client
    client.close()


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (409, "Conflict"),
        (410, "Expired"),
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (503, "ServiceUnavailable"),
        (504, "Timeout"),
    ],
)
def test_any_status_is_answered(bench: Server, client: Client, status: int, reason: str) -> None:
    fault = bench.faults.add(verb="create", resource="configmaps", status=status, retry_after=3, message="not now")
    answer = client.post(PATH, thing())
    assert (answer.status, answer.body["code"], answer.body["reason"]) == (status, status, reason)
    assert answer.body["message"] == "not now"
    assert answer.headers["Retry-After"] == "3"
    assert bench.get("configmap", "one") is None
    assert (fault.matched, fault.injected) == (1, 1)
    assert client.get("/api/v1/namespaces").status == 200
    bench.faults.remove(fault)
    assert client.post(PATH, thing()).status == 201


@pytest.mark.parametrize(
    "given",
    [
        {"verb": "get"},
        {"resource": "configmaps", "name": "one"},
        {"namespace": "default", "user": "admin"},
        {"agent": "tester/"},
    ],
)
def test_only_what_fits_goes_wrong(bench: Server, client: Client, given: dict[str, Any]) -> None:
    bench.apply(thing())
    bench.faults.add(status=500, **given)
    assert client.get(f"{PATH}/one", User_Agent="tester/1").status == 500
    other = "/api/v1/namespaces?watch=false"
    assert client.get(other, User_Agent="other").status == 200
    assert client.get("/readyz").status == 200
    assert bench.get("configmap", "one") is not None  # what the test itself asks


def test_the_nth_and_so_many(bench: Server, client: Client) -> None:
    bench.faults.add(verb="list", nth=2, status=503)
    assert [client.get(PATH).status for _ in range(4)] == [200, 503, 200, 200]
    bench.faults.clear()
    bench.faults.add(verb="list", times=2, status=503)
    assert [client.get(PATH).status for _ in range(4)] == [503, 503, 200, 200]


def test_a_probability_is_the_same_for_the_same_seed(bench: Server, client: Client) -> None:
    def run(seed: int) -> list[int]:
        bench.faults.clear()
        fault = bench.faults.add(verb="list", probability=0.5, seed=seed, status=500)
        found = [client.get(PATH).status for _ in range(20)]
        assert found.count(500) == fault.injected
        return found

    assert run(1) == run(1)
    assert run(1) != run(2)
    assert {*run(1)} == {200, 500}


@pytest.mark.parametrize(("drop", "there"), [("before", False), ("after", True)])
def test_the_connection_is_dropped_before_or_after_the_write(bench: Server, drop: str, there: bool) -> None:
    bench.faults.add(verb="create", drop=drop)
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError, OSError)):
        Client(bench.url, bench.token).post(PATH, thing())
    assert (bench.get("configmap", "one") is not None) is there


def test_a_list_is_of_an_older_state(bench: Server, client: Client) -> None:
    bench.apply(thing("one"))
    bench.apply(thing("two"))
    bench.faults.add(verb="list", resource="configmaps", older=1)
    assert [item["metadata"]["name"] for item in client.get(PATH).body["items"]] == ["one"]


def events(bench: Server, *, before: int = 3, after: int = 2, query: str = "", accept: str = "") -> Any:
    """The watch's answer, once objects were there and others followed."""
    bench.apply([thing(f"a{number}") for number in range(before)])
    connection = Client(bench.url, bench.token)._connect()
    headers = {"Authorization": f"Bearer {bench.token}", "Accept": accept or "application/json"}
    connection.request("GET", f"{PATH}?watch=true&timeoutSeconds=30{query}", headers=headers)
    answer = connection.getresponse()
    bench.apply([thing(f"b{number}") for number in range(after)])
    return answer


def types(answer: Any, count: int) -> list[str]:
    return [json.loads(answer.readline())["type"] for _ in range(count)]


@pytest.mark.parametrize("count", [0, 2, 3, 4])
def test_a_watch_is_cut_after_some_events(bench: Server, count: int) -> None:
    bench.faults.add(verb="watch", cut_after=count)
    answer = events(bench)
    assert types(answer, count) == ["ADDED"] * count
    assert answer.read() == b""


@pytest.mark.parametrize("count", [0, 2, 4])
def test_a_watch_ends_with_410(bench: Server, count: int) -> None:
    bench.faults.add(expire_after=count)
    lines = events(bench).read().splitlines()
    assert len(lines) == count + 1
    last = json.loads(lines[-1])
    assert (last["type"], last["object"]["code"], last["object"]["reason"]) == ("ERROR", 410, "Expired")


def test_a_watch_in_protobuf_ends_with_410(bench: Server) -> None:
    bench.faults.add(expire_after=2)
    raw = events(bench, accept="application/vnd.kubernetes.protobuf;stream=watch").read()
    places = []
    while raw:
        length = int.from_bytes(raw[:4], "big")
        places.append(raw[6:12])
        raw = raw[4 + length :]
    assert [place[:5] for place in places] == [b"ADDED", b"ADDED", b"ERROR"]


def test_events_are_doubled(bench: Server) -> None:
    bench.faults.add(duplicate=2)
    lines = [json.loads(line) for line in [*iter_lines(events(bench, before=1, after=1), 4)]]
    names = [line["object"]["metadata"]["name"] for line in lines if line["object"]["metadata"]["name"] != "b1"]
    assert names == ["a0", "a0", "b0", "b0"]


def iter_lines(answer: Any, count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield answer.readline()


def test_only_bookmarks_come(bench: Server) -> None:
    bench.faults.add(bookmarks=True)
    more = "&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    assert types(events(bench, query=more), 1) == ["BOOKMARK"]


def test_events_come_in_one_burst(bench: Server) -> None:
    bench.faults.add(burst=0.05)
    assert types(events(bench), 5) == ["ADDED"] * 5


def test_chaos_is_a_mixture_that_a_seed_gives_again(bench: Server, client: Client) -> None:
    seed = bench.faults.chaos(7)
    assert seed == 7
    assert len({fault.label for fault in bench.faults}) == 1
    for number in range(60):
        try:
            client.post(PATH, thing(f"x{number}"))
        except (http.client.HTTPException, OSError):
            client = Client(bench.url, bench.token)
    assert sum(fault.injected for fault in bench.faults)


@pytest.mark.parametrize(
    "wrong", [{"drop": "x"}, {"status": 200}, {"probability": 2}, {"duplicate": 0}, {"nothing": 1}, {"delay": -1}]
)
def test_what_cannot_be_says_so(bench: Server, wrong: dict[str, Any]) -> None:
    with pytest.raises(BadFault):
        bench.faults.add(**wrong)
    with pytest.raises(BadFault):
        InjectedFault.from_spec("x", wrong)


def test_webhooks_run_out_of_time(bench: Server, client: Client) -> None:
    hook = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "hook"},
        "webhooks": [
            {
                "name": "hook.example.com",
                "clientConfig": {"url": "https://127.0.0.1:1/hook"},
                "rules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
                ],
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
            }
        ],
    }
    bench.apply(hook)
    fault = bench.faults.add(webhook="https://127.0.0.1:1/")
    answer = client.post(PATH, thing())
    assert "context deadline exceeded" in answer.body["message"]
    assert fault.injected == 1


def names(lines: list[bytes]) -> list[tuple[str, str]]:
    found = [one for line in lines if (one := json.loads(line))["type"] != "BOOKMARK"]
    return [(one["type"], (one["object"].get("rows") or [one])[0]["object"]["metadata"]["name"]) for one in found]


@pytest.mark.parametrize("accept", ["", "application/json;as=Table;v=v1;g=meta.k8s.io"])
def test_what_comes_together_is_what_it_comes_to(bench: Server, accept: str) -> None:
    bench.faults.add(burst=60, compress=True)
    bench.apply(thing("a"))
    answer = events(
        bench, before=0, after=0, query=f"&allowWatchBookmarks=true&resourceVersion={now(bench)}", accept=accept
    )
    for value in "xyz":
        bench.apply([thing("a", key=value), thing("b", key=value)])
    bench.apply(thing("c"))
    bench.delete("configmap", "c")
    bench.clock.advance(seconds=31)  # the watch ends, with a bookmark behind all that has happened
    assert names(answer.read().splitlines()) == [("MODIFIED", "a"), ("ADDED", "b")]


def now(bench: Server) -> str:
    found = bench.get("configmap", "a")
    assert found is not None
    return str(found["metadata"]["resourceVersion"])


def test_what_comes_together_has_a_bound(bench: Server) -> None:
    bench.faults.add(burst=60)
    answer = events(bench, before=0, after=0)
    for number in range(4):
        bench.apply(thing(f"big{number}", key="x" * 400_000))
    assert types(answer, 1) == ["ADDED"]


def test_a_request_waits(bench: Server, client: Client) -> None:
    fault = bench.faults.add(verb="list", delay=0.2)
    begun = time.monotonic()
    assert client.get(PATH).status == 200
    assert time.monotonic() - begun >= 0.2
    assert fault.injected == 1


def test_requests_without_an_answer_are_known_as_such(bench: Server) -> None:
    bench.faults.add(verb="create", drop="after")
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError, OSError)):
        Client(bench.url, bench.token).post(PATH, thing())
    assert bench.requests[-1].status == 0
