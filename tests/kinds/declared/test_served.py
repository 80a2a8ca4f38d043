"""Declared conversions on a server: every verb, every version, and the ways in which they can fail."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from podless.kinds.declared import CONVERSION
from podless.remote.cluster import Refused
from podless.runtime.jsonobject import Object
from podless.testing.ask import ask_app
from tests.conftest import Client
from tests.kinds.declared import define

RULES = """
- between: [v1, v2]
  move: {spec.size: spec.replicas}
- from: v1
  to: v2
  set:
    spec.hours: "int(self.spec.time.split(':')[0])"
    spec.minutes: "int(self.spec.time.split(':')[1])"
- from: v2
  to: v1
  set: {spec.time: "string(self.spec.hours) + ':' + string(self.spec.minutes)"}
"""
PATH = "/apis/example.com/{}/namespaces/default/{}"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(tls=False) as server:
        server.apply([define(RULES), define(RULES, plural="gadgets", storage="v2")])
        yield server


def ask(server: Server, method: str, version: str, name: str = "", body: Any = None, **more: Any) -> Object:
    assert server._loop is not None
    plural = more.pop("plural", "widgets")
    path = PATH.format(version, plural) + (f"/{name}" if name else "")
    work = ask_app(server._get_app(), method, path, body, **more)
    found: Object = asyncio.run_coroutine_threadsafe(work, server._loop).result()
    return found


def widget(name: str, version: str = "v1", kind: str = "Widget", **spec: Any) -> Object:
    return {"apiVersion": f"example.com/{version}", "kind": kind, "metadata": {"name": name}, "spec": spec}


def test_get_list_and_create_in_both_versions(server: Server) -> None:
    ask(server, "POST", "v1", body=widget("a", size=3, time="7:30"))
    made = ask(server, "POST", "v2", body=widget("b", "v2", replicas=4, hours=8, minutes=5))
    assert made["spec"] == {"replicas": 4, "hours": 8, "minutes": 5}
    assert ask(server, "GET", "v2", "a")["spec"] == {"replicas": 3, "hours": 7, "minutes": 30}
    assert ask(server, "GET", "v1", "b")["spec"] == {"size": 4, "time": "8:5"}
    for version, specs in (
        ("v1", [{"size": 3, "time": "7:30"}, {"size": 4, "time": "8:5"}]),
        ("v2", [{"replicas": 3, "hours": 7, "minutes": 30}, {"replicas": 4, "hours": 8, "minutes": 5}]),
    ):
        assert [one["spec"] for one in ask(server, "GET", version)["items"]] == specs


def test_storage_in_the_other_version(server: Server) -> None:
    ask(server, "POST", "v1", plural="gadgets", body=widget("a", kind="Gadget", size=3, time="7:30"))
    assert ask(server, "GET", "v2", "a", plural="gadgets")["spec"] == {"replicas": 3, "hours": 7, "minutes": 30}
    assert ask(server, "GET", "v1", "a", plural="gadgets")["spec"] == {"size": 3, "time": "7:30"}


def test_watch_patch_apply_and_owners_of_fields(server: Server) -> None:
    ask(server, "POST", "v1", body=widget("w", size=1))
    since = ask(server, "GET", "v2")["metadata"]["resourceVersion"]
    patch = {"spec": {"replicas": 5}}
    changed = ask(server, "PATCH", "v2", "w", patch, media="application/merge-patch+json")
    assert changed["spec"] == {"replicas": 5}
    assert ask(server, "GET", "v1", "w")["spec"] == {"size": 5}
    applied = ask(
        server, "PATCH", "v2", "w", widget("w", "v2", hours=1, minutes=2),
        media="application/apply-patch+yaml", fieldManager="me",
    )  # fmt: skip
    assert applied["spec"] == {"replicas": 5, "hours": 1, "minutes": 2}
    assert ask(server, "GET", "v1", "w")["spec"] == {"size": 5, "time": "1:2"}
    with pytest.raises(Refused, match=r"conflict with .*: \.spec\.replicas"):
        ask(
            server, "PATCH", "v2", "w", widget("w", "v2", replicas=9),
            media="application/apply-patch+yaml", fieldManager="other",
        )  # fmt: skip
    assert int(since) < int(ask(server, "GET", "v1", "w")["metadata"]["resourceVersion"])


def test_a_watch_shows_the_version_that_it_asks_for(server: Server) -> None:
    since = ask(server, "GET", "v2")["metadata"]["resourceVersion"]
    ask(server, "POST", "v1", body=widget("x", size=9))
    client = Client(server.url, server.token)
    [event] = client.events(f"{PATH.format('v2', 'widgets')}?watch=1&resourceVersion={since}", 1)
    client.close()
    assert event["object"]["spec"] == {"replicas": 9}


def test_an_object_that_cannot_be_converted_is_a_clear_error(server: Server) -> None:
    ask(server, "POST", "v1", body=widget("bad", time="x"))
    with pytest.raises(Refused) as found:
        ask(server, "GET", "v2", "bad")
    assert found.value.code == 500
    assert str(found.value) == (
        "declared conversion for example.com/v1, Kind=Widget failed: v1 to v2: spec.hours: type conversion error from"
        " 'string' to 'int'"
    )
    ask(server, "GET", "v1", "bad")
    ask(server, "DELETE", "v1", "bad")


def test_changed_rules_are_in_force_for_the_next_request() -> None:
    with Server(tls=False) as server:
        server.apply(define("[{between: [v1, v2]}]"))
        ask(server, "POST", "v1", body=widget("a", size=3))
        assert ask(server, "GET", "v2", "a")["spec"] == {}
        server.apply(define("[{between: [v1, v2], move: {spec.size: spec.replicas}}]"))
        assert ask(server, "GET", "v2", "a")["spec"] == {"replicas": 3}
        with pytest.raises(Refused) as found:
            server.apply(define("[{between: [v1, v2], move: {spec.size: spec.color}}]"))
        [cause] = found.value.status["details"]["causes"]
        assert found.value.code == 422
        assert cause["field"] == f"metadata.annotations[{CONVERSION}][0].move[spec.size]"
        assert ask(server, "GET", "v2", "a")["spec"] == {"replicas": 3}


@pytest.mark.slow
def test_others_are_served_while_a_conversion_takes_long() -> None:
    """A value of lists that share their items grows as fast as it can, for the only object of its kind."""
    text = "v18"
    for place in range(18, 0, -1):
        before = f"v{place - 1}" if place > 1 else "self.spec.color"
        text = f"cel.bind(v{place}, [{before}, {before}], {text})"
    color = {"color": {"type": "string", "maxLength": 2}}
    unknown = {"any": {"x-kubernetes-preserve-unknown-fields": True}}
    rules = f"[{{from: v1, to: v2, set: {{spec.any: '{text}'}}}}, {{from: v2, to: v1}}]"
    with Server(tls=False) as server:
        server.apply(define(rules, v1=color, v2=unknown))
        ask(server, "POST", "v1", body=widget("a", color="x"))
        waits: list[float] = []
        done = threading.Event()

        def beside() -> None:
            while not done.is_set():
                began = time.perf_counter()
                ask(server, "GET", "v1", "a")
                waits.append(time.perf_counter() - began)

        other = threading.Thread(target=beside)
        other.start()
        try:
            with pytest.raises(Refused, match="the values have more than 4194304 bytes"):
                ask(server, "GET", "v2", "a")
        finally:
            done.set()
            other.join()
    assert len(waits) > 3
