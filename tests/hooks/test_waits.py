"""Quick hooks are waited for on the event loop's thread, for a millisecond at most; all others are awaited."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import pytest

from podless import Server, hooks
from podless.app import App, Settings
from podless.hooks import peer, pool, worker
from podless.hooks.peer import WAIT, DeclaredHook, HookFailed, Peer
from podless.hooks.wire import ACCEPTED, POLLED
from podless.kinds.kind import Kind
from podless.remote.cluster import Refused
from podless.runtime import meter
from podless.runtime.jsonobject import Object
from podless.store import StoredValue
from podless.testing.ask import ask_app, path_of
from podless.verbs import storage

LONG = 3600.0  # seconds


def config(number: int, value: str = "") -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{number}"}, "data": {"value": value}}


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """The waits of the loop's thread for answers: whether these came in time."""
    found: list[bool] = []
    add_wait = DeclaredHook.add_wait

    def noting(self: DeclaredHook, seconds: float, now: float, *, answered: bool) -> None:
        found.append(answered)
        add_wait(self, seconds, now, answered=answered)

    monkeypatch.setattr(DeclaredHook, "add_wait", noting)
    return found


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of questions in each piece that was sent to a worker."""
    found: list[int] = []
    flush = Peer.flush_calls

    def noting(self: Peer) -> None:
        found.append(len(self._frames))
        flush(self)

    monkeypatch.setattr(Peer, "flush_calls", noting)
    return found


@pytest.fixture
def forgiving(monkeypatch: pytest.MonkeyPatch) -> None:
    """No hook loses its credit, however busy the machine is."""
    monkeypatch.setattr(peer, "_PAUSE", 0.0)
    monkeypatch.setattr(peer, "_MAX_PAUSE", 0.0)


@pytest.mark.usefixtures("forgiving")
def test_the_answer_of_a_quick_hook_is_waited_for(waits: list[bool]) -> None:
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
            if number > 5 and sum(waits) > 3:
                return
    raise AssertionError("no answer came at once")


@pytest.mark.usefixtures("forgiving")
def test_hooks_that_raise_fail_as_if_they_were_awaited(waits: list[bool]) -> None:
    @hooks.validate("configmaps")
    def check(obj: Object) -> Any:
        raise RuntimeError("hunter2")

    with Server(hooks=check) as server:
        for number in range(20):
            with pytest.raises(Refused, match="it raised an exception"):
                server.create(config(number))
    assert waits


def test_a_hook_that_calls_the_server_is_waited_for_once(waits: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "_PAUSE", LONG)
    monkeypatch.setattr(peer, "_MAX_PAUSE", LONG)
    address: list[str] = []

    @hooks.validate("configmaps")
    def check() -> None:
        with urllib.request.urlopen(f"{address[0]}/readyz", context=ssl._create_unverified_context()) as answer:
            assert answer.status == 200

    with Server(hooks=check) as server:
        address.append(server.url)
        for number in range(5):
            server.create(config(number))
    assert waits == [False]


def known() -> DeclaredHook:
    return DeclaredHook(0, {"kind": "validate", "async": False})


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
    assert slow.pause <= 2 * peer._PAUSE


async def test_calls_that_hold_the_loop_for_long_are_awaited(
    waits: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_MAX_BLOCKED", 0.0)

    @hooks.validate("configmaps")
    def check() -> None:
        pass

    made = pool.WorkerPool((), hooks.find_hooks({"check": check}))
    await made.load_hooks()
    try:
        for _ in range(5):
            assert await made.ask_hook("validate", "check", (b"", b"", b""), 10.0) == ACCEPTED
        assert waits == []
        made.close()
        with pytest.raises(HookFailed):
            await made.ask_hook("validate", "check", (b"", b"", b""), 10.0)
    finally:
        made.close()


APP = """
import os, time
from podless import hooks

@hooks.validate("configmaps")
def check(obj):
    match obj["do"]:
        case "loop":
            while True: pass
        case "exit":
            os._exit(3)
        case "sleep":
            time.sleep(0.005)
        case "raise":
            raise RuntimeError("hunter2")

@hooks.mutate("configmaps")
def change(obj):
    return {"text": "x" * 100_000}

@hooks.subresource("widgets.example.com/restart")
def restart(obj, body, request):
    return {}
