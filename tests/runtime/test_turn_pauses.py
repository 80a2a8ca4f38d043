"""Long work on the loop lets others have their turn."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from podless.runtime import slices
from podless.runtime.slices import TurnPauses


async def test_turns_of_the_loop_pass_between_two_pieces() -> None:
    turns, going = 0, asyncio.Event()

    async def count() -> None:
        nonlocal turns
        while not going.is_set():
            await asyncio.sleep(0)
            turns += 1

    task = asyncio.ensure_future(count())
    await TurnPauses().wait_pause(0.0)
    going.set()
    await task
    assert turns >= slices._TURNS


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds of what is called back later, on a loop without work of its own."""
    found: list[float] = []
    loop = SimpleNamespace(
        call_soon=lambda callback, *about: callback(*about),
        call_later=lambda seconds, callback: found.append(seconds),
        time=lambda: 0.0,
    )
    monkeypatch.setattr(slices, "asyncio", SimpleNamespace(get_running_loop=lambda: loop))  # for this module alone
    return found


@pytest.mark.parametrize(("busy", "took", "rests"), [(1.0, 0.02, [0.02]), (1.0, 0.001, []), (0.0, 0.02, [])])
def test_a_long_piece_rests_as_long_if_others_are_active(
    monkeypatch: pytest.MonkeyPatch, later: list[float], busy: float, took: float, rests: list[float]
) -> None:
    clock = iter((0.0, busy))
    monkeypatch.setattr(slices, "time", SimpleNamespace(thread_time=lambda: next(clock)))
    went_on: list[bool] = []
    TurnPauses().call_after_pause(took, lambda: went_on.append(True))
    assert later == rests
    assert bool(went_on) is not bool(rests)
