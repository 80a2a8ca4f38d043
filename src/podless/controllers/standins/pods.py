"""The state of pods: phase, readiness, availability."""

from __future__ import annotations

import time
from calendar import timegm
from collections.abc import Iterable

from podless.controllers.write import find_condition, list_conditions
from podless.runtime import clock
from podless.runtime.jsonobject import Object

REVISION = "controller-revision-hash"  # label with the revision of a StatefulSet or DaemonSet
_ENDED = ("Succeeded", "Failed")
_FORM = "%Y-%m-%dT%H:%M:%SZ"


def get_phase(pod: Object) -> str:
    """Return the phase of a pod (default: Pending)."""
    phase: str = (pod.get("status") or {}).get("phase") or "Pending"
    return phase


def get_revision(pod: Object) -> str:
    """Return the revision of the StatefulSet or DaemonSet that a pod was made from, or ""."""
    revision: str = (pod["metadata"].get("labels") or {}).get(REVISION) or ""
    return revision


def is_terminating(pod: Object) -> bool:
    """Return whether the pod is being deleted."""
    return "deletionTimestamp" in pod["metadata"]


def is_ended(pod: Object) -> bool:
    """Return whether all containers of the pod have ended for good."""
    return get_phase(pod) in _ENDED


def is_active(pod: Object) -> bool:
    """Return whether the pod is neither finished nor being deleted."""
    return not is_terminating(pod) and not is_ended(pod)


def count_terminating(pods: Iterable[Object]) -> int:
    """Return how many pods are being deleted and have not finished."""
    return sum(is_terminating(pod) and not is_ended(pod) for pod in pods)


def is_ready(pod: Object) -> bool:
    """Return whether the pod has the condition Ready."""
    return find_condition(list_conditions(pod), "Ready").get("status") == "True"


def seconds_until_available(pod: Object, seconds: int) -> float:
    """Return the seconds until the pod has been ready for `seconds`; negative if it is not ready."""
    if not is_ready(pod):
        return -1.0
    since = find_condition(list_conditions(pod), "Ready").get("lastTransitionTime")
    if not seconds or not since:
        return 0.0
    return max(0.0, seconds_since_epoch(since) + seconds - clock.time())


def seconds_since_epoch(text: str) -> int:
    """Return a time of an object in seconds since 1970."""
    return timegm(time.strptime(text, _FORM))


def count_ready(pods: list[Object], seconds: int) -> tuple[int, int, float]:
    """Return the number of ready pods, of available pods, and the seconds until the next check (0: never)."""
    waits = [seconds_until_available(pod, seconds) for pod in pods]
    rests = [wait for wait in waits if wait > 0]
    return sum(wait >= 0 for wait in waits), waits.count(0.0), min(rests, default=0.0)
