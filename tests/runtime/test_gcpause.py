"""The garbage collector is paused for a while, and never for good."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from podless.runtime import gcpause
from podless.runtime.gcpause import Pause
from podless.runtime.weigh import collect_parts, release_parts


@pytest.fixture(autouse=True)
def enabled() -> Iterator[None]:
    assert gc.isenabled()
    yield
    gc.enable()


def until(truth: bool) -> None:
    end = time.monotonic() + 60
    while gc.isenabled() != truth and time.monotonic() < end:
        time.sleep(0.001)
    assert gc.isenabled() == truth


def test_a_pause_lasts_until_the_last_is_done() -> None:
    pause = Pause()
    one, other = pause.pause_collector(), pause.pause_collector()
    pause.end_pause(one)
    assert not gc.isenabled()
    pause.end_pause(other)
    assert gc.isenabled()


def test_it_goes_on_after_a_while_whoever_forgot_to_say_so() -> None:
    pause = Pause(most=0.01)
    late = pause.pause_collector()
    while not gc.isenabled():  # which takes processor time
        pass
    pause.end_pause(late)  # which counts for nothing in later pauses
    again = Pause()
    number = again.pause_collector()
    assert not gc.isenabled()
    pause.end_pause(late)
    assert not gc.isenabled()
    again.end_pause(number)
    assert gc.isenabled()


def test_time_in_which_nothing_is_done_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now, looks = 0.0, threading.Semaphore(0)

    def clock() -> float:
        looks.release()
        return now

    monkeypatch.setattr(gcpause, "time", SimpleNamespace(process_time=clock))
    pause = Pause(most=0.01)
    number = pause.pause_collector()
    for _ in range(5):
        assert looks.acquire(timeout=60)
    assert not gc.isenabled()
    now = 1.0
    until(True)
    pause.end_pause(number)


def test_who_has_it_off_has_it_off() -> None:
    pause = Pause()
    gc.disable()
    pause.end_pause(pause.pause_collector())
    assert not gc.isenabled()


def test_no_thread_is_left() -> None:
    before = threading.active_count()
    pause = Pause()
    for _ in range(5):
        pause.end_pause(pause.pause_collector())
    end = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.001)
    assert threading.active_count() <= before


class Part(list[int]):
    """A list that can be watched."""


def test_parts_are_all_that_is_in_a_value_outer_ones_last() -> None:
    inner: dict[str, object] = {"a": [1, {"b": []}]}
    value = [inner, inner, (inner,)]
    found = collect_parts([value, "text", 5])
    assert found[-1] is value
    assert len(found) == 6
    assert [type(one) for one in found].count(dict) == 2


def test_long_lists_go_in_slices() -> None:
    found = collect_parts([[str(n) for n in range(10_000)], {str(n): str(n) for n in range(10_000)}])
    assert max(len(one) for one in found if isinstance(one, list) and len(one) < 10_000) <= 2048
    release_parts(found)
    assert found == []
