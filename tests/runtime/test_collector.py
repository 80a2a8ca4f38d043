"""No run of the garbage collector looks through more than some objects, and no garbage is kept for good."""

from __future__ import annotations

import asyncio
import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from podless.runtime.collector import Collector, pause_gc

MAX = 2000


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.freeze()  # else each run of later tests looks through all of pytest's objects


class Ring:
    """An object that only the collector frees."""

    def __init__(self) -> None:
        self.itself = self


class Seen:
    """The objects that each run of the collector looked through, counted when it began to."""

    def __init__(self) -> None:
        self.objects: list[int] = []

    def __call__(self, phase: str, about: dict[str, int]) -> None:
        if phase == "start":
            self.objects.append(sum(len(gc.get_objects(number)) for number in range(about["generation"] + 1)))


def run(work: Callable[[Seen], Any], new: int = 1 << 40, blocks: int = 1 << 40) -> Seen:
    """Run work beside a collector whose limits are small. new: blocks after which all is looked through.

    blocks: the most with which it is.
    """
    seen = Seen()

    async def main() -> None:
        gc.collect()
        gc.freeze()
        collector = Collector(MAX, new, blocks, 0.01)
        collector.start()
        gc.set_threshold(300, 4, 100)
        gc.callbacks.append(seen)  # after the collector's own
        try:
            if asyncio.iscoroutine(waited := work(seen)):
                await waited
        finally:
            gc.callbacks.remove(seen)
            collector.stop()

    asyncio.run(main())
    return seen


def test_what_a_pause_leaves_is_not_looked_through() -> None:
    kept: list[Any] = []

    def work(seen: Seen) -> None:
        with pause_gc():
            kept.extend([] for _ in range(20 * MAX))
        kept.extend([] for _ in range(2 * MAX))

    seen = run(work)
    assert seen.objects
    assert max(seen.objects) <= 2 * MAX


def test_few_objects_are_looked_through() -> None:
    def work(seen: Seen) -> weakref.ref[Ring]:
        found = weakref.ref(Ring())
        kept: list[Any] = [[] for _ in range(MAX)]
        assert kept
        return found

    known: list[weakref.ref[Ring]] = []
    run(lambda seen: known.append(work(seen)))
    assert known[0]() is None


def test_the_last_generation_stays_small() -> None:
    kept: list[Any] = []

    async def work(seen: Seen) -> None:
        for _ in range(20):
            kept.extend([] for _ in range(MAX // 2))
            await asyncio.sleep(0)
        assert len(gc.get_objects(2)) <= 2 * MAX

    seen = run(work)
    assert max(seen.objects) <= 3 * MAX


def test_garbage_of_the_last_generation_is_collected_before_the_rest_is_exempt() -> None:
    rings: list[Ring] = []
    known: list[weakref.ref[Ring]] = []
    kept: list[Any] = []

    async def work(seen: Seen) -> None:
        rings.append(Ring())
        known.append(weakref.ref(rings[0]))
        gc.collect(1)  # it is old now
        rings.clear()
        for _ in range(100):
            kept.extend([] for _ in range(MAX // 10))
            await asyncio.sleep(0)

    run(work)
    assert known[0]() is None


def exempt_rings(many: int = 3 * MAX, kept: list[Any] | None = None) -> asyncio.Event:
    """Have garbage exempt, and objects that are kept; the event is set when one of the garbage is freed."""
    freed = asyncio.Event()
    with pause_gc():
        found = [Ring() for _ in range(many)]
        if kept is not None:
            kept.extend([] for _ in range(8 * MAX))
    weakref.finalize(found[-1], freed.set)
    gc.collect(0)
    assert gc.get_freeze_count() >= len(found)
    return freed


def test_exempt_garbage_is_collected_while_the_loop_is_idle() -> None:
    async def work(seen: Seen) -> None:
        freed = exempt_rings()
        async with asyncio.timeout(30):
            await freed.wait()

    run(work, new=MAX)


def test_many_objects_are_not_looked_through_until_they_are_few() -> None:
    kept: list[Any] = []

    async def work(seen: Seen) -> None:
        freed = exempt_rings(1, kept)
        before = len(seen.objects)
        await asyncio.sleep(0.1)
        assert not freed.is_set()
        assert max(seen.objects[before:], default=0) <= 2 * MAX
        freed_later = exempt_rings(2 * MAX)
        kept.clear()
        async with asyncio.timeout(30):
            await freed_later.wait()

    run(work, new=MAX, blocks=sys.getallocatedblocks() + 7 * MAX)


def test_work_that_pauses_the_collector_is_not_interrupted() -> None:
    async def work(seen: Seen) -> None:
        freed = exempt_rings()
        with pause_gc():
            await asyncio.sleep(0.1)
        assert not freed.is_set()

    run(work, new=MAX)


def test_little_that_is_kept_is_not_looked_through() -> None:
    async def work(seen: Seen) -> None:
        freed = exempt_rings()
        await asyncio.sleep(0.1)
        assert not freed.is_set()

    run(work)


def test_a_stopped_one_limits_nothing() -> None:
    before = list(gc.callbacks)
    run(lambda seen: None)
    assert gc.callbacks == before
