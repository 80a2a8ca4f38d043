"""Validates the status of a Job strictly, because external controllers can manage Jobs (spec.managedBy).

Source: Kubernetes' pkg/apis/batch/validation and pkg/registry/batch/job.
"""

from __future__ import annotations

from collections.abc import Iterable

from podless.apis.batch import indexes
from podless.apis.batch.jobspecs import INDEXED
from podless.apis.shared import checks
from podless.apis.shared.checks import immutable_error
from podless.codec.gotext import Literal
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")
_COMPLETE, _FAILED, _FAILING, _MET = "Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"
_TERMINAL = (_FAILED, _COMPLETE, _FAILING)
# conditions that must not be true together, or not (second) without another one; the text is that of the error
_OUTCOMES = (
    ((_COMPLETE, _FAILED), "", "cannot set Complete=True and Failed=true conditions"),
    ((_COMPLETE, _FAILING), "", "cannot set Complete=True and FailureTarget=true conditions"),
)
_CAUSES = (
    ((_FAILED,), _FAILING, "cannot set Failed=True condition without the FailureTarget=true condition"),
    ((_COMPLETE,), _MET, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"),
)


class _JobState:
    """A Job and its true conditions."""

    def __init__(self, obj: Object) -> None:
        self.spec, self.status = obj["spec"], obj.get("status") or {}
        conditions = self.status.get("conditions") or ()
        self.true = {condition.get("type") for condition in each(conditions) if condition.get("status") == "True"}

    @property
    def finished(self) -> bool:
        return _COMPLETE in self.true or _FAILED in self.true


def validate_job_status(obj: Object, old: Object) -> field.Errors:
    """Validate a Job status. Faults are accepted if the old status has them."""
    new, before = _JobState(obj), _JobState(old)
    strict = has("JobManagedBy")  # older releases have no managedBy, so only their own controller writes the status
    yield from checks.validate_nonnegatives(new.status, "status", _COUNTS)
    yield from _validate_uncounted(new)
    if strict:
        yield from _validate_combinations(new, before, _OUTCOMES)
        yield from _validate_times(new, before)
        yield from _validate_combinations(new, before, _CAUSES)
        yield from _validate_finished(new, before)
        yield from _validate_indexes(new, before)
        yield from _validate_pods(new, before)
    yield from _validate_conditions(new, strict)
    if strict:
        yield from _validate_transitions(new, before)
    yield from _validate_success_criteria(new, before)


def _invalid_conditions(text: str) -> FieldError:
    """Return the error for an invalid combination of conditions, without their values."""
    return field.invalid("status.conditions", Literal(text), "")


def _has_changed(new: _JobState, old: _JobState, *names: str) -> bool:
    return any(new.status.get(name) != old.status.get(name) for name in names)


def _conditions_changed(new: _JobState, old: _JobState, *conditions: str) -> bool:
    return any((condition in new.true) != (condition in old.true) for condition in each(conditions))


def _validate_uncounted(new: _JobState) -> field.Errors:
    uncounted_terminated_pods, seen = new.status.get("uncountedTerminatedPods") or {}, set[str]()
    for name in ("succeeded", "failed"):
        for uid, at in checks.list_items(uncounted_terminated_pods, name, "status.uncountedTerminatedPods"):
            if not uid:
                yield field.invalid(at, uid, "must not be empty")
            else:
                yield from checks.validate_unique(at, uid, seen)


def _validate_combinations(
    new: _JobState, old: _JobState, rows: Iterable[tuple[tuple[str, ...], str, str]]
) -> field.Errors:
    for conditions, needed, text in rows:
        is_set = new.true.issuperset(conditions) and needed not in new.true
        if is_set and _conditions_changed(new, old, *conditions):
            yield _invalid_conditions(text)


def _validate_times(new: _JobState, old: _JobState) -> field.Errors:
    path, ended, started = "status.completionTime", new.status.get("completionTime"), new.status.get("startTime")
    if _conditions_changed(new, old, _COMPLETE) or _has_changed(new, old, "completionTime"):
        if ended is not None and _COMPLETE not in new.true:
            yield field.invalid(path, ended, "cannot set completionTime when there is no Complete=True condition")
        if ended is None and _COMPLETE in new.true:
            yield field.required(path, "completionTime is required for Complete jobs")
    # both have the same format, so they can be compared as strings
    if _has_changed(new, old, "startTime", "completionTime") and started and ended and ended < started:
        yield field.invalid(path, ended, "must be equal to or after `startTime`")


def _validate_finished(new: _JobState, old: _JobState) -> field.Errors:
    if not new.finished:
        return
    status, turned = new.status, not old.finished
    active = status.get("active") or 0
    if active > 0 and (turned or _has_changed(new, old, "active")):
        yield field.invalid("status.active", active, "active>0 is invalid for finished job")
    if status.get("startTime") is None and (turned or _has_changed(new, old, "startTime")):
        yield field.required("status.startTime", "startTime is required for finished job")
    uncounted = status.get("uncountedTerminatedPods") or {}
    has_uncounted = bool(uncounted.get("succeeded") or uncounted.get("failed"))
    if has_uncounted and (turned or _has_changed(new, old, "uncountedTerminatedPods")):
        shown_pods = {"Succeeded": uncounted.get("succeeded"), "Failed": uncounted.get("failed")}
        yield field.invalid("status.uncountedTerminatedPods", shown_pods, "must be empty for finished job")


def _validate_indexes(new: _JobState, old: _JobState) -> field.Errors:
    spec, done, failed = new.spec, new.status.get("completedIndexes") or "", new.status.get("failedIndexes")
    completions, limit = spec.get("completions"), spec.get("backoffLimitPerIndex")
    done_differs, failed_differs = _has_changed(new, old, "completedIndexes"), _has_changed(new, old, "failedIndexes")
    done_path, failed_path = "status.completedIndexes", "status.failedIndexes"
    if done_differs and completions is not None and (reason := indexes.find_index_fault(done, completions)):
        yield field.invalid(done_path, done, f"error parsing completedIndexes: {reason}")
    is_limited = failed_differs and limit is not None
    if is_limited and completions is not None and (reason := indexes.find_index_fault(failed or "", completions)):
        yield field.invalid(failed_path, failed, f"error parsing failedIndexes: {reason}")
    if done_differs and done and spec.get("completionMode") != INDEXED:
        yield field.invalid(done_path, done, "cannot set non-empty completedIndexes when non-indexed completion mode")
    if failed is None:
        return
    if failed_differs and limit is None:
        yield field.invalid(failed_path, failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
    if completions is not None and (done_differs or failed_differs):
        overlap = indexes.find_overlap(done, failed, completions)
        if overlap is not None:
            yield field.invalid(failed_path, failed, f"failedIndexes and completedIndexes overlap at index: {overlap}")


def _validate_pods(new: _JobState, old: _JobState) -> field.Errors:
    terminating, ready, active = (new.status.get(name) or 0 for name in ("terminating", "ready", "active"))
    if terminating > 0 and new.finished and (not old.finished or _has_changed(new, old, "terminating")):
        yield field.invalid("status.terminating", terminating, "terminating>0 is invalid for finished job")
    if new.status.get("ready") is not None and ready > active and _has_changed(new, old, "ready", "active"):
        yield field.invalid("status.ready", ready, "cannot set more ready pods than active")


def _validate_conditions(new: _JobState, strict: bool) -> field.Errors:
    is_met = _MET in new.true and not strict
    if is_met and new.spec.get("completionMode") != INDEXED:
        yield _invalid_conditions("cannot set SuccessCriteriaMet to NonIndexed Job")
    if {_MET, _FAILED} <= new.true:
        yield _invalid_conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions")
    if {_MET, _FAILING} <= new.true:
        yield _invalid_conditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
    if is_met and new.spec.get("successPolicy") is None:
        yield _invalid_conditions("cannot set SuccessCriteriaMet=True for Job without SuccessPolicy")
    if new.spec.get("successPolicy") is not None and _COMPLETE in new.true and _MET not in new.true:
        yield _invalid_conditions("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")


def _validate_transitions(new: _JobState, old: _JobState) -> field.Errors:
    spec, status, before = new.spec, new.status, old.status
    for condition in _TERMINAL:
        if condition in old.true - new.true:
            yield _invalid_conditions(f"cannot disable the terminal {condition}=True condition")
    elastic = spec.get("completionMode") == INDEXED and spec.get("completions") == spec.get("parallelism")
    for name in ("failed", "succeeded"):
        count = status.get(name) or 0
        if count < (before.get(name) or 0) and not (elastic and name == "succeeded"):
            yield field.invalid(f"status.{name}", count, f"cannot decrease the {name} counter")
    ended, ended_before = status.get("completionTime"), before.get("completionTime")
    if ended is not None and ended_before is not None and ended != ended_before:
        yield immutable_error("status.completionTime", ended)
    if before.get("startTime") is None or not _has_changed(new, old, "startTime") or spec.get("suspend"):
        return
    if has("StartTimesOfJobs"):
        text = "field is immutable for unsuspended job once set"
        yield field.invalid("status.startTime", status.get("startTime"), text)
    else:
        yield field.required("status.startTime", "startTime cannot be removed for unsuspended job")


def _validate_success_criteria(new: _JobState, old: _JobState) -> field.Errors:
    if _MET in old.true - new.true:
        yield _invalid_conditions("cannot disable the SuccessCriteriaMet=True condition")
    if _COMPLETE in old.true and _MET in new.true - old.true:
        yield _invalid_conditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")