"""


@asynccontextmanager
async def opened(folder: Path, app: str = APP) -> AsyncIterator[pool.WorkerPool]:
    path = folder / "app.py"
    path.write_text(app)
    made = pool.WorkerPool([str(path)])
    await made.load_hooks()
    try:
        yield made
    finally:
        made.close()


def ask(made: pool.WorkerPool, do: str = "", seconds: float = 120.0) -> asyncio.Future[bytes | None]:
    return asyncio.ensure_future(made.ask_hook("validate", "check", (b"", b'{"do":"%s"}' % do.encode(), b""), seconds))


@pytest.mark.usefixtures("forgiving")
async def test_the_questions_of_a_turn_are_sent_together(tmp_path: Path, pieces: list[int]) -> None:
    async with opened(tmp_path) as made:
        pieces.clear()
        assert await asyncio.gather(*(ask(made) for _ in range(20))) == [ACCEPTED] * 20
        assert max(pieces) == 20


@pytest.mark.usefixtures("forgiving")
async def test_questions_beyond_those_that_a_worker_may_have_are_answered_after_them(tmp_path: Path) -> None:
    async with opened(tmp_path) as made:
        assert await asyncio.gather(*(ask(made) for _ in range(100))) == [ACCEPTED] * 100


@pytest.mark.usefixtures("forgiving")
async def test_calls_of_subresources_are_never_made_twice_so_they_share_no_worker(
    tmp_path: Path, pieces: list[int]
) -> None:
    async with opened(tmp_path) as made:
        pieces.clear()
        parts = b"{}", b"{}", b"null"
        await asyncio.gather(*(made.ask_hook("subresource", "restart", parts, 30.0) for _ in range(10)))
        assert max(pieces) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("do", "seconds", "said"), [("loop", 1.0, "it did not answer within 1 s"), ("exit", 60.0, "its worker ended")]
)
@pytest.mark.usefixtures("forgiving")
async def test_a_hook_that_loops_or_ends_its_worker_fails_alone(
    tmp_path: Path, do: str, seconds: float, said: str
) -> None:
    async with opened(tmp_path) as made:
        before, bad, after = ask(made), ask(made, do, seconds), ask(made)
        with pytest.raises(HookFailed, match=said):
            await bad
        assert await before == await after == ACCEPTED
        assert await ask(made) == ACCEPTED


@pytest.mark.slow
@pytest.mark.usefixtures("forgiving")
async def test_all_calls_are_answered_while_one_of_them_loops(tmp_path: Path) -> None:
    async with opened(tmp_path) as made:
        bad, good = ask(made, "loop"), ask(made)
        assert await good == ACCEPTED
        assert not bad.done()
        assert await ask(made) == ACCEPTED


def ask_alone(
    made: pool.WorkerPool, do: str = "", seconds: float = 120.0, meanwhile: Callable[[], object] | None = None
) -> Coroutine[Any, Any, bytes | None]:
    """Ask as after a turn of the loop with one question."""
    made._single, made._blocked = 1, 0.0
    return made.ask_hook("validate", "check", (b"", b'{"do":"%s"}' % do.encode(), b""), seconds, meanwhile)


@pytest.mark.usefixtures("forgiving")
async def test_other_work_is_done_while_the_worker_answers_one_question(tmp_path: Path) -> None:
    done: list[bool] = []
    async with opened(tmp_path) as made:
        for do in ("", "sleep", ""):
            sent = made._number
            assert await ask_alone(made, do, meanwhile=lambda: done.append(made._number > sent)) == ACCEPTED  # noqa: B023
        with pytest.raises(HookFailed, match="it raised an exception"):
            await ask_alone(made, "raise", meanwhile=lambda: done.append(True))
    assert done == [True] * 4


@pytest.mark.usefixtures("forgiving")
async def test_the_work_meanwhile_is_not_suspended(tmp_path: Path) -> None:
    async with opened(tmp_path) as made:
        looked = Mock()
        with patch.object(meter.DEFAULT, "on_look", looked):
            assert await ask_alone(made, meanwhile=lambda: meter.charge(1 << 30)) == ACCEPTED
        looked.assert_not_called()


@pytest.mark.usefixtures("forgiving")
async def test_a_long_answer_to_one_question_comes_in_parts(tmp_path: Path) -> None:
    async with opened(tmp_path) as made:
        made._single = 1
        answer = await made.ask_hook("mutate", "change", (b"", b"{}", b""), 120.0)
        assert answer is not None
        assert len(answer) > 100_000
        assert await ask_alone(made) == ACCEPTED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("do", "seconds", "said"), [("loop", 1.0, "it did not answer within 1 s"), ("exit", 60.0, "its worker ended")]
)
@pytest.mark.usefixtures("forgiving")
async def test_a_hook_that_loops_or_ends_its_worker_fails_without_other_questions(
    tmp_path: Path, do: str, seconds: float, said: str
) -> None:
    async with opened(tmp_path) as made:
        with pytest.raises(HookFailed, match=said):
            await ask_alone(made, do, seconds)
        assert await ask_alone(made) == ACCEPTED


@pytest.mark.usefixtures("forgiving")
async def test_an_object_is_encoded_once_and_only_if_it_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[str] = []
    encode = storage.encode_stored

    def noting(kind: Kind, obj: Object) -> StoredValue:
        if kind.plural == "configmaps":
            encoded.append(obj["metadata"]["name"])
        return encode(kind, obj)

    monkeypatch.setattr(storage, "encode_stored", noting)
    seen: list[Object] = []

    @hooks.validate("configmaps")
    def check(obj: Object) -> None:
        seen.append(obj)

    @hooks.validate("configmaps")
    def compare(obj: Object) -> None:
        assert obj == seen[-1]

    app = App(Settings(hooks=[check, compare], tls=False))
    await app.start()
    try:
        maps = path_of("v1", "configmaps", "default")
        for number in range(30):
            await ask_app(app, "POST", maps, config(number))
            await ask_app(app, "PUT", f"{maps}/c{number}", config(number, "new"))
            await ask_app(app, "POST", maps, config(100), dryRun="All")
    finally:
        await app.stop()
    assert encoded == [f"c{number}" for number in range(30) for _ in range(2)]


class Clock:
    """A clock of seconds that moves when it is told to. yielded: how long another process takes the processor."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.yielded = 1000.0, 0.000001
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(os, "sched_yield", lambda: self.pass_time(self.yielded))

    def pass_time(self, seconds: float) -> None:
        self.now += seconds


