"""Quick hooks are waited for on the event loop's thread, for a millisecond at most; all others are awaited."""

from __future__ import annotations

import ssl
import urllib.request
from typing import Any

import pytest

from podless import Server, hooks
from podless.hooks import pool
from podless.hooks.peer import WAIT, HookFailed, Peer
from podless.remote.cluster import Refused
from podless.runtime.jsonobject import Object

LONG = 3600.0  # seconds


def config(number: int, value: str = "") -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{number}"}, "data": {"value": value}}


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[bytes | None]:
    """The answers that the loop's thread has waited for, None for those that came later."""
    found: list[bytes | None] = []
    ask = Peer.ask

    def noting(self: Peer, number: int, frame: bytes) -> bytes | None:
        found.append(ask(self, number, frame))
        return found[-1]

    monkeypatch.setattr(Peer, "ask", noting)
    return found


@pytest.fixture
def forgiving(monkeypatch: pytest.MonkeyPatch) -> None:
    """No hook loses its credit, however busy the machine is."""
    monkeypatch.setattr(pool, "_PAUSE", 0.0)
    monkeypatch.setattr(pool, "_PAUSE_MOST", 0.0)


@pytest.mark.usefixtures("forgiving")
def test_the_answer_of_a_quick_hook_is_waited_for(waits: list[bytes | None]) -> None:
    @hooks.mutate("configmaps")
    def change(obj: Object) -> None:
        if obj["data"]["value"] == "bad":
            raise hooks.Denied("bad")
        obj["data"]["seen"] = obj["data"]["value"]

    with Server(hooks=change) as server:
        for number in range(1000):
            assert server.create(config(number, f"v{number}"))["data"]["seen"] == f"v{number}"
            with pytest.raises(Refused, match="denied the request: bad"):
                server.create(config(number, "bad"))
            if number > 5 and len([one for one in waits if one is not None]) > 3:
                return
    raise AssertionError("no answer came at once")


@pytest.mark.usefixtures("forgiving")
def test_hooks_that_raise_or_die_fail_as_if_they_were_awaited(waits: list[bytes | None]) -> None:
    @hooks.validate("configmaps")
    def check(obj: Object) -> Any:
        raise RuntimeError("hunter2")

    with Server(hooks=check) as server:
        for number in range(20):
            with pytest.raises(Refused, match="it raised an exception"):
                server.create(config(number))
    assert waits
    assert {*waits} == {None}


def test_a_hook_that_calls_the_server_is_waited_for_once(
    waits: list[bytes | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_PAUSE", LONG)
    monkeypatch.setattr(pool, "_PAUSE_MOST", LONG)
    address: list[str] = []

    @hooks.validate("configmaps")
    def check() -> None:
        with urllib.request.urlopen(f"{address[0]}/readyz", context=ssl._create_unverified_context()) as answer:
            assert answer.status == 200

    with Server(hooks=check) as server:
        address.append(server.url)
        for number in range(5):
            server.create(config(number))
    assert waits == [None]


def known() -> pool._Known:
    return pool._Known(0, {"async": False})


def test_credit_is_lost_with_one_miss_at_first_and_with_more_after_quick_answers() -> None:
    new, old = known(), known()
    new.add_wait(WAIT, 100.0, answered=False)
    assert new.awaited_until > 100.0
    for _ in range(100):
        old.add_wait(0.0001, 100.0, answered=True)
    old.add_wait(WAIT, 100.0, answered=False)
    assert old.awaited_until == 0.0
    for _ in range(10):
        old.add_wait(WAIT, 100.0, answered=False)
    assert old.awaited_until > 100.0


def test_a_hook_that_is_never_quick_is_tried_less_and_less() -> None:
    slow, now, tries = known(), 0.0, 0
    while now < 3600.0:
        slow.add_wait(WAIT, now, answered=False)
        now, tries = slow.awaited_until, tries + 1
    assert tries < 80
    for _ in range(20):
        slow.add_wait(0.0001, now, answered=True)
    slow.add_wait(WAIT, now, answered=False)
    assert slow.pause <= 2 * pool._PAUSE


async def test_calls_that_hold_the_loop_for_long_are_awaited(
    waits: list[bytes | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_HELD_MOST", 0.0)

    @hooks.validate("configmaps")
    def check() -> None:
        pass

    made = pool.Pool((), hooks.find_hooks({"check": check}))
    await made.open()
    try:
        for _ in range(5):
            answer = made.call("validate", "check", (b"", b"", b""), 10.0)
            assert not isinstance(answer, bytes)
            assert answer is not None
            assert await answer == b'{"allowed":true}'
        assert waits == []
        made.close()
        with pytest.raises(HookFailed):
            made.call("validate", "check", (b"", b"", b""), 10.0)
    finally:
        made.close()
