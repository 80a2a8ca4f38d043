"""Creates the ReplicaSets of Deployments, and performs rolling updates, as Kubernetes documents them.

Source of the conditions: pkg/controller/deployment (progress.go, sync.go) and its util of Kubernetes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from podless.apis.apps.group import DEPLOYMENTS, REPLICA_SETS
from podless.controllers.standins import owned, pods, requests
from podless.controllers.standins.owned import OwnerController
from podless.controllers.write import find_condition, list_conditions
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.release import has

_HASH = "pod-template-hash"
_PREFIX = "deployment.kubernetes.io/"
_REVISION, _HISTORY = f"{_PREFIX}revision", f"{_PREFIX}revision-history"
_DESIRED, _MAX = f"{_PREFIX}desired-replicas", f"{_PREFIX}max-replicas"
# annotations that are not copied to ReplicaSets
_OWN_ANNOTATIONS = {_REVISION, _HISTORY, _DESIRED, _MAX, "kubectl.kubernetes.io/last-applied-configuration"}
_OWN_ANNOTATIONS |= {"deprecated.deployment.rollback.to"}
_MAX_HISTORY = 2000  # characters of a revision history
_PROGRESSING = "Progressing"
_ROLLED_OUT, _UPDATED, _OVERDUE = "NewReplicaSetAvailable", "ReplicaSetUpdated", "ProgressDeadlineExceeded"
_PAUSED, _RESUMED = "DeploymentPaused", "DeploymentResumed"
_NO_DEADLINE = (1 << 31) - 1
_FAILURE = "ReplicaFailure"
_AVAILABLE = ("MinimumReplicasAvailable", "Deployment has minimum availability.")
_LACKING = ("MinimumReplicasUnavailable", "Deployment does not have minimum availability.")


class DeploymentController(OwnerController):
    """Creates one ReplicaSet for each template, and moves all replicas to the latest."""

    name = "deployment-controller"
    owners, dependent_kind = DEPLOYMENTS, REPLICA_SETS

    async def reconcile_owner(self, key: str, obj: Object, replica_sets: list[Object]) -> None:
        """Create the ReplicaSet of the current template, then move replicas to it step by step."""
        sets = [entry for entry in replica_sets if "deletionTimestamp" not in entry["metadata"]]
        sets.sort(key=_read_revision)
        template_hash = owned.hash_template(obj["spec"]["template"])
        new = next((entry for entry in sets if entry["metadata"].get("labels", {}).get(_HASH) == template_hash), None)
        old = [entry for entry in sets if entry is not new]
        revision, paused = max(map(_read_revision, old), default=0) + 1, obj["spec"].get("paused")
        if new is not None:
            await self._update_deployment(obj, new, revision)
        elif not paused:
            await self._create_replica_set(obj, template_hash, revision, _allowed_replicas(obj, None, old))
            return  # the creation queues the Deployment again
        if new is not None and not paused:
            await self._roll_pods(obj, new, old)
            await self._delete_old_sets(obj, old)
        else:
            active = [entry for entry in sets if _wanted_replicas(entry)] or ([new] if new is not None else old[-1:])
            if len(active) == 1:
                await self._scale_replica_set(obj, active[0], obj["spec"]["replicas"])
        await self._report_status(key, obj, new, old)

    async def _create_replica_set(self, obj: Object, template_hash: str, revision: int, replicas: int) -> None:
        spec, template = obj["spec"], obj["spec"]["template"]
        metadata = template.get("metadata") or {}
        labels = {**(metadata.get("labels") or {}), _HASH: template_hash}
        selector = spec["selector"]
        replica_set: Object = {
            "replicas": replicas,
            "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), _HASH: template_hash}},
            "template": {**template, "metadata": {**metadata, "labels": labels}},
        }
        if spec.get("minReadySeconds"):
            replica_set["minReadySeconds"] = spec["minReadySeconds"]
        name = f"{obj['metadata']['name']}-{template_hash}"
        annotations = {**_shared_annotations(obj), _REVISION: str(revision), **_scale_annotations(obj)}
        head = {"name": name, "labels": labels, "annotations": annotations}
        await self.create_owned(obj, {"metadata": head, "spec": replica_set})
        if replicas:
            await self._record_scaling(obj, name, 0, replicas)
        conditions = list_conditions(obj)
        if _has_deadline(obj):
            message = f'Created new replica set "{name}"'
            conditions = _set_condition(conditions, "Progressing", "True", "NewReplicaSetCreated", message)
        status = {"conditions": conditions or None}
        await requests.report_status(self.api, DEPLOYMENTS, obj, status, _revision_metadata(revision))

    async def _update_deployment(self, obj: Object, new: Object, revision: int) -> None:
        """Bring annotations and minReadySeconds of the new ReplicaSet up to date, and the Deployment's revision."""
        stored = new["metadata"].get("annotations") or {}
        annotations = _shared_annotations(obj)
        if (before := _read_revision(new)) < revision:
            history = f"{stored.get(_HISTORY, '')},{before}".lstrip(",")
            if len(history) > _MAX_HISTORY:
                history = history[-_MAX_HISTORY:].partition(",")[2]
            annotations |= {_REVISION: str(revision), _HISTORY: history}
        seconds = obj["spec"].get("minReadySeconds") or 0
        if not annotations.items() <= stored.items() or seconds != (new["spec"].get("minReadySeconds") or 0):
            changes = {"metadata": {"annotations": annotations}, "spec": {"minReadySeconds": seconds}}
            await requests.patch_object(self.api, REPLICA_SETS, new, changes)
        if _read_revision(obj) != (now := max(before, revision)):
            await requests.report_status(self.api, DEPLOYMENTS, obj, {}, _revision_metadata(now))

    async def _roll_pods(self, obj: Object, new: Object, old: list[Object]) -> None:
        """Move as many replicas to the new ReplicaSet as maxSurge and maxUnavailable allow now."""
        await self._scale_replica_set(obj, new, _allowed_replicas(obj, new, old))
        minimum = _rollout_limits(obj)[1]
        if (obj["spec"].get("strategy") or {}).get("type") == "Recreate":
            for item in old:
                await self._scale_replica_set(obj, item, 0)
            return
        unavailable = _wanted_replicas(new) - _available_replicas(new)
        surplus = sum(map(_wanted_replicas, [new, *old])) - minimum - unavailable
        remaining = {item["metadata"]["name"]: _wanted_replicas(item) for item in old}
        for item in old:  # scale down unavailable pods first
            lost = min(max(surplus, 0), max(remaining[item["metadata"]["name"]] - _available_replicas(item), 0))
            remaining[item["metadata"]["name"]] -= lost
            surplus -= lost
        surplus = min(surplus, sum(map(_available_replicas, [new, *old])) - minimum)
        for item in old:
            lost = min(max(surplus, 0), remaining[item["metadata"]["name"]])
            remaining[item["metadata"]["name"]] -= lost
            surplus -= lost
            await self._scale_replica_set(obj, item, remaining[item["metadata"]["name"]])

    async def _scale_replica_set(self, obj: Object, replica_set: Object, replicas: int) -> None:
        if _wanted_replicas(replica_set) != replicas:
            changes = {"metadata": {"annotations": _scale_annotations(obj)}, "spec": {"replicas": replicas}}
            await requests.patch_object(self.api, REPLICA_SETS, replica_set, changes)
            await self._record_scaling(obj, replica_set["metadata"]["name"], _wanted_replicas(replica_set), replicas)

    async def _record_scaling(self, obj: Object, name: str, before: int, after: int) -> None:
        message = f"Scaled {'up' if after > before else 'down'} replica set {name} from {before} to {after}"
        await self.record_event(obj, "ScalingReplicaSet", message)

    async def _delete_old_sets(self, obj: Object, old: list[Object]) -> None:
        """Delete the oldest empty ReplicaSets beyond the revision history limit."""
        empty = [item for item in old if not _wanted_replicas(item) and not _read_count(item, "replicas")]
        revision_history_limit = obj["spec"].get("revisionHistoryLimit")
        for item in empty[: max(0, len(empty) - (10 if revision_history_limit is None else revision_history_limit))]:
            await self.delete_owned(item)

    async def _report_status(self, key: str, obj: Object, new: Object | None, old: list[Object]) -> None:
        sets = [*old, *([new] if new is not None else [])]
        total, replicas = sum(_read_count(entry, "replicas") for entry in sets), obj["spec"]["replicas"]
        able, updated = sum(map(_available_replicas, sets)), _read_count(new, "replicas") if new is not None else 0
        counts = {
            "replicas": total,
            "updatedReplicas": updated,
            "readyReplicas": sum(_read_count(entry, "readyReplicas") for entry in sets),
            "availableReplicas": able,
            "unavailableReplicas": max(0, max(total, replicas) - able),
        }
        conditions = list_conditions(obj)
        availability = ("True", *_AVAILABLE) if able >= _rollout_limits(obj)[1] else ("False", *_LACKING)
        conditions = _set_condition(conditions, "Available", *availability)
        name = new["metadata"]["name"] if new is not None else ""
        conditions, delay = _update_progress(conditions, obj, counts, name)
        if delay:
            self.requeue_after(key, delay)
        failures = (find_condition(list_conditions(item), _FAILURE) for item in [*sets[-1:], *old])
        failure = next(filter(None, failures), None)
        if failure is None:
            conditions = [condition for condition in conditions if condition["type"] != _FAILURE]
        else:
            reason = failure.get("reason") or "", failure.get("message") or ""
            conditions = _set_condition(conditions, _FAILURE, failure["status"], *reason)
        status: Object = {name: number or None for name, number in counts.items()}
        status |= {"observedGeneration": obj["metadata"]["generation"], "conditions": conditions}
        if has("DeploymentReplicaSetTerminatingReplicas"):
            status["terminatingReplicas"] = sum(_read_count(entry, "terminatingReplicas") for entry in sets)
        await requests.report_status(self.api, DEPLOYMENTS, obj, status)


