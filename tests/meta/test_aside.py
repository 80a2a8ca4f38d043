"""Long work does not keep the event loop."""

from __future__ import annotations

import asyncio
import gc
import threading

import pytest

from podless.meta import aside, clock
from podless.meta.aside import Aside
from podless.meta.errors import TooManyRequests


@pytest.mark.parametrize("size", [0, 1 << 20])
async def test_results_and_errors_come_back(size: int) -> None:
    beside = Aside()
    try:
        assert await beside.run(size, divmod, 7, 2) == (3, 1)
        with pytest.raises(ZeroDivisionError):
            await beside.run(size, divmod, 7, 0)
        where = await beside.run(size, threading.current_thread)
        assert (where is threading.main_thread()) == (size == 0)
    finally:
        beside.close()


async def test_the_clock_there_is_the_one_here() -> None:
    beside, moved = Aside(), clock.Clock()
    moved.advance(1e6)
    token = clock.CURRENT.set(moved)
    try:
        assert await beside.run(1 << 20, clock.CURRENT.get) is moved
    finally:
        clock.CURRENT.reset(token)
        beside.close()


async def test_the_loop_goes_on_meanwhile() -> None:
    beside, begun, go = Aside(), threading.Event(), threading.Event()

    def work() -> bool:
        begun.set()
        return go.wait(10)

    try:
        task = asyncio.ensure_future(beside.run(1 << 20, work))
        while not begun.is_set():  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        go.set()  # which the loop could not do if it were kept
        assert await task
    finally:
        beside.close()


async def test_no_more_waits_than_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "_WAITING", 1)
    beside, go = Aside(), threading.Event()
    try:
        task = asyncio.ensure_future(beside.run(1 << 20, go.wait, 10))
        await asyncio.sleep(0)
        with pytest.raises(TooManyRequests):
            await beside.run(1 << 20, divmod, 7, 2)
        go.set()
        assert await task
    finally:
        beside.close()


async def test_the_garbage_collector_rests_meanwhile_and_goes_on() -> None:
    beside = Aside()
    try:
        assert gc.isenabled()
        assert not await beside.run(1 << 20, gc.isenabled)
        assert gc.isenabled()
    finally:
        beside.close()


def test_where_there_is_always_such_work_garbage_is_collected_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    monkeypatch.setattr(gc, "collect", seen.append)
    with aside.quiet():
        with aside.quiet():
            pass
        assert not seen
        monkeypatch.setattr(aside, "_MOST", -1.0)
        with aside.quiet():
            pass
        assert seen == [1]
    assert seen == [1]
