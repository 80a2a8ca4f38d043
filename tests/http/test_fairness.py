"""Requests take turns between users, within bounds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import pytest

from podless.auth.user import User
from podless.http import fairness as flow_module
from podless.http.fairness import PriorityAndFairness
from podless.http.limits import Limits
from podless.http.message import Handler, HTTPRequest, Response, Sink, Stream

DONE = Response(200)


def asked(user: str) -> HTTPRequest:
    request = HTTPRequest.of("GET", "/", {})
    request.user = User(user)
    return request


def fair(handler: Handler, limits: Limits) -> PriorityAndFairness:
    made = PriorityAndFairness(limits)
    made.wrap_handler(handler)
    return made


class Work:
    """A handler whose requests end when they are let go. begun: who asked, in the order in which work began.

    seconds: of a clock that only its own work moves.
    """

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.gate = asyncio.Event()
        self.seconds = 0.0

    def now(self, request: HTTPRequest) -> Response:
        self.begun.append(request.user.name)
        self.seconds += 0.0001
        return DONE

    def later(self, request: HTTPRequest) -> Any:
        self.begun.append(request.user.name)

        async def answer() -> Response:
            await self.gate.wait()
            return DONE

        return answer()


def send(flow: PriorityAndFairness, user: str) -> asyncio.Future[Any]:
    answer = flow.handle(asked(user))
    if isinstance(answer, Coroutine):
        return asyncio.ensure_future(answer)
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    done.set_result(answer)
    return done


async def begun(work: Work, many: int) -> None:
    """Wait until so much has begun, and some turns of the loop more."""
    while len(work.begun) < many:  # noqa: ASYNC110
        await asyncio.sleep(0)
    for _ in range(100):
        await asyncio.sleep(0)


def code(answer: Any) -> int:
    assert isinstance(answer, Response)
    return answer.status


async def test_one_user_is_served_at_once() -> None:
    work = Work()
    flow = fair(work.now, Limits())
    assert [code(flow.handle(asked("a"))) for _ in range(50)] == [200] * 50


async def test_a_user_with_few_requests_does_not_wait_for_one_with_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow_module, "_TURN", 0.0)  # nothing is begun at once
    work = Work()
    clock = SimpleNamespace(thread_time=lambda: work.seconds, monotonic=time.monotonic)
    monkeypatch.setattr(flow_module, "time", clock)
    flow = fair(work.now, Limits())
    flow._remaining = 0.0
    waiting = [send(flow, "few")] + [send(flow, "many") for _ in range(100)] + [send(flow, "few") for _ in range(3)]
    monkeypatch.setattr(flow_module, "_TURN", 0.002)
    assert {code(answer) for answer in await asyncio.gather(*waiting)} == {200}
    assert work.begun.count("many") == 100
    assert max(index for index, user in enumerate(work.begun) if user == "few") < 20


async def test_what_a_user_had_while_nobody_waited_is_not_held_against_them(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work()
    clock = SimpleNamespace(thread_time=lambda: work.seconds, monotonic=time.monotonic)
    monkeypatch.setattr(flow_module, "time", clock)
    flow = fair(work.now, Limits())
    for _ in range(100):  # others are there, but want nothing
        flow._remaining = 1.0
        assert code(await send(flow, "early")) == 200
    flow.handle(asked("other"))
    monkeypatch.setattr(flow_module, "_TURN", 0.0)
    flow._remaining = 0.0
    waiting = [send(flow, "late") for _ in range(50)] + [send(flow, "early")]
    monkeypatch.setattr(flow_module, "_TURN", 0.002)
    assert {code(answer) for answer in await asyncio.gather(*waiting)} == {200}
    assert work.begun[101:].index("early") < 5


async def test_too_many_at_work_wait_and_too_many_that_wait_are_refused() -> None:
    work = Work()
    flow = fair(work.later, Limits(in_flight=2, queue=3))
    waiting = []
    for _ in range(8):
        waiting.append(send(flow, "a"))
        await asyncio.sleep(0)
    refused = [answer.result() for answer in waiting if answer.done()]
    assert [(answer.status, dict(answer.headers)["Retry-After"]) for answer in refused] == [(429, "1")] * 3
    assert len(work.begun) == 2
    work.gate.set()
    assert sorted(code(answer) for answer in await asyncio.gather(*waiting)) == [200] * 5 + [429] * 3


async def test_nobody_holds_more_than_half_while_others_ask() -> None:
    work = Work()
    flow = fair(work.later, Limits(in_flight=4))
    pending = [send(flow, user) for user in ("b", *"aaaaaa")]
    await begun(work, 3)
    assert sorted(work.begun) == ["a", "a", "b"]
    pending.append(send(flow, "b"))
    await begun(work, 4)
    assert sorted(work.begun) == ["a", "a", "b", "b"]
    work.gate.set()
    assert {code(answer) for answer in await asyncio.gather(*pending)} == {200}


async def test_what_waits_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow_module, "_SWEEP", 0.01)
    work = Work()
    flow = fair(work.later, Limits(in_flight=1, wait=0.0))
    first = send(flow, "a")
    await asyncio.sleep(0)
    assert code(await send(flow, "a")) == 429
    work.gate.set()
    assert code(await first) == 200


class Wire(Sink):
    def send_initial(self, pieces: Any) -> None:
        pass

    def send(self, data: bytes) -> bool:
        return True

    def end(self) -> None:
        pass


def streaming(sinks: list[Sink]) -> Callable[[HTTPRequest], Any]:
    def start(sink: Sink) -> Callable[[], None]:
        sinks.append(sink)
        return lambda: None

    async def answer() -> Stream:
        return Stream(start)

    return lambda request: answer()


async def test_watches_are_counted_until_they_end() -> None:
    sinks: list[Sink] = []
    flow = fair(streaming(sinks), Limits(in_flight=1, watches=4))

    async def watch(user: str) -> Any:
        answer = await send(flow, user)
        return answer.start(Wire()) if isinstance(answer, Stream) else answer.status

    stop, second, refused = [await watch("a") for _ in range(3)]
    assert refused == 429
    assert callable(await watch("b"))
    stop()
    stop()
    third = await watch("a")
    assert callable(third)
    sinks[-1].end()  # the server ended it
    third()  # and the client has gone
    assert callable(await watch("a"))
    second()


async def test_no_queue_means_that_nothing_waits() -> None:
    work = Work()
    flow = fair(work.now, Limits(in_flight=0, queue=0))
    assert code(flow.handle(asked("a"))) == 429
    assert work.begun == []