def _allowed_replicas(obj: Object, new: Object | None, old: list[Object]) -> int:
    """Return the number of replicas that the new ReplicaSet may have now."""
    replicas: int = obj["spec"]["replicas"]
    now = _wanted_replicas(new) if new is not None else 0
    if now >= replicas:
        return replicas
    if (obj["spec"].get("strategy") or {}).get("type") == "Recreate":
        return now if any(_wanted_replicas(item) or _read_count(item, "replicas") for item in old) else replicas
    room = _rollout_limits(obj)[0] - now - sum(map(_wanted_replicas, old))
    return now + max(0, min(room, replicas - now))


def _rollout_limits(obj: Object) -> tuple[int, int]:
    """Return the maximum number of pods, and the minimum of available ones, during a rollout."""
    replicas: int = obj["spec"]["replicas"]
    rolling = (obj["spec"].get("strategy") or {}).get("rollingUpdate")
    if rolling is None:
        return replicas, replicas
    surge = _resolve_percent(rolling.get("maxSurge"), replicas, round_up=True)
    unavailable = _resolve_percent(rolling.get("maxUnavailable"), replicas, round_up=False)
    return replicas + surge, replicas - min(replicas, unavailable or (0 if surge else 1))


def _resolve_percent(value: Any, total: int, *, round_up: bool) -> int:
    if not isinstance(value, str):
        return int(value or 0)
    count = int(value.removesuffix("%")) * total / 100
    return math.ceil(count) if round_up else math.floor(count)


