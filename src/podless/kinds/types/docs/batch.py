"""Texts of batch: Jobs and CronJobs."""

from __future__ import annotations

from podless.kinds.types.docs.common import PROBED

_INDEXES = "as numbers and ranges such as 1,3-5"

TEXTS: dict[str, dict[str, str]] = {
    "PodFailurePolicyOnExitCodesRequirement": {
        "": "Exit codes of containers that a rule is about.",
        "containerName": "The container; all of them where nothing is given.",
        "operator": "In or NotIn: whether an exit code other than 0 is one of the values, or none of them.",
        "values": "The exit codes in ascending order; 0 is not allowed with In.",
    },
    "PodFailurePolicyOnPodConditionsPattern": {
        "": "A condition of a pod that a rule is about.",
        "status": "The status that the condition must have; True where nothing is given.",
        "type": "The condition's type, such as DisruptionTarget.",
    },
    "PodFailurePolicyRule": {
        "": "What becomes of a job when a pod fails in a certain way.",
        "action": "FailJob, FailIndex, Ignore to replace the pod without counting it, or Count as without the rule.",
        "onExitCodes": "The exit codes for which the rule is. Not with onPodConditions.",
        "onPodConditions": "Conditions of the pod, of which one must fit.",
    },
    "PodFailurePolicy": {
        "": "What becomes of a job when pods fail.",
        "rules": "The rules, at most 20; the first that fits wins.",
    },
    "SuccessPolicyRule": {
        "": "When an indexed job has succeeded; both must hold where both are given.",
        "succeededCount": "How many indexes must succeed, of succeededIndexes where these are given.",
        "succeededIndexes": f"Which indexes must succeed, {_INDEXES}.",
    },
    "SuccessPolicy": {
        "": "When an indexed job has succeeded before all its indexes have.",
        "rules": "The rules, at most 20, of which one must hold. Pods that still run are then ended.",
    },
    "JobSpec": {
        "": "What is to be done, how often and how many at a time.",
        "activeDeadlineSeconds": "After how many seconds from its start the job fails, whatever its pods do.",
        "backoffLimit": "After how many failed pods the job fails; 6 where nothing is given.",
        "backoffLimitPerIndex": "After how many failed pods an index fails; only for indexed jobs.",
        "completionMode": "NonIndexed, or Indexed to give each pod a number from 0 to completions - 1; "
        "NonIndexed where nothing is given.",
        "completions": "How many pods must succeed; where nothing is given, one is enough.",
        "managedBy": "Who looks after the job; the cluster's own controller where nothing is given. It never changes.",
        "manualSelector": "Whether the user chooses selector and labels, and sees to it that they are unique.",
        "maxFailedIndexes": "How many indexes may fail before the whole job does; only with backoffLimitPerIndex.",
        "parallelism": "How many pods run at a time; 1 where nothing is given.",
        "podFailurePolicy": "What becomes of the job when a pod fails in certain ways. Needs restartPolicy Never.",
        "podReplacementPolicy": "When a new pod is made: TerminatingOrFailed as soon as the old one begins to end, "
        "Failed when it has ended.",
        "selector": "The labels of the pods. Filled in, unless manualSelector is true.",
        "successPolicy": "When the job has succeeded before all its indexes have; only for indexed jobs.",
        "suspend": "Whether the job waits; its running pods are ended. false where nothing is given.",
        "template": "What the pods are like; their restart policy is Never or OnFailure.",
        "ttlSecondsAfterFinished": "How many seconds after its end the job is deleted; never where nothing is given.",
    },
    "JobTemplateSpec": {
        "": "What jobs are made from.",
        "metadata": "Labels and annotations of the jobs.",
        "spec": "What is to be done, how often and how many at a time.",
    },
    "CronJobSpec": {
        "": "When jobs are made, and what they are like.",
        "concurrencyPolicy": "What is done while a job still runs: Allow another, Forbid it, or Replace the old.",
        "failedJobsHistoryLimit": "How many failed jobs are kept; 1 where nothing is given.",
        "jobTemplate": "What the jobs are like.",
        "schedule": "When, as cron writes it, such as 0 3 * * * for each day at three.",
        "startingDeadlineSeconds": "How many seconds late a job may still start; any where nothing is given.",
        "successfulJobsHistoryLimit": "How many successful jobs are kept; 3 where nothing is given.",
        "suspend": "Whether no more jobs start; running ones go on.",
        "timeZone": "The time zone of the schedule, such as Europe/Berlin; the controller's where nothing is given.",
    },
    "CronJobStatus": {
        "": "What a CronJob has done.",
        "active": "Jobs that are running.",
        "lastScheduleTime": "When a job was last due and made.",
        "lastSuccessfulTime": "When a job last ended well.",
    },
    "CronJob": {
        "": "Makes a job again and again, by a schedule.",
        "spec": "When jobs are made, and what they are like.",
        "status": "What the CronJob has done.",
    },
    "JobCondition": {
        "": "One thing that is so, or is not so, of a job.",
        **PROBED,
        "type": "What the condition is about: Complete, Failed, Suspended, FailureTarget or SuccessCriteriaMet.",
    },
    "UncountedTerminatedPods": {
        "": "Pods that have ended and are not in the job's counts yet.",
        "failed": "UIDs of those that failed.",
        "succeeded": "UIDs of those that succeeded.",
    },
    "JobStatus": {
        "": "How far a job is.",
        "active": "How many pods are waiting or running, and not being deleted.",
        "completedIndexes": f"Indexes that have succeeded, {_INDEXES}.",
        "completionTime": "When the job was done; only for success.",
        "conditions": "Whether the job is complete, failed or suspended.",
        "failed": "How many pods have failed.",
        "failedIndexes": f"Indexes that have failed, {_INDEXES}.",
        "ready": "How many of the active pods are ready.",
        "startTime": "When the job started, or went on after it was suspended.",
        "succeeded": "How many pods have succeeded.",
        "terminating": "How many pods are being deleted and still run.",
        "uncountedTerminatedPods": "Pods that have ended and are not in the counts yet.",
    },
    "Job": {
        "": "Runs pods until enough of them have succeeded.",
        "spec": "What is to be done, how often and how many at a time.",
        "status": "How far the job is.",
    },
}
