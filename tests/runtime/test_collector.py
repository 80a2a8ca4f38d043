"""No run of the garbage collector looks through more than some objects, and no garbage is kept for good."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from podless.runtime.collector import Collector
from podless.runtime.gcpause import pause_gc

MOST = 2000


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


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


def run(work: Callable[[Seen], Any], few: int = 0, unknown: int = 1 << 40) -> Seen:
    """Run work beside a collector whose limits are small. few: exempt objects that lose this, over those of now."""
    seen = Seen()

    async def main() -> None:
        gc.collect()
        gc.freeze()
        base = gc.get_freeze_count()
        collector = Collector(MOST, base + few if few else 0, unknown, (0.0, 0.0))
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
            kept.extend([] for _ in range(20 * MOST))
        kept.extend([] for _ in range(2 * MOST))

    seen = run(work)
    assert seen.objects
    assert max(seen.objects) <= 2 * MOST


def test_few_objects_are_looked_through() -> None:
    def work(seen: Seen) -> weakref.ref[Ring]:
        found = weakref.ref(Ring())
        kept: list[Any] = [[] for _ in range(MOST)]
        assert kept
        return found

    known: list[weakref.ref[Ring]] = []
    run(lambda seen: known.append(work(seen)))
    assert known[0]() is None


def test_the_last_generation_stays_small() -> None:
    kept: list[Any] = []

    async def work(seen: Seen) -> None:
        for _ in range(20):
            kept.extend([] for _ in range(MOST // 2))
            await asyncio.sleep(0)
        assert len(gc.get_objects(2)) <= 2 * MOST

    seen = run(work)
    assert max(seen.objects) <= 3 * MOST


def test_garbage_of_the_last_generation_is_collected_before_the_rest_is_exempt() -> None:
    rings: list[Ring] = []
    known: list[weakref.ref[Ring]] = []
    kept: list[Any] = []

    async def work(seen: Seen) -> None:
        rings.append(Ring())
        known.append(weakref.ref(rings[0]))
        gc.collect(1)  # it is old now
        rings.clear()
        for _ in range(20):
            kept.extend([] for _ in range(MOST // 2))
            await asyncio.sleep(0)

    run(work)
    assert known[0]() is None


def exempt_ring(rings: int) -> list[weakref.ref[Ring]]:
    """Have garbage exempt, among many objects that are freed then."""
    with pause_gc():
        found = [weakref.ref(Ring()) for _ in range(rings)]
        many: list[Any] = [[] for _ in range(3 * MOST)]
    gc.collect(0)
    assert gc.get_freeze_count() > len(many)
    return found


async def wait_until_freed(known: list[weakref.ref[Ring]]) -> bool:
    """Wait for some counts of the exempt objects."""
    for _ in range(20):
        await asyncio.sleep(0)
    gc.collect()
    return all(one() is None for one in known)


def test_objects_are_exempt_no_longer_when_few_are_left() -> None:
    known: list[weakref.ref[Ring]] = []

    async def work(seen: Seen) -> None:
        known.extend(exempt_ring(10))
        for _ in range(20):
            await asyncio.sleep(0)
        assert gc.get_freeze_count() == 0

    run(work, few=MOST)
    gc.collect()
    assert [one() for one in known] == [None] * 10


def test_they_stay_exempt_while_they_are_many() -> None:
    async def work(seen: Seen) -> None:
        assert not await wait_until_freed(exempt_ring(10))

    run(work)


def test_too_many_that_no_run_has_seen_are_collected_all_the_same() -> None:
    async def work(seen: Seen) -> None:
        assert await wait_until_freed(exempt_ring(MOST))

    run(work, unknown=MOST)


def test_a_stopped_one_limits_nothing() -> None:
    before = list(gc.callbacks)
    run(lambda seen: None)
    assert gc.callbacks == before
