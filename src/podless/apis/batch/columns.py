"""Printer columns of batch."""

from __future__ import annotations

from podless.apis.shared.columns import (
    AGE,
    NAME,
    NONE,
    UNSET,
    Age,
    Columns,
    Lapse,
    Object,
    at,
    boolean,
    containers,
    count,
    integer,
    selector,
    string,
    text,
)
from podless.runtime.meter import each

_STATES = ("Complete", "Failed")
_LATER_STATES = ("Suspended", "FailureTarget", "SuccessCriteriaMet")


def _job_status(obj: Object) -> str:
    true_types = {
        condition["type"]
        for condition in each(at(obj, "status", "conditions", default=()))
        if condition["status"] == "True"
    }
    for name in _STATES:
        if name in true_types:
            return name
    if at(obj, "metadata", "deletionTimestamp"):
        return "Terminating"
    return next((name for name in _LATER_STATES if name in true_types), "Running")


def _read_completions(obj: Object) -> str:
    succeeded, completions = at(obj, "status", "succeeded", default=0), at(obj, "spec", "completions", default=None)
    if completions is not None:
        return f"{succeeded}/{completions}"
    side = at(obj, "spec", "parallelism", default=0)
    return f"{succeeded}/1 of {side}" if side > 1 else f"{succeeded}/1"


def _read_duration(obj: Object) -> Lapse:
    start = at(obj, "status", "startTime")
    return Lapse("", start, "", at(obj, "status", "completionTime")) if start else Lapse("")


def _last_schedule(obj: Object) -> Lapse:
    then = at(obj, "status", "lastScheduleTime")
    return Lapse("", then) if then else Lapse(NONE)


COLUMNS: Columns = {
    "cronjobs": (
        NAME,
        string("Schedule", "CronJobSpec.schedule"),
        string("Timezone", "CronJobSpec.timeZone", text("spec.timeZone", NONE)),
        boolean("Suspend", "CronJobSpec.suspend", text("spec.suspend", UNSET)),
        integer("Active", "CronJobStatus.active", count("status.active")),
        string("Last Schedule", "CronJobStatus.lastScheduleTime", Age(_last_schedule)),
        AGE,
        *containers("spec.jobTemplate.spec.template.spec"),
        selector("JobSpec.selector", "spec.jobTemplate.spec.selector"),
    ),
    "jobs": (
        NAME,
        string("Status", "Status of the job, such as Running or Complete.", _job_status),
        string("Completions", "JobStatus.succeeded", _read_completions),
        string("Duration", "Duration of the job.", Age(_read_duration)),
        AGE,
        *containers("spec.template.spec"),
        selector("JobSpec.selector"),
    ),
}
