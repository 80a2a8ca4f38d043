"""Long work is done in pieces, and users take turns."""

from __future__ import annotations

import asyncio

import pytest

from podless.runtime import pace
from podless.runtime.pace import Pace


async def test_users_take_turns() -> None:
    made = Pace()
    done: list[str] = []
    for _ in range(3):
        made.run_soon("a", lambda: done.append("a"))
    made.run_soon("b", lambda: done.append("b"))
    for _ in range(10):
        await asyncio.sleep(0)
    assert "".join(done) in ("abaa", "baaa")


async def test_what_only_begins_is_all_that_is_done_in_a_turn() -> None:
    made = Pace()
    resting = [asyncio.ensure_future(made.wait_turn(user)) for user in "abc"]
    await asyncio.sleep(0)
    seen: list[int] = []
    while not all(task.done() for task in resting):
        await asyncio.sleep(0)
        seen.append(sum(task.done() for task in resting))
    assert {1, 2, 3} <= set(seen)


async def test_what_is_begun_counts_for_as_long_as_it_will_take() -> None:
    made = Pace()
    begun: list[int] = []

    def begin() -> float:
        begun.append(0)
        return 0.0004

    for _ in range(12):
        made.run_soon("a", begin)
    most = before = 0
    while len(begun) < 12:
        await asyncio.sleep(0)
        most, before = max(most, len(begun) - before), len(begun)
    assert most <= 3


async def test_slices_are_all_of_the_items_with_rests_between() -> None:
    made = Pace()
    items = list(range(1000))
    others = 0

    async def beside() -> None:
        nonlocal others
        while True:
            await asyncio.sleep(0)
            others += 1

    task = asyncio.ensure_future(beside())
    before, pace._PIECE_SECONDS = pace._PIECE_SECONDS, 0.0
    try:
        found = [item async for some in made.iterate_slices("a", items) for item in some]
    finally:
        pace._PIECE_SECONDS = before
        task.cancel()
    assert found == items
    assert others > 10


async def test_items_that_take_long_come_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "_PIECE_SECONDS", -1.0)
    sizes = [len(some) async for some in Pace().iterate_slices("a", range(50))]
    assert sum(sizes) == 50
    assert max(sizes) <= 2


async def test_who_gives_up_takes_nobodys_turn() -> None:
    made = Pace()
    gone = asyncio.ensure_future(made.wait_turn("a"))
    await asyncio.sleep(0)
    gone.cancel()
    await made.wait_turn("b")
    assert gone.cancelled()
