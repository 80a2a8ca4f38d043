"""Whatever a loop calls is found where it holds the loop for long, and told with what it was."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvloop

from podless.runtime.heartbeat import Heartbeat
from podless.runtime.slices import SlicedWork
from podless.runtime.watchdog import MeasuredCoroutine, Watchdog, Work


def spin(seconds: float) -> None:
    """Keep the loop's thread at work."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


Seen = Callable[[], bool]


def work_in_python(seen: Seen) -> None:
    """Keep the loop's thread at work until that was seen."""
    while not seen():
        spin(0.01)


def work_in_calls(seen: Seen) -> None:
    """The same, in calls that do not let the interpreter go for a while."""
    while not seen():
        sum(range(10_000_000))


async def callback(work: Callable[[], None]) -> None:
    done = asyncio.Event()

    def run() -> None:
        work()
        done.set()

    asyncio.get_running_loop().call_later(0.001, run)
    await done.wait()


async def task(work: Callable[[], None]) -> None:
    async def run() -> None:
        work()

    await asyncio.create_task(run())


async def slices(work: Callable[[], None]) -> None:
    await SlicedWork(60).run(work)


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    if request.param == "asyncio":
        return asyncio.run
    return uvloop.run


@contextmanager
def encode_for_comparison() -> Iterator[tuple[Watchdog, Seen]]:
    """A watchdog, and what tells whether a callback was seen that is long."""
    watchdog = Watchdog()
    heartbeat = Heartbeat(watchdog)
    heartbeat.start()
    try:
        yield watchdog, lambda: heartbeat.holder is not None
    finally:
        heartbeat.stop()


async def until(true: Callable[[], Any]) -> None:
    """Wait for what the other thread does."""
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("begin", [callback, task, slices])
@pytest.mark.parametrize("work", [work_in_python, work_in_calls])
def test_a_callback_that_holds_the_loop_is_told(
    run: Callable[[Any], Any], begin: Any, work: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def play() -> None:
        with encode_for_comparison() as (watchdog, seen):
            await begin(lambda: work(seen))
            await until(lambda: watchdog.counts)
        assert list(watchdog.counts.values()) == [1]
        told = watchdog.busiest[1]
        assert told is not None
        assert told.kind == "callback"
        assert "held the loop for" in caplog.text

    run(play())


def test_many_pieces_of_work_are_none_that_is_long(run: Callable[[Any], Any]) -> None:
    async def play() -> None:
        with encode_for_comparison() as (watchdog, _):
            loop = asyncio.get_running_loop()
            done = asyncio.Event()

            def work() -> None:
                watchdog.latest += 1
                spin(0.01)

            for _ in range(15):
                loop.call_soon(work)
            loop.call_soon(done.set)
            await done.wait()
            for _ in range(15):
                spin(0.01)
                await asyncio.sleep(0)
            await asyncio.sleep(0.1)
        assert watchdog.busiest[0] < 0.1

    run(play())


def test_what_tells_of_itself_is_counted_once() -> None:
    async def play() -> None:
        with encode_for_comparison() as (watchdog, seen):
            await asyncio.sleep(0)

            async def work() -> None:
                work_in_python(seen)

            await MeasuredCoroutine(work(), watchdog, lambda: Work("request", "list", "alice", "x"))
            await until(lambda: watchdog.busiest[0])
        assert watchdog.counts == {("request", "list"): 1}

    asyncio.run(play())


def test_a_thread_that_does_not_run_the_loop_holds_nothing() -> None:
    loop = asyncio.new_event_loop()
    watchdog = Watchdog()
    heartbeat = Heartbeat(watchdog)

    async def start() -> None:
        heartbeat.start()

    async def stop() -> None:
        heartbeat.stop()

    loop.run_until_complete(start())
    loop.run_until_complete(asyncio.sleep(0.05))
    spin(0.4)
    loop.run_until_complete(asyncio.sleep(0.05))
    loop.run_until_complete(stop())
    loop.close()
    assert watchdog.counts == {}
