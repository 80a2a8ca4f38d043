"""Rows are kept for the state that they show, and no more of them than fit."""

from __future__ import annotations

from podless.http.lists import RowCache


def test_a_row_is_found_for_its_state_only() -> None:
    rows = RowCache()
    rows.cache_row("/g/r/a", (1, "wide"), (b"row",))
    known = rows.find_row("/g/r/a", (1, "wide"))
    assert known is not None
    assert (known.row, known.length) == ((b"row",), 3)
    assert rows.find_row("/g/r/a", (2, "wide")) is None
    assert rows.find_row("/g/r/b", (1, "wide")) is None


def test_no_more_is_kept_than_fits() -> None:
    rows = RowCache(limit=1000)
    for name in "ab":
        rows.cache_row(name, 1, (b"x" * 250, 1.5))
    rows.cache_row("b", 2, (b"x" * 250,))  # takes the place of the older state, and the room of no other
    assert rows.find_row("a", 1) is not None
    rows.cache_row("c", 1, (b"x" * 2000,))
    assert rows.find_row("c", 1) is None
    assert rows.find_row("a", 1) is not None


def test_of_a_list_that_does_not_fit_most_is_found_again() -> None:
    rows = RowCache(limit=100 * 300)
    for _ in range(5):
        found = 0
        for number in range(150):
            found += rows.find_row(str(number), 1) is not None
            if rows.find_row(str(number), 1) is None:
                rows.cache_row(str(number), 1, (b"x" * 100,))
    assert found >= 75


def test_rows_of_objects_that_are_gone_make_room_in_time() -> None:
    rows = RowCache(limit=100 * 300)
    for number in range(100):
        rows.cache_row(f"gone-{number}", 1, (b"x" * 100,))
    for _ in range(40):
        found = 0
        for number in range(90):
            found += rows.find_row(str(number), 1) is not None
            if rows.find_row(str(number), 1) is None:
                rows.cache_row(str(number), 1, (b"x" * 100,))
    assert found == 90


def test_rows_share_the_pieces_that_many_have() -> None:
    rows = RowCache(limit=2500)
    fields = b'{"f:spec":{"f:size":{}}}'.ljust(1000)
    for name in "abc":
        cells = b'{"cells":["%b"' % name.encode()
        rows.cache_row(name, 1, (cells + b"x" * 150, 1.5, b'"],"object":{}', fields[:1] + fields[1:], b"}"))
    found = [rows.find_row(name, 1) for name in "abc"]
    assert all(known is not None and known.row[3] == fields and known.length > 1000 for known in found)
    assert len({id(known.row[3]) for known in found if known is not None}) == 1
