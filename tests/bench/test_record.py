from __future__ import annotations

from pathlib import Path

import pytest
from bench.record import book, table
from bench.record.book import Entry, Place
from bench.record.figure import Figure


def place(commit: str, cores: int = 2) -> Place:
    return Place(commit, "2026-01-05T10:11:12+00:00", cores, "3.11.7", 0.25)


def entry(commit: str, cores: int = 2, **values: float) -> Entry:
    """get is a rate, list a time."""
    units = {"get": ("/s", True), "list": ("ms", False)}
    return Entry(place(commit, cores), {"serve": [Figure(name, value, *units[name]) for name, value in values.items()]})


@pytest.mark.parametrize(
    ("value", "more", "before", "share"),
    [
        (80, True, 100, 0.2),
        (120, True, 100, 0),
        (120, False, 100, 0.2),
        (80, False, 100, 0),
        (80, True, 0, 0),
        (0, True, 100, 0),
    ],
)
def test_how_much_worse_a_figure_is(value: float, more: bool, before: float, share: float) -> None:
    assert Figure("x", value, "", more).worse(before) == pytest.approx(share)


def test_the_book_gives_back_what_was_appended(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    written = [entry("aaa", get=12000.5, list=80), entry("bbb", get=1)]
    assert book.entries(file) == []
    for each in written:
        book.append(each, file)
    assert book.entries(file) == written
    assert len(file.read_text().splitlines()) == 2


def test_the_place_is_this_one() -> None:
    here = Place.here()
    assert here.cores >= 1
    assert here.python.startswith("3.")
    assert here.commit


def cells(text: str, row: str) -> list[str]:
    """The cells of a row, each with its mark."""
    line = next(line for line in text.splitlines() if line.startswith(row))
    return line[len(row) :].replace(" !", "!").split()


def test_the_table_marks_what_became_slower() -> None:
    text = table.render(
        [entry("aaa", get=1000, list=10), entry("bbb", get=840, list=11.6), entry("ccc", get=800, list=5)]
    )
    assert cells(text, "commit") == ["aaa", "bbb", "ccc"]
    assert cells(text, "serve: get") == ["/s", "1,000", "840!", "800"]
    assert cells(text, "serve: list") == ["ms", "10", "11.6!", "5"]


def test_a_small_change_is_not_marked() -> None:
    text = table.render([entry("aaa", get=1000, list=10), entry("bbb", get=860, list=11.4)])
    assert cells(text, "serve: get") == ["/s", "1,000", "860"]
    assert cells(text, "serve: list") == ["ms", "10", "11.4"]


def test_a_commit_is_one_column_with_its_newest_figures() -> None:
    text = table.render([entry("aaa", get=1000, list=10), entry("aaa", get=2000)])
    assert cells(text, "commit") == ["aaa"]
    assert cells(text, "serve: get") == ["/s", "2,000"]
    assert cells(text, "serve: list") == ["ms", "10"]


def test_a_figure_is_compared_with_the_last_commit_that_has_it() -> None:
    text = table.render([entry("aaa", get=1000), entry("bbb", list=10), entry("ccc", get=500)])
    assert cells(text, "serve: get") == ["/s", "1,000", "-", "500!"]


def test_another_machine_is_not_compared_with() -> None:
    text = table.render([entry("aaa", cores=16, get=9000), entry("bbb", cores=2, get=1000)])
    assert cells(text, "serve: get") == ["/s", "9,000", "1,000"]


def test_only_the_last_commits_and_wanted_benchmarks_are_shown() -> None:
    known = [entry(name, get=1) for name in ("aaa", "bbb", "ccc")]
    assert cells(table.render(known, last=2), "commit") == ["bbb", "ccc"]
    assert table.render(known, names=["start"]) == table.render([]) == "nothing is recorded yet"