def ask_after(polling: worker.Polling, clock: Clock, seconds: float) -> bool:
    """Let a question come after some time, and return whether the worker polls for the next one."""
    polling.start_wait()
    clock.pass_time(seconds)
    polling.end_wait()
    return polling.useful


def test_a_worker_polls_as_long_as_questions_come_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, polling = Clock(monkeypatch), worker.Polling(able=True)
    assert not ask_after(polling, clock, 0.1)
    assert ask_after(polling, clock, POLLED / 2)
    polling.start_wait()
    polls = 0
    while polling.should_poll():
        polls += 1
    assert polls < 2000
    assert clock.now - 1000.0 < 0.1 + 2 * POLLED
    assert not ask_after(polling, clock, 2 * POLLED)
    assert not ask_after(worker.Polling(able=False), clock, POLLED / 2)


def test_a_worker_polls_for_the_next_question_after_a_rare_disturbance(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, polling = Clock(monkeypatch), worker.Polling(able=True)
    for number in range(100):
        assert ask_after(polling, clock, POLLED / 2)
        polling.start_wait()
        disturbed = number % 10 == 0
        clock.yielded = POLLED / 4 if disturbed else 0.000001
        assert polling.should_poll() is not disturbed


def test_a_worker_whose_processor_others_want_polls_less_and_less(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, polling, tries = Clock(monkeypatch), worker.Polling(able=True), 0
    clock.yielded = 2 * POLLED
    for _ in range(100_000):  # 10 seconds
        if ask_after(polling, clock, 0.0001):
            polling.start_wait()
            assert not polling.should_poll()
            tries += 1
    assert 5 < tries < 60
    clock.yielded = 0.000001
    while not ask_after(polling, clock, 0.0001):
        pass
    polling.start_wait()
    assert polling.should_poll()


APP_OF_COROUTINES = """
import asyncio, os
from podless import hooks

@hooks.validate("configmaps")
async def check(obj):
    if obj["do"] == "exit":
        os._exit(3)
    await asyncio.sleep(0)
"""


@pytest.mark.slow
async def test_a_coroutine_that_ends_its_worker_fails_alone(tmp_path: Path) -> None:
    async with opened(tmp_path, APP_OF_COROUTINES) as made:
        good, bad, others = ask(made), ask(made, "exit"), [ask(made) for _ in range(5)]
        with pytest.raises(HookFailed, match="its worker ended"):
            await bad
        assert await asyncio.gather(good, *others) == [ACCEPTED] * 6
