"""Work is charged in the context that it runs in, and ends where its time is over."""

from __future__ import annotations

from contextvars import copy_context

import pytest

from podless.meta.errors import Timeout
from podless.runtime.meter import MAX_UNCHARGED, METER, CPUMeter, charge, each
from tests.cost import Allowance


def test_work_without_a_meter_never_ends_early() -> None:
    for _ in range(3):
        charge(1 << 60)


def test_work_whose_time_is_over_ends_at_its_next_look() -> None:
    def work() -> None:
        METER.set(CPUMeter(-1.0))
        for _ in range(100_000):
            charge(1)

    with pytest.raises(Timeout):
        copy_context().run(work)


def test_a_meter_is_of_its_context_only() -> None:
    copy_context().run(METER.set, CPUMeter(-1.0))
    charge(1 << 60)


def test_time_that_is_left_is_worked_on() -> None:
    def work() -> None:
        METER.set(CPUMeter(3600.0))
        for _ in range(10):
            charge(1 << 20)

    copy_context().run(work)


def test_loops_over_few_items_are_not_charged() -> None:
    meter = Allowance()

    def work() -> None:
        METER.set(meter)
        few, many = [*range(MAX_UNCHARGED)], dict.fromkeys(range(MAX_UNCHARGED + 1))
        assert each(few) is few
        assert meter.charged == 0
        assert each(many) is many
        assert meter.charged == MAX_UNCHARGED + 1

    copy_context().run(work)


def test_what_is_over_ends_at_every_further_charge() -> None:
    """An error in the middle of a walk may be taken for one of the value's: the next charge raises again."""

    def work() -> None:
        METER.set(CPUMeter(-1.0))
        for _ in range(3):
            with pytest.raises(Timeout):
                charge(1 << 20)

    copy_context().run(work)
