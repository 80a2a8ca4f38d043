"""Find the schedules that break a controller.

podless sits between a controller and its view of the world. It decides when events are delivered, which write meets a
conflict, which answer is lost, and when the controller is killed. `explore_controller` runs a scenario many times, each
time with another schedule, and reports the shortest schedules that cause a fault.

The module can be called: `@podless.explore("python controller.py", apply="crd.yaml")` makes a test.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from podless.explore.embedded import Command, Steps, explore_controller, explore_test
from podless.explore.explorer import Options
from podless.explore.findings import Fault, Finding, Report
from podless.explore.scenario import BadScenario, Scenario
from podless.explore.schedule import BadSchedule, Schedule

__all__ = [
    "BadScenario",
    "BadSchedule",
    "Fault",
    "Finding",
    "Options",
    "Report",
    "Scenario",
    "Schedule",
    "Steps",
    "explore_controller",
    "explore_test",
]


class _Module(ModuleType):
    """The class of this module, which makes it callable."""

    def __call__(self, command: Command, **options: Any) -> Callable[[Callable[[Steps], None]], Callable[[], None]]:
        return explore_test(command, **options)


sys.modules[__name__].__class__ = _Module
