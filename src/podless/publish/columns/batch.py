"""Columns of batch."""

from __future__ import annotations

from collections.abc import Mapping

from podless.publish.columns.cell import AGE, NAME, Age, Cell, Lapse, Object, Of, at, count, text
from podless.publish.columns.workload import containers, selector
from podless.runtime.meter import each

_GROUP = "batch"
_STATES = ("Complete", "Failed")
_LATER_STATES = ("Suspended", "FailureTarget", "SuccessCriteriaMet")


def _status(obj: Object) -> str:
    held = {one["type"] for one in each(at(obj, "status", "conditions", default=())) if one["status"] == "True"}
    for name in _STATES:
        if name in held:
            return name
    if at(obj, "metadata", "deletionTimestamp"):
        return "Terminating"
    return next((name for name in _LATER_STATES if name in held), "Running")


def _completions(obj: Object) -> str:
    done, wanted = at(obj, "status", "succeeded", default=0), at(obj, "spec", "completions", default=None)
    if wanted is not None:
        return f"{done}/{wanted}"
    side = at(obj, "spec", "parallelism", default=0)
    return f"{done}/1 of {side}" if side > 1 else f"{done}/1"


def _duration(obj: Object) -> Lapse:
    start = at(obj, "status", "startTime")
    return Lapse("", start, "", at(obj, "status", "completionTime")) if start else Lapse("")


def _last(obj: Object) -> Lapse:
    then = at(obj, "status", "lastScheduleTime")
    return Lapse("", then) if then else Lapse("<none>")


COLUMNS: Mapping[str, tuple[Cell, ...]] = {
    "cronjobs": (
        NAME,
        Cell("Schedule", "string", Of(_GROUP, "CronJobSpec", "schedule"), text("spec", "schedule")),
        Cell(
            "Timezone",
            "string",
            Of(_GROUP, "CronJobSpec", "timeZone"),
            lambda obj: at(obj, "spec", "timeZone", default="<none>"),
        ),
        Cell(
            "Suspend",
            "boolean",
            Of(_GROUP, "CronJobSpec", "suspend"),
            lambda obj: str(at(obj, "spec", "suspend", default="<unset>")),
        ),
        Cell("Active", "integer", Of(_GROUP, "CronJobStatus", "active"), count("status", "active")),
        Cell("Last Schedule", "string", Of(_GROUP, "CronJobStatus", "lastScheduleTime"), Age(_last)),
        AGE,
        *containers("spec", "jobTemplate", "spec", "template", "spec"),
        selector(Of(_GROUP, "JobSpec", "selector"), "spec", "jobTemplate", "spec", "selector"),
    ),
    "jobs": (
        NAME,
        Cell("Status", "string", "How far the job has come.", _status),
        Cell("Completions", "string", Of(_GROUP, "JobStatus", "succeeded"), _completions),
        Cell("Duration", "string", "How long the job has taken.", Age(_duration)),
        AGE,
        *containers("spec", "template", "spec"),
        selector(Of(_GROUP, "JobSpec", "selector"), "spec", "selector"),
    ),
}