def _read_revision(replica_set: Object) -> int:
    text: str = (replica_set["metadata"].get("annotations") or {}).get(_REVISION) or "0"
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def _revision_metadata(revision: int) -> Object:
    return {"annotations": {_REVISION: str(revision)}}


def _shared_annotations(obj: Object) -> Object:
    """Return the annotations that ReplicaSets have from their Deployment; `kubectl rollout undo` restores them."""
    annotations = obj["metadata"].get("annotations") or {}
    return {name: text for name, text in annotations.items() if name not in _OWN_ANNOTATIONS}


def _scale_annotations(obj: Object) -> Object:
    """Return the annotations of a ReplicaSet about the size of its Deployment."""
    return {_DESIRED: str(obj["spec"]["replicas"]), _MAX: str(_rollout_limits(obj)[0])}


def _wanted_replicas(replica_set: Object) -> int:
    return int(replica_set["spec"].get("replicas") or 0)


def _read_count(replica_set: Object, name: str) -> int:
    return int((replica_set.get("status") or {}).get(name) or 0)


def _available_replicas(replica_set: Object) -> int:
    return _read_count(replica_set, "availableReplicas")


def _has_deadline(obj: Object) -> bool:
    """Return whether a Deployment has a progress deadline; one without has no condition Progressing."""
    return bool(obj["spec"].get("progressDeadlineSeconds", _NO_DEADLINE) != _NO_DEADLINE)


