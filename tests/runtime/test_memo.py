"""Values that are made when they are first needed: who sees them, and what work off the loop may make."""

from __future__ import annotations

from contextvars import copy_context
from typing import Any

import pytest

from podless.runtime import memo
from podless.runtime.memo import (
    draft_values,
    fill_attribute,
    find_value,
    made_once,
    make_once,
    own_table,
    remember_value,
)


class Holder:
    def __init__(self) -> None:
        self.asked = 0
        self.empty: Any = None

    @made_once
    def made(self) -> int:
        """How often it was made."""
        self.asked += 1
        return self.asked


def off_loop(work: Any) -> Any:
    context = copy_context()
    context.run(memo.begin_work)
    return context.run(work)


def test_a_value_is_made_once_and_kept() -> None:
    table: dict[str, int] = {}
    assert [
        make_once(table, "a", lambda: 1),
        make_once(table, "a", lambda: 2),
        remember_value(table, "b", lambda: 3),
    ] == [1, 1, 3]
    assert table == {"a": 1, "b": 3}


def test_none_is_a_value_like_others() -> None:
    table: dict[str, int | None] = {}
    assert make_once(table, "a", lambda: None) is None
    assert make_once(table, "a", lambda: 1) is None


def test_of_two_values_that_threads_made_the_first_counts() -> None:
    table: dict[str, int] = {}

    def make() -> int:
        make_once(table, "a", lambda: 1)
        return 2

    assert make_once(table, "a", make) == 1


def test_work_off_the_loop_remembers_for_itself_alone() -> None:
    table: dict[str, int] = {}
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return len(made)

    def work() -> tuple[Any, ...]:
        assert memo.is_off_loop()
        return remember_value(table, "a", make), remember_value(table, "a", make), find_value(table, "a")

    assert off_loop(work) == (1, 1, 1)
    assert table == {}
    assert off_loop(work) == (2, 2, 2)
    assert find_value(table, "a") is None
    assert not memo.is_off_loop()


def test_a_property_is_made_once_and_off_the_loop_not_kept() -> None:
    holder = Holder()
    assert off_loop(lambda: (holder.made, holder.made)) == (1, 1)
    assert "made" not in vars(holder)
    assert [holder.made, holder.made] == [2, 2]
    assert Holder.made.__doc__ == "How often it was made."


def test_what_should_be_there_is_missed_loudly_off_the_loop() -> None:
    with pytest.raises(AssertionError, match="off the loop"):
        off_loop(lambda: make_once({}, "a", lambda: 1))


def test_a_server_works_it_out_and_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo.Draft, "strict", False)
    table: dict[str, int] = {}
    assert off_loop(lambda: make_once(table, "a", lambda: 1)) == 1
    assert table == {}


def test_an_attribute_is_filled_on_the_loop_only() -> None:
    holder = Holder()
    assert off_loop(lambda: fill_attribute(holder, "empty", lambda: 1)) == 1
    assert holder.empty is None
    assert fill_attribute(holder, "empty", lambda: 2) == holder.empty == 2


def test_a_draft_is_seen_by_nobody_before_it_is_published() -> None:
    holder = Holder()
    table: dict[str, int] = {}

    def work() -> memo.Draft:
        with draft_values() as draft:
            assert (make_once(table, "a", lambda: 1), holder.made, fill_attribute(holder, "empty", lambda: 2)) == (
                1,
                1,
                2,
            )
            assert find_value(table, "a") == 1
        return draft

    draft = off_loop(work)
    assert table == {}
    assert holder.empty is None
    draft.publish_values()
    assert table == {"a": 1}
    assert vars(holder) == {"asked": 1, "empty": 2, "made": 1}


def test_what_fails_leaves_nothing_behind() -> None:
    table: dict[str, int] = {}

    def fails() -> int:
        raise ValueError

    for keep in (make_once, remember_value):
        with pytest.raises(ValueError):
            keep(table, "a", fails)
    with draft_values() as draft:
        with pytest.raises(ValueError):
            make_once(table, "a", fails)
        assert make_once(table, "a", lambda: 1) == 1
    draft.publish_values()
    assert table == {"a": 1}


def test_a_table_of_its_own_is_never_published() -> None:
    table: dict[str, int] = {}

    def work() -> None:
        own_table(table)["a"] = 1
        assert own_table(table) == {"a": 1}

    off_loop(work)
    with draft_values() as draft:
        work()
    draft.publish_values()
    assert table == {}
    assert own_table(table) is table
