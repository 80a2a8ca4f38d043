"""Cells of the printer columns of batch."""

from __future__ import annotations

from podless.apis.shared.columns import NONE, Lapse, Object, at
from podless.runtime.meter import each

_STATES = ("Complete", "Failed")
_LATER_STATES = ("Suspended", "FailureTarget", "SuccessCriteriaMet")


def job_status(obj: Object) -> str:
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


def read_completions(obj: Object) -> str:
    succeeded, completions = at(obj, "status", "succeeded", default=0), at(obj, "spec", "completions", default=None)
    if completions is not None:
        return f"{succeeded}/{completions}"
    side = at(obj, "spec", "parallelism", default=0)
    return f"{succeeded}/1 of {side}" if side > 1 else f"{succeeded}/1"


def read_duration(obj: Object) -> Lapse:
    start = at(obj, "status", "startTime")
    return Lapse("", start, "", at(obj, "status", "completionTime")) if start else Lapse("")


def last_schedule(obj: Object) -> Lapse:
    then = at(obj, "status", "lastScheduleTime")
    return Lapse("", then) if then else Lapse(NONE)
