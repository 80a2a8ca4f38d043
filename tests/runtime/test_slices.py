"""Sliced work: others are served between two slices, and work that is cut off or takes too long ends where it is."""

from __future__ import annotations

import asyncio
import time
from contextvars import ContextVar

import pytest

from podless.runtime import slices
from podless.runtime.apierror import Timeout
from podless.runtime.meter import charge
from podless.runtime.slices import SlicedWork

NAME: ContextVar[str] = ContextVar("name", default="none")
CHARGE = 2000  # steps, more than the work may take between two looks at the clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Each look at the processor time finds that a slice more has gone."""
    looks: list[float] = []

    def now() -> float:
        looks.append((len(looks) + 1) * slices.SLICE * 1.01)
        return looks[-1]

    monkeypatch.setattr(time, "thread_time", now)
    return looks


def count(steps: int, seen: list[str] | None = None, name: str = "") -> int:
    for _ in range(steps):
        charge(CHARGE)
        if seen is not None:
            seen.append(name)
    return steps


async def test_work_gives_what_it_returns_and_raises_what_it_raises() -> None:
    sliced = SlicedWork(10.0)
    assert await sliced.run(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await sliced.run(divmod, 7, 0)
    assert await sliced.run(divmod, 9, 2) == (4, 1)


async def test_others_are_served_between_two_slices(clock: list[float]) -> None:
    sliced, turns = SlicedWork(10.0), 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(others())
    assert await sliced.run(count, 50) == 50
    beside.cancel()
    assert turns >= 20


async def test_suspended_work_takes_turns(clock: list[float]) -> None:
    sliced, seen = SlicedWork(10.0), list[str]()
    await asyncio.gather(*(sliced.run(count, 10, seen, name) for name in "abc"))
    assert len(seen) == 30
    middle = seen[6:24]
    assert max(len(run) for run in "".join(middle).replace("a", " ").split()) <= 6


async def test_work_that_takes_too_long_ends_with_a_timeout(clock: list[float]) -> None:
    sliced, seen = SlicedWork(10 * slices.SLICE), list[str]()
    with pytest.raises(Timeout):
        await sliced.run(count, 1000, seen, "a")
    assert 10 <= len(seen) <= 30
    assert await sliced.run(count, 3) == 3


async def test_the_work_of_a_request_that_is_gone_ends_where_it_is(clock: list[float]) -> None:
    sliced, seen = SlicedWork(10.0), list[str]()

    def work() -> None:
        try:
            count(1000, seen, "a")
        finally:
            count(10, seen, "b")  # is suspended while it ends

    request = asyncio.create_task(sliced.run(work))
    await asyncio.sleep(0)
    assert seen
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    ended = list(seen)
    await asyncio.sleep(0)
    assert seen == ended
    assert "b" in seen
    assert seen.count("a") < 1000
    assert await sliced.run(count, 3) == 3


async def test_each_piece_of_work_has_the_context_of_its_request(clock: list[float]) -> None:
    sliced = SlicedWork(10.0)

    def work() -> set[str]:
        found = set()
        for _ in range(10):
            charge(CHARGE)
            found.add(NAME.get())
        return found

    async def request(name: str) -> set[str]:
        NAME.set(name)
        return await sliced.run(work)

    assert list(await asyncio.gather(request("a"), request("b"))) == [{"a"}, {"b"}]
    assert NAME.get() == "none"


async def test_charges_outside_of_sliced_work_suspend_nothing(clock: list[float]) -> None:
    assert count(50) == 50


async def test_a_driven_coroutine_is_suspended_between_its_awaits(clock: list[float]) -> None:
    sliced, seen = SlicedWork(10.0), list[str]()

    async def work(name: str) -> str:
        token = NAME.set(name)
        task = asyncio.current_task()
        for _ in range(3):
            count(10, seen, name)
            assert asyncio.current_task() is task
            await asyncio.sleep(0)
        assert NAME.get() == name
        NAME.reset(token)
        return name

    found = await asyncio.gather(*(asyncio.create_task(sliced.slice_coroutine(work(name))) for name in "abc"))
    assert list(found) == ["a", "b", "c"]
    assert len(seen) == 90
    assert seen[:30] != ["a"] * 30


async def test_what_a_driven_coroutine_raises_is_raised(clock: list[float]) -> None:
    async def work() -> None:
        count(10)
        await asyncio.sleep(0)
        count(10)
        raise KeyError("a")

    with pytest.raises(KeyError):
        await SlicedWork(10.0).slice_coroutine(work())


async def test_a_driven_coroutine_is_cancelled_where_it_is_suspended(clock: list[float]) -> None:
    sliced, seen = SlicedWork(10.0), list[str]()

    async def work() -> None:
        try:
            count(1000, seen, "a")
        finally:
            await asyncio.sleep(0)
            seen.append("b")

    request = asyncio.create_task(sliced.slice_coroutine(work()))
    await asyncio.sleep(0)
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    assert seen[-1] == "b"
    assert len(seen) < 20
    assert await sliced.run(count, 3) == 3


async def test_a_driven_coroutine_can_be_closed(clock: list[float]) -> None:
    seen = list[str]()

    async def work() -> None:
        count(1000, seen, "a")

    driven = SlicedWork(10.0).slice_coroutine(work())
    driven.send(None)
    driven.close()
    assert 0 < len(seen) < 20


async def test_work_within_sliced_work_is_a_part_of_it(clock: list[float]) -> None:
    sliced = SlicedWork(1000.0)

    async def outer(number: int) -> list[int]:
        found = []
        for place in range(4):
            found.append(await sliced.run(count, number + place))
            await asyncio.sleep(0)
            found.append(await sliced.slice_coroutine(inner(number)))
        return found

    async def inner(number: int) -> int:
        return await sliced.run(count, number) + count(2)

    async def plain(number: int) -> list[int]:
        return [await sliced.run(count, number + place) for place in range(4)]

    driven = [sliced.slice_coroutine(outer(number)) for number in range(5)]
    found = await asyncio.gather(*driven, *map(plain, range(5)))
    assert found[5:] == [[number + place for place in range(4)] for number in range(5)]
    assert found[:5] == [[each for place in range(4) for each in (number + place, number + 2)] for number in range(5)]


async def test_short_work_that_can_begin_again_needs_no_slice(clock: list[float]) -> None:
    sliced, seen = SlicedWork(10.0), list[str]()
    assert sliced.try_work(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        sliced.try_work(divmod, 7, 0)
    assert sliced.try_work(count, 1, seen, "a") == 1
    assert sliced.try_work(count, 10, seen, "b") is None
    assert len(seen) < 5
    assert count(50) == 50  # it suspends and ends nothing any more


async def test_the_time_of_work_that_begins_again_counts(clock: list[float]) -> None:
    sliced = SlicedWork(3.5 * slices.SLICE)
    assert await sliced.run(count, 4) == 4
    for _ in range(3):  # nothing is left of what others have tried
        assert sliced.try_work(count, 10) is None
        with pytest.raises(Timeout):
            await sliced.run(count, 4)
        assert await sliced.run(count, 1) == 1
        assert await sliced.run(count, 4) == 4
        assert sliced.try_work(count, 10) is None
        assert await sliced.run(count, 1) == 1
        assert await sliced.run(count, 4) == 4


async def test_sliced_work_that_tries_work_is_suspended_in_it(clock: list[float]) -> None:
    sliced = SlicedWork(10.0)
    assert await sliced.run(sliced.try_work, count, 50) == 50


async def test_the_limit_is_for_all_steps_of_a_coroutine_together(clock: list[float]) -> None:
    sliced = SlicedWork(5.5 * slices.SLICE)
    done: list[int] = []

    async def work() -> None:
        for _ in range(10):
            count(3)
            await asyncio.sleep(0)
            done.append(count(1))

    with pytest.raises(Timeout):
        await sliced.slice_coroutine(work())
    assert len(done) == 2
    await sliced.slice_coroutine(asyncio.sleep(0))
