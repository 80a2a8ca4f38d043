from __future__ import annotations

from pathlib import Path

import pytest
from bench.record import series
from bench.record.book import Place
from bench.record.series import Curve, Series

HERE = Place("aaa", "2026-01-05T10:11:12+00:00", 2, "3.11.7", 0.25)


@pytest.mark.parametrize(
    ("points", "more", "power"),
    [
        ([(10, 1), (1000, 100)], False, 1),
        ([(10, 5), (1000, 5)], False, 0),
        ([(10, 100), (1000, 1)], True, 1),
        ([(10, 1), (100, 7), (1000, 10_000)], False, 2),
        ([(0, 1), (10, 1), (100, 10)], False, 1),
        ([(10, 1)], False, None),
        ([], False, None),
    ],
)
def test_the_power_of_a_curve(points: list[tuple[float, float]], more: bool, power: float | None) -> None:
    found = Curve("x", "ms", more, points=points).power()
    assert found is None if power is None else found == pytest.approx(power)


def test_what_grows_faster_than_its_work_is_marked() -> None:
    single, document = Curve("create", "ms"), Curve("document", "ms", work=1)
    kept = Series("objects", [single, document])
    kept.put(10, 1, 1)
    kept.put(1000, 100, 100)
    assert single.excess()
    assert not document.excess()
    assert kept.verdicts() == [
        "objects: create costs n^1.00  ! its work grows as n^0",
        "objects: document costs n^1.00",
    ]


def test_a_value_that_is_missing_adds_no_point() -> None:
    kept = Series("objects", [Curve("create", "ms"), Curve("kubectl", "ms")])
    kept.put(10, 1.5, None)
    assert [(figure.name, figure.value) for figure in kept.figures()] == [("create, 10 objects", 1.5)]


def test_a_series_is_read_as_it_was_written(tmp_path: Path) -> None:
    kept = Series("objects", [Curve("GET", "/s", more=True), Curve("document", "ms", work=1)])
    kept.put(10, 5, 6)
    kept.put(20, 7, 8)
    file = kept.write(HERE, tmp_path)
    assert file.name == "objects.json"
    assert series.load(file) == (kept, HERE)
