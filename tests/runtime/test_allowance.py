"""The work of one write has one allowance of processor time, wherever its parts run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from podless.offload.offloop import LONG_BYTES, OffLoop
from podless.runtime import meter, slices
from podless.runtime.apierror import Timeout
from podless.runtime.memo import fill_attribute, make_once
from podless.runtime.meter import ALLOWANCE, TimeAllowance, charge, make_shared
from podless.runtime.slices import SlicedWork

CHARGE = 2000  # steps, more than the work may take between two looks at the clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the processor time finds that a slice more has gone."""
    looks: list[float] = []

    def now() -> float:
        looks.append((len(looks) + 1) * slices.SLICE * 1.01)
        return looks[-1]

    monkeypatch.setattr(time, "thread_time", now)


def allow(number: float) -> TimeAllowance:
    """Allow the present context so many slices."""
    allowed = TimeAllowance()
    allowed.work_time = number * slices.SLICE
    ALLOWANCE.set(allowed)
    return allowed


def count(steps: int) -> int:
    for _ in range(steps):
        charge(CHARGE)
    return steps


async def test_the_pieces_of_a_write_share_one_allowance(clock: None) -> None:
    sliced = SlicedWork(10.0)

    async def step() -> int:
        return count(4)

    allow(8.5)
    assert await sliced.run(count, 4) == 4  # the first look begins the slice, the others end one
    assert await sliced.slice_coroutine(step()) == 4
    with pytest.raises(Timeout):
        await sliced.run(count, 4)
    assert await sliced.run(count, 1) == 1  # which ends within a slice


async def test_each_write_has_its_own_allowance(clock: None) -> None:
    sliced = SlicedWork(10.0)

    async def write() -> int:
        allow(3.5)
        return await sliced.run(count, 4)

    assert await asyncio.gather(*(write() for _ in range(3))) == [4, 4, 4]


class Holder:
    """Something with an attribute that is made at its first use."""

    attribute = 0


WAYS: dict[str, Callable[[Callable[[], int]], int]] = {
    "shared": make_shared,
    "table": lambda make: make_once({}, "key", make),
    "attribute": lambda make: fill_attribute(Holder(), "attribute", make),
}


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_made_for_all_is_not_charged_to_one(clock: None, way: str) -> None:
    sliced = SlicedWork(10.0)
    allow(1.5)
    assert await sliced.run(WAYS[way], lambda: count(50)) == 50
    with pytest.raises(Timeout):
        await sliced.run(count, 4)


async def test_work_on_the_thread_spends_the_same_allowance() -> None:
    beside = OffLoop()
    allowed = allow(1000)
    try:
        assert await beside.run(LONG_BYTES, count, 4) == 4
        assert 0 < allowed.work_time < 1000 * slices.SLICE
        allowed.work_time = 0.0
        with pytest.raises(Timeout):
            await beside.run(LONG_BYTES, count, 1 << 30)
        assert await beside.make_value(LONG_BYTES, count, 1000) == 1000
    finally:
        beside.close()


def test_longer_objects_are_allowed_more() -> None:
    assert TimeAllowance(0).work_time == meter.MIN_TIME
    assert TimeAllowance(1 << 20).work_time > 2 * meter.MIN_TIME