def _set_condition(conditions: list[Object], kind: str, status: str, reason: str, message: str) -> list[Object]:
    """Return the conditions with a changed one at the end. With the same status and reason, it stays unchanged."""
    before = find_condition(conditions, kind)
    if before.get("status") == status and before.get("reason") == reason:
        return conditions
    return _make_condition(conditions, kind, status, reason, message)


def _make_condition(conditions: list[Object], kind: str, status: str, reason: str, message: str) -> list[Object]:
    before, now = find_condition(conditions, kind), clock.now()
    since = before["lastTransitionTime"] if before.get("status") == status else now
    condition_now = {"type": kind, "status": status, "lastUpdateTime": now, "lastTransitionTime": since}
    return [
        *(condition for condition in conditions if condition["type"] != kind),
        {**condition_now, "reason": reason, "message": message},
    ]


def _update_progress(
    conditions: list[Object], obj: Object, counts: Mapping[str, int], name: str
) -> tuple[list[Object], float]:
    """Return the conditions with the present Progressing, and the seconds until the deadline (0: none).

    counts: the new numbers of the status. name: of the new ReplicaSet, "" if there is none.
    """
    if not _has_deadline(obj):
        return [condition for condition in conditions if condition["type"] != _PROGRESSING], 0
    reason = find_condition(conditions, _PROGRESSING).get("reason")
    if obj["spec"].get("paused"):
        if reason != _OVERDUE:
            conditions = _set_condition(conditions, _PROGRESSING, "Unknown", _PAUSED, "Deployment is paused")
        return conditions, 0
    if reason == _PAUSED:
        conditions = _set_condition(conditions, _PROGRESSING, "Unknown", _RESUMED, "Deployment is resumed")
    if reason == _ROLLED_OUT and counts["replicas"] == counts["updatedReplicas"]:
        return conditions, 0  # nothing is rolled out, so pods that come and go are no progress
    subject = f'ReplicaSet "{name}"' if name else f'Deployment "{obj["metadata"]["name"]}"'
    replicas = obj["spec"]["replicas"]
    if all(counts[field_name] == replicas for field_name in ("replicas", "updatedReplicas", "availableReplicas")):
        message = f"{subject} has successfully progressed."
        return _set_condition(conditions, _PROGRESSING, "True", _ROLLED_OUT, message), 0
    seconds_left = _seconds_left(conditions, obj)
    if _has_progress(obj.get("status") or {}, counts):
        message = f"{subject} is progressing."
        return _make_condition(conditions, _PROGRESSING, "True", _UPDATED, message), seconds_left
    if reason == _OVERDUE or (reason != _ROLLED_OUT and seconds_left <= 0):
        return _set_condition(conditions, _PROGRESSING, "False", _OVERDUE, f"{subject} has timed out progressing."), 0
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
    since = find_condition(conditions, _PROGRESSING).get("lastUpdateTime")
    from_ = pods.seconds_since_epoch(since) if since else clock.time()
    return float(from_ + obj["spec"]["progressDeadlineSeconds"] - clock.time())
