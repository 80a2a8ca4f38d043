"""Threads that use one fresh layout at the same time."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from podless.kinds.kind import Column
from podless.publish.table import TableLayout, make_custom_layout, make_row
from tests.races import interleaved

COLUMNS = [Column("A", "string", ".spec.a"), Column("B", "integer", ".spec..b"), Column("C", "date", ".spec.c")]
OBJECT: dict[str, Any] = {"metadata": {"name": "a"}, "spec": {"a": [1], "d": {"b": 2}, "c": "2020-01-01T00:00:00Z"}}


def use(layout: TableLayout, told: list[Any]) -> None:
    told.append((make_row(layout, OBJECT), layout.definitions, layout.encoded))


@pytest.mark.parametrize("seed", range(10))
def test_a_fresh_layout_shows_the_same_wherever_a_thread_interrupts_the_other(seed: int) -> None:
    layout, told = make_custom_layout(COLUMNS), list[Any]()
    interleaved("podless/", *[partial(use, layout, told)] * 2, seed=seed, longest=300)
    use(make_custom_layout(COLUMNS), told)
    assert told == told[:1] * 3
