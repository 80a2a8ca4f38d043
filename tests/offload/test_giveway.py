"""Work beside the event loop pauses while the loop has something to do."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from podless.meta.errors import Timeout
from podless.offload import offloop
from podless.offload.offloop import OffLoop, YieldingMeter
from podless.runtime.meter import METER
from podless.runtime.system import find_thread_clock


class Machine:
    """Two clocks: of the work, and of the loop, which uses `busy` seconds more during each pause of the work."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.work = self.loop = self.busy = 0.0
        self.pauses = 0
        names = {"clock_gettime": lambda clock: self.loop, "thread_time": lambda: self.work, "sleep": self._sleep}
        monkeypatch.setattr(offloop, "time", SimpleNamespace(**names))

    def _sleep(self, seconds: float) -> None:
        self.pauses += 1
        self.loop += self.busy


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


def test_work_goes_on_while_the_loop_waits(machine: Machine) -> None:
    meter = YieldingMeter(3600.0, 0)
    for _ in range(10):
        meter.give_way()
    assert machine.pauses == 0


def test_it_pauses_until_the_loop_waits_again(machine: Machine) -> None:
    meter = YieldingMeter(3600.0, 0)
    machine.loop += 0.001
    meter.give_way()
    assert machine.pauses == 1
    meter.give_way()
    assert machine.pauses == 1


def test_it_goes_on_beside_a_loop_that_never_waits(machine: Machine) -> None:
    meter = YieldingMeter(3600.0, 0)
    machine.busy = offloop._PAUSE
    for _ in range(1000):
        machine.work += 0.001
        machine.loop += 0.001
        meter.give_way()
    allowed = offloop._MAX_PAUSES + machine.work * offloop._SHARE
    assert 0.9 * allowed < machine.pauses * offloop._PAUSE <= allowed + offloop._PAUSE


def test_its_time_ends() -> None:
    clock = find_thread_clock()
    if clock is None:
        pytest.skip("the system tells no times of threads")
    with pytest.raises(Timeout):
        YieldingMeter(-1.0, clock).check_time()


async def test_the_thread_beside_the_loop_has_such_a_meter() -> None:
    beside = OffLoop()
    try:
        meter = await beside.run(1 << 20, METER.get)
        clock = find_thread_clock()
        assert clock is None or (isinstance(meter, YieldingMeter) and meter._loop == clock)
    finally:
        beside.close()
