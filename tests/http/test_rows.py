"""Rows are kept for the state that they show, and no more of them than fit."""

from __future__ import annotations

from podless.http.rows import Rows


def test_a_row_is_found_for_its_state_only() -> None:
    rows = Rows()
    rows.keep("/g/r/a", (1, "wide"), (b"row",))
    assert rows.find("/g/r/a", (1, "wide")) == (b"row",)
    assert rows.find("/g/r/a", (2, "wide")) is None
    assert rows.find("/g/r/b", (1, "wide")) is None


def test_what_came_first_goes_first() -> None:
    rows = Rows(most=1000)
    for name in "abc":
        rows.keep(name, 1, (b"x" * 250, 1.5))
    assert [rows.find(name, 1) is None for name in "abc"] == [True, False, False]
    rows.keep("b", 2, (b"x" * 250,))  # takes the place of the older state, and the room of no other
    assert rows.find("c", 1) is not None
    rows.keep("d", 1, (b"x" * 2000,))
    assert [rows.find(name, 1) for name in "bcd"] == [None, None, None]
