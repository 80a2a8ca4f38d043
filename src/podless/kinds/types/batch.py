"""The kinds of batch/v1."""

from __future__ import annotations

from podless.kinds.types.core import OBJECT_REFERENCE
from podless.kinds.types.podspecs import POD_TEMPLATE_SPEC
from podless.meta.gotypes import BOOL, INT32, INT64, STRING, TIME, UID, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import LABEL_SELECTOR, OBJECT_META, resource

POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT = Struct(
    "PodFailurePolicyOnExitCodesRequirement",
    (
        Field("containerName", STRING, 1, pointer=True),
        Field("operator", String("v1.PodFailurePolicyOnExitCodesOperator", ("In", "NotIn")), 2, always=True),
        Field("values", ListOf(INT32), 3, always=True, keys=()),
    ),
)

POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN = Struct(
    "PodFailurePolicyOnPodConditionsPattern",
    (
        Field("type", String("v1.PodConditionType"), 1, always=True),
        Field("status", String("v1.ConditionStatus"), 2, always=True, required=False),
    ),
)

POD_FAILURE_POLICY_RULE = Struct(
    "PodFailurePolicyRule",
    (
        Field(
            "action", String("v1.PodFailurePolicyAction", ("Count", "FailIndex", "FailJob", "Ignore")), 1, always=True
        ),
        Field("onExitCodes", POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT, 2, pointer=True),
        Field("onPodConditions", ListOf(POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN), 3),
    ),
)

POD_FAILURE_POLICY = Struct("PodFailurePolicy", (Field("rules", ListOf(POD_FAILURE_POLICY_RULE), 1, always=True),))

SUCCESS_POLICY_RULE = Struct(
    "SuccessPolicyRule",
    (Field("succeededIndexes", STRING, 1, pointer=True), Field("succeededCount", INT32, 2, pointer=True)),
)

SUCCESS_POLICY = Struct("SuccessPolicy", (Field("rules", ListOf(SUCCESS_POLICY_RULE), 1, always=True),))

JOB_SPEC = Struct(
    "JobSpec",
    (
        Field("parallelism", INT32, 1, pointer=True),
        Field("completions", INT32, 2, pointer=True),
        Field("activeDeadlineSeconds", INT64, 3, pointer=True),
        Field("podFailurePolicy", POD_FAILURE_POLICY, 11, pointer=True),
        Field("successPolicy", SUCCESS_POLICY, 16, pointer=True),
        Field("backoffLimit", INT32, 7, pointer=True),
        Field("backoffLimitPerIndex", INT32, 12, pointer=True),
        Field("maxFailedIndexes", INT32, 13, pointer=True),
        Field("selector", LABEL_SELECTOR, 4, pointer=True),
        Field("manualSelector", BOOL, 5, pointer=True),
        Field("template", POD_TEMPLATE_SPEC, 6, always=True),
        Field("ttlSecondsAfterFinished", INT32, 8, pointer=True),
        Field("completionMode", String("v1.CompletionMode", ("Indexed", "NonIndexed")), 9, pointer=True),
        Field("suspend", BOOL, 10, pointer=True),
        Field(
            "podReplacementPolicy",
            String("v1.PodReplacementPolicy", ("Failed", "TerminatingOrFailed")),
            14,
            pointer=True,
        ),
        Field("managedBy", STRING, 15, pointer=True),
    ),
)

JOB_TEMPLATE_SPEC = Struct("JobTemplateSpec", (Field("metadata", OBJECT_META, 1), Field("spec", JOB_SPEC, 2)))

CRON_JOB_SPEC = Struct(
    "CronJobSpec",
    (
        Field("schedule", STRING, 1, always=True),
        Field("timeZone", STRING, 8, pointer=True),
        Field("startingDeadlineSeconds", INT64, 2, pointer=True),
        Field("concurrencyPolicy", String("v1.ConcurrencyPolicy", ("Allow", "Forbid", "Replace")), 3, fill="Allow"),
        Field("suspend", BOOL, 4, pointer=True, fill=False),
        Field("jobTemplate", JOB_TEMPLATE_SPEC, 5, always=True),
        Field("successfulJobsHistoryLimit", INT32, 6, pointer=True, fill=3),
        Field("failedJobsHistoryLimit", INT32, 7, pointer=True, fill=1),
    ),
)

CRON_JOB_STATUS = Struct(
    "CronJobStatus",
    (
        Field("active", ListOf(OBJECT_REFERENCE), 1),
        Field("lastScheduleTime", TIME, 4, pointer=True),
        Field("lastSuccessfulTime", TIME, 5, pointer=True),
    ),
)

CRON_JOB = resource("CronJob", Field("spec", CRON_JOB_SPEC, 2, required=True), Field("status", CRON_JOB_STATUS, 3))

JOB_CONDITION = Struct(
    "JobCondition",
    (
        Field("type", String("v1.JobConditionType"), 1, always=True),
        Field("status", String("v1.ConditionStatus"), 2, always=True),
        Field("lastProbeTime", TIME, 3, always=True, required=False),
        Field("lastTransitionTime", TIME, 4, always=True, required=False),
        Field("reason", STRING, 5),
        Field("message", STRING, 6),
    ),
)

UNCOUNTED_TERMINATED_PODS = Struct(
    "UncountedTerminatedPods", (Field("succeeded", ListOf(UID), 1, keys=()), Field("failed", ListOf(UID), 2, keys=()))
)

JOB_STATUS = Struct(
    "JobStatus",
    (
        Field("conditions", ListOf(JOB_CONDITION), 1, patch="merge", merge="type"),
        Field("startTime", TIME, 2, pointer=True),
        Field("completionTime", TIME, 3, pointer=True),
        Field("active", INT32, 4),
        Field("succeeded", INT32, 5),
        Field("failed", INT32, 6),
        Field("terminating", INT32, 11, pointer=True),
        Field("completedIndexes", STRING, 7),
        Field("failedIndexes", STRING, 10, pointer=True),
        Field("uncountedTerminatedPods", UNCOUNTED_TERMINATED_PODS, 8, pointer=True),
        Field("ready", INT32, 9, pointer=True),
    ),
)

JOB = resource("Job", Field("spec", JOB_SPEC, 2), Field("status", JOB_STATUS, 3))
