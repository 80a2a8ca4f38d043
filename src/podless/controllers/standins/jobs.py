"""Creates the pods of Jobs until enough of them have succeeded."""

from __future__ import annotations

import math

from podless.apis.batch.group import JOBS
from podless.apis.core.group import PODS
from podless.controllers.standins import pods, requests
from podless.controllers.standins.owned import OwnerController, make_pod
from podless.controllers.write import list_conditions, with_conditions
from podless.runtime import clock
from podless.runtime.jsonobject import Object

_INDEX = "batch.kubernetes.io/job-completion-index"
_SELF = "kubernetes.io/job-controller"  # in spec.managedBy
_VARIABLE, _PATH = "JOB_COMPLETION_INDEX", f"metadata.labels['{_INDEX}']"
_ENDS = ("Complete", "Failed")
# conditions of the two ends, interim and final, and their reasons and messages
_SUCCESS, _FAILURE = ("SuccessCriteriaMet", "Complete"), ("FailureTarget", "Failed")
_REACHED = "CompletionsReached", "Reached expected number of succeeded pods"
_EXCEEDED = "BackoffLimitExceeded", "Job has reached the specified backoff limit"
_DEADLINE = "DeadlineExceeded", "Job was active longer than specified deadline"


class JobController(OwnerController):
    """Creates as many pods as may run in parallel, until the Job is complete or has failed too often."""

    name = "job-controller"
    owners, dependent_kind = JOBS, PODS

    async def reconcile_owner(self, key: str, obj: Object, owned_pods: list[Object]) -> None:
        spec, status = obj["spec"], obj.get("status") or {}
        if spec.get("managedBy", _SELF) != _SELF:
            return
        conditions = {condition["type"]: condition for condition in list_conditions(obj) if _is_true(condition)}
        if end := next((conditions[name] for name in _ENDS if name in conditions), None):
            await self._delete_expired(key, obj, end)
            return
        active = [pod for pod in owned_pods if pods.is_active(pod)]
        succeeded = [pod for pod in owned_pods if pods.get_phase(pod) == "Succeeded"]
        failed = max(sum(pods.get_phase(pod) == "Failed" for pod in owned_pods), status.get("failed") or 0)
        done = _completed_indexes(succeeded) if _is_indexed(spec) else succeeded
        ended = max(len(done), status.get("succeeded") or 0)
        suspended = "Suspended" in conditions
        if spec.get("suspend"):
            await self._delete_active(active)
            changed = _job_conditions(obj, ("Suspended", True, "JobSuspended", "Job suspended"))
            await self._report_status(obj, {"active": None, "ready": 0, "startTime": None, "conditions": changed})
            if not suspended:
                await self.record_event(obj, "Suspended", "Job suspended")
            return
        counts: Object = {"succeeded": ended or None, "failed": failed or None}
        if status.get("startTime") is None:
            counts["startTime"] = clock.now()
        if suspended:
            counts["conditions"] = _job_conditions(obj, ("Suspended", False, "JobResumed", "Job resumed"))
            await self.record_event(obj, "Resumed", "Job resumed")
        if _is_indexed(spec):
            counts["completedIndexes"] = _format_indexes(sorted(_completed_indexes(succeeded))) or None
        completions = spec.get("completions")
        finished = ended >= completions if completions is not None else bool(ended) and not active
        started_at = counts.get("startTime") or status.get("startTime")
        seconds_left = _seconds_left(spec.get("activeDeadlineSeconds"), started_at)
        if finished:
            await self._finish_job(obj, active, counts | {"completionTime": clock.now()}, _REACHED, *_SUCCESS)
            await self.record_event(obj, "Completed", "Job completed")
            return
        if failed > spec["backoffLimit"] or seconds_left <= 0:
            reason = _EXCEEDED if failed > spec["backoffLimit"] else _DEADLINE
            await self._finish_job(obj, active, counts | {"failed": failed + len(active) or None}, reason, *_FAILURE)
            await self.record_event(obj, *reason, warning=True)
            return
        if seconds_left < math.inf:
            self.requeue_after(key, seconds_left)
        await self._create_pods(obj, owned_pods, active, ended)
        active = [pod for pod in self._dependents.get(obj["metadata"]["uid"], {}).values() if pods.is_active(pod)]
        counts |= {"active": len(active) or None, "ready": sum(map(pods.is_ready, active))}
        await self._report_status(obj, counts)

    async def _finish_job(
        self, obj: Object, active: list[Object], counts: Object, reason: tuple[str, str], first: str, last: str
    ) -> None:
        """Write the interim condition and the final one, which have the same reason and message."""
        await self._delete_active(active)
        counts |= {"active": None, "ready": 0}
        counts["conditions"] = _job_conditions(obj, (first, True, *reason), (last, True, *reason))
        await self._report_status(obj, counts)

    async def _report_status(self, obj: Object, counts: Object) -> None:
        dependents = self._dependents.get(obj["metadata"]["uid"], {}).values()
        counts |= {"terminating": pods.count_terminating(dependents), "uncountedTerminatedPods": {}}
        await requests.report_status(self.api, JOBS, obj, counts)

    async def _delete_expired(self, key: str, obj: Object, end: Object) -> None:
        """Delete a finished Job after its ttlSecondsAfterFinished."""
        seconds_left = _seconds_left(obj["spec"].get("ttlSecondsAfterFinished"), end["lastTransitionTime"])
        if seconds_left <= 0:
            await requests.delete_object(self.api, JOBS, obj, propagationPolicy="Foreground")
        elif seconds_left < math.inf:
            self.requeue_after(key, seconds_left)

    async def _create_pods(self, obj: Object, owned_pods: list[Object], active: list[Object], succeeded: int) -> None:
        spec, name = obj["spec"], obj["metadata"]["name"]
        completions, room = spec.get("completions"), (spec.get("parallelism") or 0) - len(active)
        if completions is None:
            room = 0 if succeeded else room
        else:
            room = min(room, completions - succeeded - len(active))
        if room < 0:
            await self._delete_active(active[room:])
        used = _completed_indexes([*active, *(pod for pod in owned_pods if pods.get_phase(pod) == "Succeeded")])
        free = (index for index in range(completions or 0) if index not in used)
        for _ in range(room):
            index = str(next(free)) if _is_indexed(spec) else ""
            marks = {_INDEX: index} if index else {}
            pod = make_pod(spec["template"], marks, marks, generateName=f"{name}-{index}-" if index else f"{name}-")
            if index:
                for field_name in ("containers", "initContainers"):
                    if pod["spec"].get(field_name):
                        pod["spec"][field_name] = list(map(_with_index, pod["spec"][field_name]))
                pod["spec"].setdefault("hostname", f"{name}-{index}")
            await self.create_owned(obj, pod)

    async def _delete_active(self, active: list[Object]) -> None:
        for pod in active:
            await self.delete_owned(pod)


