"""Find the schedules that break a controller.

podless sits between a controller and its view of the world. It decides when events are delivered, which write meets a
conflict, which answer is lost, and when the controller is killed. `explore` runs a scenario many times, each time with
another schedule, and reports the shortest schedules after which something is wrong.
"""

from __future__ import annotations

from podless.explore.explorer import Options, explore, replay
from podless.explore.findings import Finding, Report
from podless.explore.scenario import BadScenario, Scenario
from podless.explore.schedule import BadSchedule, Schedule

__all__ = ["BadScenario", "BadSchedule", "Finding", "Options", "Report", "Scenario", "Schedule", "explore", "replay"]
