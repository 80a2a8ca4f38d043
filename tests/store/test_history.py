"""History ends by age, size and number, and a clock that goes back does no harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.store.history import History, HistoryClock, Keep, pack_value, parse_keep, unpack_value


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("90s", Keep(age=90.0)),
        ("1Gi", Keep(size=1 << 30)),
        ("500", Keep(count=500)),
        ("1h30m,4Mi,7", Keep(5400.0, 4 << 20, 7)),
    ],
)
def test_what_is_kept_is_told_by_its_units(text: str, kept: Keep) -> None:
    assert parse_keep(text) == kept


@pytest.mark.parametrize("text", ["", "1d", "Mi", "-1", "1Ti", "5,", "1h,x"])
def test_the_error_of_a_bound_names_what_can_be_given(text: str) -> None:
    with pytest.raises(ValueError, match=r"an age, a size or a number, such as 1h,256Mi,10000, not '"):
        parse_keep(text)


def fill(wanted: Keep, writes: list[tuple[int, int]]) -> tuple[History, int]:
    """A history of writes that replace so many bytes so many seconds after the one before, forgotten as is due."""
    found, now, gone = History(wanted), 0, 0
    for revision, (replaced, seconds) in enumerate(writes, 1):
        now += seconds
        found.note_writes(revision, replaced, now)
        while due := found.find_due(now):
            assert due > gone
            gone = due
            found.note_forgotten(gone)
    return found, gone


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 5)), min_size=1, max_size=300))
def test_it_is_bounded_by_all_three_and_nothing_newer_than_needed_is_forgotten(writes: list[tuple[int, int]]) -> None:
    wanted = Keep(age=60.0, size=5000, count=40)
    found, gone = fill(wanted, writes)
    kept = writes[gone:]
    assert found.size == sum(replaced for replaced, _ in kept)
    assert len(kept) <= wanted.count + 1
    assert found.size <= wanted.size or len(kept) <= 1
    # forgotten was only what had a reason to be: parts are a few writes each
    if sum(replaced for replaced, _ in writes) < wanted.size and sum(seconds for _, seconds in writes) < wanted.age:
        assert len(kept) >= min(len(writes), wanted.count) - 2


def test_age_ends_it_where_nobody_writes() -> None:
    found = History(Keep(age=60.0))
    found.note_writes(1, 10, 1000)
    assert found.find_due(1060) == 0
    assert found.find_due(1061) == 1


def test_history_can_be_due_where_a_part_begins() -> None:
    found = History(Keep(count=320, size=1000))
    assert [revision for revision in range(1, 40) if found.note_writes(revision, 0, 1)] == [1, 11, 21, 31]
    assert [found.note_writes(revision, 600, 1) for revision in (40, 41, 42)] == [False, True, True]


def test_a_clock_that_goes_back_stands_still_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([100.0, 40.0, 99.0, 101.0])
    monkeypatch.setattr("podless.runtime.clock.system.time", lambda: next(times))
    clock = HistoryClock(90_000)
    assert [clock.next_time() for _ in range(4)] == [100_000, 100_000, 100_000, 101_000]


@given(st.binary(max_size=3000), st.binary(max_size=3000))
def test_a_packed_state_is_what_it_was(value: bytes, like: bytes) -> None:
    assert unpack_value(pack_value(value)) == value
    assert unpack_value(pack_value(value, like), like) == value


@pytest.mark.parametrize("length", [0, 249, 250, 3833, 3834, 7929, 16_000, 24_000])
def test_all_of_a_similar_state_counts(length: int) -> None:
    like = b",".join(b"%x" % (number * 7919**5) for number in range(length // 14 + 1))[:length]
    half = length // 2
    for value in (like, like[:half] + b"in between" + like[half:], like[:half] + like[half + 20 :]):
        packed = pack_value(value, like)
        assert unpack_value(packed, like) == value
        assert len(packed) < 50 + length / 10
