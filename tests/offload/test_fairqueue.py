"""Long requests take turns, by user, and who waits too long is told."""

from __future__ import annotations

import asyncio

import pytest

from podless.meta.errors import TooManyRequests
from podless.offload import fairqueue
from podless.offload.fairqueue import FairQueue

BIG = 3 << 20


async def hold(of: FairQueue, user: str, log: list[str], go: asyncio.Event, size: int = BIG) -> None:
    async with of.wait_turn(user, size):
        log.append(user)
        await go.wait()


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_small_ones_go_together_and_large_ones_alone() -> None:
    of, log, go = FairQueue(), list[str](), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for user in "aab":
            group.create_task(hold(of, user, log, go, BIG // 3))
        group.create_task(hold(of, "c", log, go))
        await settle()
        assert log == ["a", "a", "b"]
        assert of.waiting == 1
        go.set()
    assert log[-1] == "c"
    assert not of.waiting


async def test_users_take_turns() -> None:
    of, log, go = FairQueue(), list[str](), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for user in "aaaab":
            group.create_task(hold(of, user, log, go))
            await settle()
        go.set()
    assert log == ["a", "a", "b", "a", "a"]


async def test_no_more_wait_than_may_and_one_user_has_a_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fairqueue, "_WAITING", 3)
    monkeypatch.setattr(fairqueue, "_MAX_PER_USER", 2)
    of, log, go = FairQueue(), list[str](), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for user in "aaa":
            group.create_task(hold(of, user, log, go))
        await settle()
        with pytest.raises(TooManyRequests):
            await hold(of, "a", log, go)
        group.create_task(hold(of, "b", log, go))
        await settle()
        with pytest.raises(TooManyRequests):
            await hold(of, "c", log, go)
        assert of.refused == 2
        go.set()
    await hold(of, "c", log, go)


async def test_who_waits_too_long_is_refused_and_who_goes_away_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    of, log, go = FairQueue(), list[str](), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(hold(of, "a", log, go))
        await settle()
        gone = group.create_task(hold(of, "b", log, go))
        await settle()
        gone.cancel()
        await settle()
        assert not of.waiting
        monkeypatch.setattr(fairqueue, "_SECONDS", 0.0)
        with pytest.raises(TooManyRequests):
            await hold(of, "b", log, go)
        assert (of.waiting, of.refused) == (0, 1)
        go.set()
    await hold(of, "c", log, go)
    assert log == ["a", "c"]


async def test_a_turn_that_comes_as_its_client_goes_is_given_on() -> None:
    of, log, go = FairQueue(), list[str](), asyncio.Event()
    first = asyncio.ensure_future(hold(of, "a", log, go))
    await settle()
    second = asyncio.ensure_future(hold(of, "b", log, go))
    third = asyncio.ensure_future(hold(of, "c", log, go))
    await settle()
    first.cancel()
    await asyncio.sleep(0)  # the turn is given to the second, which has not gone on yet
    second.cancel()
    await settle()
    assert log == ["a", "c"]
    go.set()
    await third
    assert not of.waiting
