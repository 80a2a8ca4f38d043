"""Events are gone a while after their last write, also over a restart."""

from __future__ import annotations

from pathlib import Path

from podless import Server
from tests.conftest import Client
from tests.eventually import until

EVENTS = "/api/v1/namespaces/default/events"


def event(name: str) -> dict[str, object]:
    return {"metadata": {"name": name}, "involvedObject": {"kind": "X", "namespace": "default"}}


def test_an_event_goes_and_watchers_are_told() -> None:
    with Server(event_ttl=0.2) as server:
        client = Client(server.url, server.token)
        made = client.post(EVENTS, event("short")).body
        revision = made["metadata"]["resourceVersion"]
        until(lambda: client.get(f"{EVENTS}/short").status == 404)
        told = client.events(f"{EVENTS}?watch=1&resourceVersion={revision}", 1)[0]
        assert (told["type"], told["object"]["metadata"]["name"]) == ("DELETED", "short")
        client.close()


def test_a_write_gives_an_event_all_of_its_time_again() -> None:
    with Server(event_ttl=3600) as server:
        client = Client(server.url, server.token)
        for name in ("left", "kept"):
            client.post(EVENTS, event(name))
        server.clock.advance(minutes=40)
        assert client.merge(f"{EVENTS}/kept", {"count": 1}).status == 200
        server.clock.advance(minutes=40)
        until(lambda: client.get(f"{EVENTS}/left").status == 404)
        assert client.get(f"{EVENTS}/kept").status == 200
        client.close()


def test_what_is_over_at_the_start_goes(tmp_path: Path) -> None:
    with Server(tmp_path / "data") as server:
        client = Client(server.url, server.token)
        assert client.post(EVENTS, event("old")).status == 201
        client.close()
    with Server(tmp_path / "data", event_ttl=0.001) as server:
        client = Client(server.url, server.token)
        until(lambda: client.get(EVENTS).body["items"] == [])
        client.close()
