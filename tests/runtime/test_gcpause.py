"""The garbage collector is paused for a while, and never for good."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from podless.runtime import collector
from podless.runtime.collector import CollectorPause
from podless.runtime.weigh import collect_containers, release_containers


@pytest.fixture(autouse=True)
def enabled() -> Iterator[None]:
    assert gc.isenabled()
    yield
    gc.enable()


def test_a_pause_lasts_until_the_last_is_done() -> None:
    pause = CollectorPause()
    one, other = pause.pause_collector(), pause.pause_collector()
    pause.end_pause(one)
    assert not gc.isenabled()
    pause.end_pause(other)
    assert gc.isenabled()


class Clock:
    """Stands for processor time."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        patched.setattr(collector, "time", SimpleNamespace(process_time=lambda: self.now))


def test_overlapping_pauses_end_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, pause = Clock(monkeypatch), CollectorPause(max_seconds=10)
    first, second = pause.pause_collector(), pause.pause_collector()
    clock.now += 9
    third = pause.pause_collector()
    pause.end_pause(first)
    assert not gc.isenabled()
    clock.now += 2
    pause.end_pause(second)
    assert gc.isenabled()
    pause.end_pause(third)  # which counts for nothing in later pauses
    assert gc.isenabled()


def test_a_caller_that_did_not_end_its_pause_does_not_count_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, pause = Clock(monkeypatch), CollectorPause(max_seconds=10)
    late = pause.pause_collector()
    clock.now += 11
    number = pause.pause_collector()
    assert not gc.isenabled()
    pause.end_pause(late)
    assert not gc.isenabled()
    pause.end_pause(number)
    assert gc.isenabled()


def test_who_has_it_off_has_it_off() -> None:
    pause = CollectorPause()
    gc.disable()
    pause.end_pause(pause.pause_collector())
    assert not gc.isenabled()


class Part(list[int]):
    """A list that can be watched."""


def test_parts_are_all_that_is_in_a_value_outer_ones_last() -> None:
    inner: dict[str, object] = {"a": [1, {"b": []}]}
    value = [inner, inner, (inner,)]
    found = collect_containers([value, "text", 5])
    assert found[-1] is value
    assert len(found) == 6
    assert [type(one) for one in found].count(dict) == 2


def test_long_lists_go_in_slices() -> None:
    found = collect_containers([[str(n) for n in range(10_000)], {str(n): str(n) for n in range(10_000)}])
    assert max(len(one) for one in found if isinstance(one, list) and len(one) < 10_000) <= 2048
    release_containers(found)
    assert found == []
