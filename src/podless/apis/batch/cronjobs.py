"""CronJob. Source: Kubernetes' pkg/apis/batch (v1/defaults, validation) and pkg/registry/batch/cronjob."""

from __future__ import annotations

from podless.apis.batch import jobspecs, schedules
from podless.apis.shared import checks, workloads
from podless.codec.gotext import Named
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, MetadataPolicy
from podless.meta import field
from podless.runtime.jsonobject import Object

_JOB = "spec.jobTemplate.spec"
_POLICIES = ("Allow", "Forbid", "Replace")
_MAX_NAME = 52  # bytes; names of Jobs have 11 more
_TIMED = (
    "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)


class CronJobStrategy(workloads.TemplateStrategy):
    """Strategy of CronJob."""

    metadata = MetadataPolicy(on_update=(0, 1), on_status=(0, 0))

    def get_template(self, obj: Object) -> Object | None:
        template: Object | None = obj["spec"]["jobTemplate"]["spec"]["template"]
        return template

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        super().fill_computed_defaults(version, obj)
        jobspecs.default_failure_policy(obj["spec"]["jobTemplate"]["spec"].get("podFailurePolicy") or {})

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        yield from _validate_spec(obj["spec"], old["spec"] if old is not None else None)
        name = obj["metadata"].get("name") or ""
        if old is None and len(name.encode()) > _MAX_NAME:
            yield field.invalid("metadata.name", name, f"must be no more than {_MAX_NAME} characters")

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        return ()

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        spec = obj["spec"]["jobTemplate"]["spec"]
        warnings = jobspecs.warn_of_job_spec(spec, _JOB) if workloads.may_warn(obj, old) else []
        if old is None:
            return [*workloads.list_name_warnings(obj), *warnings]
        return [*warnings, _TIMED] if "TZ" in obj["spec"]["schedule"] else warnings


def _validate_spec(spec: Object, old: Object | None) -> field.Errors:
    schedule, zone = spec.get("schedule") or "", spec.get("timeZone")
    yield from _validate_schedule(schedule, zone, old) if schedule else [field.required("spec.schedule")]
    yield from checks.validate_nonnegative("spec.startingDeadlineSeconds", spec.get("startingDeadlineSeconds"))
    if zone is not None and (old is None or old.get("timeZone") != zone):
        yield from field.invalid_details("spec.timeZone", Named(zone), schedules.find_zone_faults(zone))
    yield from field.one_of("spec.concurrencyPolicy", spec["concurrencyPolicy"], _POLICIES)
    job, before = spec["jobTemplate"]["spec"], old["jobTemplate"]["spec"] if old is not None else None
    yield from jobspecs.validate_job_spec(job, _JOB, before)
    if job.get("selector") is not None:
        yield field.invalid(f"{_JOB}.selector", job["selector"], "`selector` will be auto-generated")
    if job.get("manualSelector"):
        yield field.not_supported(f"{_JOB}.manualSelector", job["manualSelector"], ("nil", "false"))
    yield from checks.validate_nonnegatives(spec, "spec", ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"))


def _validate_schedule(schedule: str, zone: str | None, old: Object | None) -> field.Errors:
    """Validate a schedule. It may contain TZ or CRON_TZ only if the old one did."""
    if reason := schedules.find_schedule_fault(schedule):
        yield field.invalid("spec.schedule", schedule, reason)
    allowed = old is not None and "TZ" in (old.get("schedule") or "")
    if "TZ" in schedule and not allowed:
        text = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        yield field.invalid("spec.schedule", schedule, text)
    elif "TZ" in schedule and zone is not None:
        text = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
        yield field.invalid("spec.schedule", schedule, text)


STRATEGY = CronJobStrategy()
