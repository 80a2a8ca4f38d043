"""Long work does not keep the event loop."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref

import pytest

from podless.codec import serializer
from podless.meta.errors import Timeout, TooManyRequests, Unavailable
from podless.offload import offloop
from podless.offload.offloop import OffLoop
from podless.runtime import clock
from podless.runtime.meter import METER, charge


@pytest.mark.parametrize("size", [0, 1 << 20])
async def test_results_and_errors_come_back(size: int) -> None:
    beside = OffLoop()
    try:
        assert await beside.run(size, divmod, 7, 2) == (3, 1)
        with pytest.raises(ZeroDivisionError):
            await beside.run(size, divmod, 7, 0)
        where = await beside.run(size, threading.current_thread)
        assert (where is threading.main_thread()) == (size == 0)
    finally:
        beside.close()


async def test_the_clock_there_is_the_one_here() -> None:
    beside, moved = OffLoop(), clock.Clock()
    moved.advance(1e6)
    token = clock.CURRENT.set(moved)
    try:
        assert await beside.run(1 << 20, clock.CURRENT.get) is moved
    finally:
        clock.CURRENT.reset(token)
        beside.close()


async def test_only_what_is_long_is_encoded_in_steps() -> None:
    beside = OffLoop()
    try:
        assert await beside.run(1 << 20, serializer.in_steps.get)
        assert not await beside.run(0, serializer.in_steps.get)
        assert not serializer.in_steps.get()
    finally:
        beside.close()


async def test_the_loop_goes_on_meanwhile() -> None:
    beside, begun, go = OffLoop(), threading.Event(), threading.Event()

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
    monkeypatch.setattr(offloop, "_WAITING", 1)
    beside, go = OffLoop(), threading.Event()
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
    beside = OffLoop()
    try:
        assert gc.isenabled()
        assert not await beside.run(1 << 20, gc.isenabled)
        assert gc.isenabled()
    finally:
        beside.close()


def spin() -> None:
    while True:
        charge(100)


async def test_what_takes_too_long_is_ended() -> None:
    beside = OffLoop(seconds=0.0)
    try:
        for _ in range(3):
            with pytest.raises(Timeout):
                await beside.run(1 << 20, spin)
            assert await beside.run(1 << 20, divmod, 7, 2) == (3, 1)
    finally:
        beside.close()


class Large:
    """Something that a reference can be kept to."""


async def test_an_error_holds_nothing_that_was_worked_on() -> None:
    beside = OffLoop(seconds=0.0)
    known: list[weakref.ref[Large]] = []

    def work() -> None:
        large = Large()
        known.append(weakref.ref(large))
        spin()

    async def request(late: bool) -> None:
        async with beside.wait_turn("a", 1):
            await handle(late)

    async def handle(late: bool) -> None:
        large = Large()
        known.append(weakref.ref(large))
        if late:
            await beside.run(1 << 20, work)
        raise ValueError

    try:
        for late, error in ((False, ValueError), (True, Timeout)):
            with pytest.raises(error) as told:
                await request(late)
            assert [ref() for ref in known] == [None] * len(known)
            del told
    finally:
        beside.close()
    assert len(known) == 3


async def test_what_nobody_waits_for_any_more_is_ended_too() -> None:
    beside, begun, go = OffLoop(seconds=0.0), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go.wait(10)
        spin()

    try:
        task = asyncio.ensure_future(beside.run(1 << 20, work))
        while not begun.is_set():  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go.set()
        assert await beside.run(1 << 20, divmod, 7, 2) == (3, 1)  # which its one thread could not do otherwise
    finally:
        beside.close()


async def test_each_piece_has_a_meter_of_its_own_and_short_work_has_none() -> None:
    beside, outside = OffLoop(), METER.get()
    try:
        meters = [await beside.run(1 << 20, METER.get) for _ in range(2)]
        assert len({id(meter) for meter in (*meters, outside)}) == 3
        assert await beside.run(0, METER.get) is outside
        assert METER.get() is outside
    finally:
        beside.close()


async def test_what_was_made_for_a_request_goes_after_it_in_pieces() -> None:
    beside = OffLoop()
    try:
        async with beside.wait_turn("u", 1 << 20):
            made = await beside.run(1 << 20, lambda: [[n] for n in range(5000)])
            beside.free_later({"a": [made]})
            assert not gc.isenabled()
        assert made[7] == [7]  # who has it still, has it
        while not gc.isenabled():  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    finally:
        beside.close()


async def test_a_turn_of_a_server_that_stopped_leaves_nothing_behind() -> None:
    beside = OffLoop()
    async with beside.wait_turn("u", 1 << 20):
        await beside.run(1 << 20, divmod, 7, 2)
        beside.close()
        with pytest.raises(Unavailable):
            await beside.run(1 << 20, divmod, 7, 2)
    while not gc.isenabled():  # noqa: ASYNC110
        await asyncio.sleep(0.001)