def _seconds_left(seconds: int | None, since: str | None) -> float:
    """Return how many of these seconds are left; infinity without a limit or a begin."""
    if seconds is None or not since:
        return math.inf
    return pods.seconds_since_epoch(since) + seconds - clock.time()


def _is_true(condition: Object) -> bool:
    return bool(condition["status"] == "True")


def _job_conditions(obj: Object, *changes: tuple[str, bool, str, str]) -> list[Object]:
    return [{**item, "lastProbeTime": item["lastTransitionTime"]} for item in with_conditions(obj, *changes)]


def _with_index(container: Object) -> Object:
    """Return a container that sees the index of its pod, unless it has another variable of that name."""
    env = container.get("env") or []
    if any(variable["name"] == _VARIABLE for variable in env):
        return container
    return {**container, "env": [*env, {"name": _VARIABLE, "valueFrom": {"fieldRef": {"fieldPath": _PATH}}}]}


def _is_indexed(spec: Object) -> bool:
    return spec.get("completionMode") == "Indexed"


def _completed_indexes(owned_pods: list[Object]) -> set[int]:
    indexes = ((pod["metadata"].get("annotations") or {}).get(_INDEX) or "" for pod in owned_pods)
    return {int(text) for text in indexes if text.isascii() and text.isdigit()}


def _format_indexes(indexes: list[int]) -> str:
    """Format indexes as in a Job's status: 0-2,5."""
    spans: list[list[int]] = []
    for index in indexes:
        if spans and spans[-1][1] == index - 1:
            spans[-1][1] = index
        else:
            spans.append([index, index])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)
