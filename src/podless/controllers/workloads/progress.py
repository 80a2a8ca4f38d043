"""The conditions of Deployments.

Source: pkg/controller/deployment (progress.go, sync.go) and its util of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Mapping

from podless.controllers.workloads import pods
from podless.runtime import clock
from podless.runtime.jsonobject import Object

_TYPE = "Progressing"
_AVAILABLE, _UPDATED, _OVERDUE = "NewReplicaSetAvailable", "ReplicaSetUpdated", "ProgressDeadlineExceeded"
_PAUSED, _RESUMED = "DeploymentPaused", "DeploymentResumed"
_NO_DEADLINE = (1 << 31) - 1


def read_conditions(obj: Object) -> list[Object]:
    """Return the conditions of a Deployment."""
    return (obj.get("status") or {}).get("conditions") or []


def has_deadline(obj: Object) -> bool:
    """Return whether a Deployment has a progress deadline; one without has no condition Progressing."""
    return bool(obj["spec"].get("progressDeadlineSeconds", _NO_DEADLINE) != _NO_DEADLINE)


def set_condition(conditions: list[Object], kind: str, status: str, reason: str, message: str) -> list[Object]:
    """Return the conditions with a changed one at the end. With the same status and reason, it stays unchanged."""
    before = find_condition(conditions, kind)
    if before.get("status") == status and before.get("reason") == reason:
        return conditions
    return _make_condition(conditions, kind, status, reason, message)


def find_condition(conditions: list[Object], kind: str) -> Object:
    """Return the condition of a type; an empty object if there is none."""
    return next((condition for condition in conditions if condition["type"] == kind), {})


def _make_condition(conditions: list[Object], kind: str, status: str, reason: str, message: str) -> list[Object]:
    before, now = find_condition(conditions, kind), clock.now()
    since = before["lastTransitionTime"] if before.get("status") == status else now
    condition_now = {"type": kind, "status": status, "lastUpdateTime": now, "lastTransitionTime": since}
    return [
        *(condition for condition in conditions if condition["type"] != kind),
        {**condition_now, "reason": reason, "message": message},
    ]


def update_progress(
    conditions: list[Object], obj: Object, counts: Mapping[str, int], name: str
) -> tuple[list[Object], float]:
    """Return the conditions with the present Progressing, and the seconds until the deadline (0: none).

    counts: the new numbers of the status. name: of the new ReplicaSet, "" if there is none.
    """
    if not has_deadline(obj):
        return [condition for condition in conditions if condition["type"] != _TYPE], 0
    reason = find_condition(conditions, _TYPE).get("reason")
    if obj["spec"].get("paused"):
        if reason != _OVERDUE:
            conditions = set_condition(conditions, _TYPE, "Unknown", _PAUSED, "Deployment is paused")
        return conditions, 0
    if reason == _PAUSED:
        conditions = set_condition(conditions, _TYPE, "Unknown", _RESUMED, "Deployment is resumed")
    if reason == _AVAILABLE and counts["replicas"] == counts["updatedReplicas"]:
        return conditions, 0  # nothing is rolled out, so pods that come and go are no progress
    subject = f'ReplicaSet "{name}"' if name else f'Deployment "{obj["metadata"]["name"]}"'
    replicas = obj["spec"]["replicas"]
    if all(counts[field_name] == replicas for field_name in ("replicas", "updatedReplicas", "availableReplicas")):
        return set_condition(conditions, _TYPE, "True", _AVAILABLE, f"{subject} has successfully progressed."), 0
    if _has_progress(obj.get("status") or {}, counts):
        return _make_condition(conditions, _TYPE, "True", _UPDATED, f"{subject} is progressing."), _seconds_left(
            conditions, obj
        )
    seconds_left = _seconds_left(conditions, obj)
    if reason == _OVERDUE or (reason != _AVAILABLE and seconds_left <= 0):
        return set_condition(conditions, _TYPE, "False", _OVERDUE, f"{subject} has timed out progressing."), 0
    return conditions, max(seconds_left, 0)


def _has_progress(before: Object, counts: Mapping[str, int]) -> bool:
    """Return whether there are more new, ready or available pods, or fewer old ones, than before."""
    grown = ("updatedReplicas", "readyReplicas", "availableReplicas")
    outdated = (before.get("replicas") or 0) - (before.get("updatedReplicas") or 0)
    return counts["replicas"] - counts["updatedReplicas"] < outdated or any(
        counts[name] > (before.get(name) or 0) for name in grown
    )


def _seconds_left(conditions: list[Object], obj: Object) -> float:
    """Return the seconds until the progress deadline."""
    since = find_condition(conditions, _TYPE).get("lastUpdateTime")
    from_ = pods.seconds_since_epoch(since) if since else clock.time()
    return float(from_ + obj["spec"]["progressDeadlineSeconds"] - clock.time())
