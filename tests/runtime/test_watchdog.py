"""What holds the event loop for long is told and counted, by who did it."""

from __future__ import annotations

import asyncio
import inspect
import logging
from typing import Any

import pytest

from podless.runtime.watchdog import MeasuredCoroutine, Watchdog, Work


def about() -> Work:
    return Work("request", "list", "alice", '"GET /x"')


async def test_each_step_is_measured_and_the_result_is_the_same(caplog: pytest.LogCaptureFixture) -> None:
    watchdog = Watchdog(-1.0)

    async def work() -> int:
        await asyncio.sleep(0)
        return 5

    with caplog.at_level(logging.WARNING, "podless"):
        assert await MeasuredCoroutine(work(), watchdog, about) == 5
        assert await asyncio.get_running_loop().create_task(MeasuredCoroutine(work(), watchdog, about)) == 5
    assert watchdog.counts == {("request", "list"): 4}
    assert watchdog.worst <= watchdog.seconds["request", "list"]
    assert caplog.messages[0].startswith('loop: request list "GET /x" of alice held the loop for ')


async def test_short_steps_are_not_told() -> None:
    watchdog = Watchdog(1000.0)
    await MeasuredCoroutine(asyncio.sleep(0), watchdog, about)
    assert watchdog.counts == {}


async def test_errors_and_cancellation_pass_through() -> None:
    watchdog = Watchdog(1000.0)
    seen: list[Any] = []

    async def failing() -> None:
        raise ValueError("x")

    async def waiting() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError as error:
            seen.append(error)
            raise

    with pytest.raises(ValueError, match="x"):
        await MeasuredCoroutine(failing(), watchdog, about)
    task: asyncio.Task[Any] = asyncio.get_running_loop().create_task(MeasuredCoroutine(waiting(), watchdog, about))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(seen) == 1
    work: Any = waiting()
    MeasuredCoroutine(work, watchdog, about).close()
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED
