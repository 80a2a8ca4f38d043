"""Watchers hear of every event once and in order, a part of that in each turn of the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podless.cache import events as module
from podless.cache.entry import Entry
from podless.cache.events import CacheEvent, DeliveryQueue, Fanout, Follower
from podless.store import Record, StoredValue
from tests.conftest import tries


def event(revision: int, size: int = 10) -> CacheEvent:
    key = f"/g/things/ns/{revision}"
    return CacheEvent(key, revision, None, Entry(Record(key, StoredValue(b"x" * size, 0), revision, revision)))


class Watcher:
    """What one watcher has heard of. ended: how often it was told that nothing more comes."""

    def __init__(self, fanout: Fanout) -> None:
        self.told: list[int] = []
        self.batches = self.ended = 0
        self.follower: Follower = fanout.add_follower(self.take)

    def take(self, events: Sequence[CacheEvent]) -> None:
        self.batches += 1
        self.told += [event.revision for event in events]
        self.ended += not events


async def turns(over: Callable[[], bool]) -> int:
    """Wait until something is so; returns how many turns of the loop it took."""
    for number in count():
        if over():
            return number
        await asyncio.sleep(0)
    raise AssertionError


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock is a second later than the one before, so that a turn is over at once."""
    ticks: Iterator[int] = count()
    monkeypatch.setattr(module, "_clock", lambda: float(next(ticks)))
    monkeypatch.setattr(module, "_MAX_PAUSE", 0.0)


@pytest.mark.usefixtures("slow")
async def test_one_event_to_many_watchers_takes_many_turns() -> None:
    fanout = Fanout(DeliveryQueue())
    watchers = [Watcher(fanout) for _ in range(100)]
    fanout.queue_events([event(1)])
    assert await turns(lambda: bool(watchers[-1].told)) >= 100
    assert {tuple(watcher.told) for watcher in watchers} == {(1,)}


@pytest.mark.usefixtures("slow")
async def test_collections_take_turns() -> None:
    deliveries = DeliveryQueue()
    long, short = Fanout(deliveries), Fanout(deliveries)
    many, one = [Watcher(long) for _ in range(100)], Watcher(short)
    long.queue_events([event(1)])
    short.queue_events([event(2)])
    await turns(lambda: bool(one.told))
    assert sum(map(len, (watcher.told for watcher in many))) < 10
    await turns(lambda: bool(many[-1].told))


@pytest.mark.usefixtures("slow")
async def test_what_comes_in_meanwhile_is_told_next_and_together() -> None:
    fanout = Fanout(DeliveryQueue())
    watchers = [Watcher(fanout) for _ in range(20)]
    fanout.queue_events([event(1)])
    await turns(lambda: bool(watchers[3].told))
    for revision in range(2, 50):
        fanout.queue_events([event(revision)])
    await turns(lambda: len(watchers[-1].told) == 49)
    assert all(watcher.told == list(range(1, 50)) for watcher in watchers)
    assert [watcher.batches for watcher in watchers] == [2] * 20


async def test_events_are_pending_until_every_watcher_has_them() -> None:
    deliveries = DeliveryQueue()
    fanout = Fanout(deliveries)
    watcher = Watcher(fanout)
    for revision in (1, 2):  # the second one waits for the end of the pause after the first
        fanout.queue_events([event(revision)])
        assert deliveries.pending == 1
        await turns(lambda: not deliveries.pending)
        assert revision in watcher.told


async def test_batches_are_bounded_in_bytes() -> None:
    fanout = Fanout(DeliveryQueue())
    watcher = Watcher(fanout)
    fanout.queue_events([event(revision, 100_000) for revision in range(1, 21)])
    await turns(lambda: len(watcher.told) == 20)
    assert watcher.told == list(range(1, 21))
    assert watcher.batches > 5


@pytest.mark.usefixtures("slow")
async def test_a_watcher_that_catches_up_hears_of_nothing_twice() -> None:
    fanout = Fanout(DeliveryQueue())
    watchers = [Watcher(fanout) for _ in range(20)]
    fanout.queue_events([event(1)])
    await turns(lambda: bool(watchers[0].told))
    fanout.queue_events([event(2)])
    watchers[15].follower.catch_up()
    assert watchers[15].told == [1, 2]
    assert watchers[14].told == []
    fanout.queue_events([event(3)])
    await turns(lambda: len(watchers[-1].told) == 3)
    assert {tuple(watcher.told) for watcher in watchers} == {(1, 2, 3)}


@pytest.mark.usefixtures("slow")
async def test_who_is_too_far_behind_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_QUEUED", 100_000)
    monkeypatch.setattr(module, "_TOGETHER", 1000)
    fanout = Fanout(DeliveryQueue())
    watchers = [Watcher(fanout) for _ in range(20)]
    fanout.queue_events([event(1, 2000)])
    await turns(lambda: bool(watchers[0].told))
    for revision in range(2, 60):
        fanout.queue_events([event(revision, 2000)])
    await turns(lambda: not fanout._under_way)
    told = [len(watcher.told) for watcher in watchers]
    for watcher in watchers:
        assert watcher.told == list(range(1, len(watcher.told) + 1))
        assert watcher.ended == (len(watcher.told) < 59)
    assert told[-1] == 0
    assert fanout._size == 0
    assert len(fanout) == told.count(59)


async def test_what_fails_keeps_nobody_else_from_hearing(caplog: pytest.LogCaptureFixture) -> None:
    fanout = Fanout(DeliveryQueue())

    def fail(events: Sequence[CacheEvent]) -> None:
        raise ValueError("x")

    fanout.add_follower(fail)
    watcher = Watcher(fanout)
    fanout.queue_events([event(1)])
    await turns(lambda: bool(watcher.told))
    assert "cache: an event handler failed" in caplog.text


steps = st.lists(
    st.tuples(st.sampled_from(["publish", "join", "leave", "catch up", "turn", "end"]), st.integers(0, 9)), max_size=40
)


@settings(deadline=None, max_examples=tries(200))
@given(steps, st.integers(0, 3))
def test_every_watcher_hears_of_all_since_it_came_once_and_in_order(plan: list[tuple[str, int]], pace: int) -> None:
    """pace: how many are told in a turn of the loop."""

    async def play() -> None:
        fanout = Fanout(DeliveryQueue())
        revision = 0
        watchers: list[tuple[Watcher, int]] = []
        gone: list[tuple[Watcher, int]] = []
        ended: list[tuple[Watcher, int, int]] = []
        for what, number in plan:
            if what == "publish":
                fanout.queue_events([event(revision := revision + 1) for _ in range(number % 3 + 1)])
            elif what == "join":
                watchers.append((Watcher(fanout), revision))
            elif what == "leave" and watchers:
                gone.append(watchers.pop(number % len(watchers)))
                gone[-1][0].follower.stop_deliveries()
            elif what == "catch up" and watchers:
                watcher, since = watchers[number % len(watchers)]
                watcher.follower.catch_up()
                assert [one for one in watcher.told if one > since] == list(range(since + 1, revision + 1))
            elif what == "turn":
                await asyncio.sleep(0)
            elif what == "end":
                fanout.end_followers()
                ended += [(watcher, since, revision) for watcher, since in watchers]
                watchers.clear()
        await turns(lambda: not fanout._under_way)
        for watcher, since, last in [*ended, *((watcher, since, revision) for watcher, since in watchers)]:
            assert [one for one in watcher.told if one > since] == list(range(since + 1, last + 1))
        assert all(watcher.ended == 1 for watcher, _, _ in ended)
        for watcher, _ in gone:
            assert watcher.told == list(range(watcher.told[0], watcher.told[-1] + 1)) if watcher.told else True
            assert not watcher.ended

    ticks = count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_clock", lambda: next(ticks) / 1000)
        patch.setattr(module, "_TURN", pace / 1000)
        patch.setattr(module, "_MAX_TURN", pace / 1000)
        patch.setattr(module, "_MAX_PAUSE", 0.0)
        patch.setattr(module, "_TOGETHER", 1500)
        asyncio.run(play())
