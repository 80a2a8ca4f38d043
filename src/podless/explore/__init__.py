"""Find the schedules that break a controller.

podless sits between a controller and its view of the world. It decides when events are delivered, which write meets a
conflict, which answer is lost, and when the controller is killed. `explore_controller` runs a scenario many times, each
time with another schedule, and reports the shortest schedules that cause a fault.

The module can be called: `@podless.explore("python controller.py", apply="crd.yaml")` makes a test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from podless.explore.embedded import Steps, explore_controller, explore_test
from podless.explore.explorer import Options
from podless.explore.findings import ExplorationReport, Fault, ScheduleFinding
from podless.explore.scenario import BadScenario, Scenario
from podless.explore.schedule import BadSchedule, Schedule
from podless.runtime.lazy import deprecated_names, make_callable

__all__ = [
    "BadScenario",
    "BadSchedule",
    "ExplorationReport",
    "Fault",
    "Options",
    "Scenario",
    "Schedule",
    "ScheduleFinding",
    "Steps",
    "explore_controller",
    "explore_test",
]

if TYPE_CHECKING:
    Finding = ScheduleFinding
    Report = ExplorationReport
else:
    __getattr__ = deprecated_names(__name__, {"Finding": "ScheduleFinding", "Report": "ExplorationReport"})

make_callable(__name__, explore_test)
