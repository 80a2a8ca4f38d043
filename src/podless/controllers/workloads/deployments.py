"""Creates the ReplicaSets of Deployments, and performs rolling updates, as Kubernetes documents them."""

from __future__ import annotations

import math
from typing import Any

from podless.apis.apps.group import DEPLOYMENTS, REPLICA_SETS
from podless.controllers.workloads import ask, owned, progress
from podless.controllers.workloads.owned import OwnerController
from podless.runtime.jsonobject import Object
from podless.runtime.release import has

_HASH = "pod-template-hash"
_PREFIX = "deployment.kubernetes.io/"
_REVISION, _HISTORY = f"{_PREFIX}revision", f"{_PREFIX}revision-history"
_DESIRED, _MAX = f"{_PREFIX}desired-replicas", f"{_PREFIX}max-replicas"
# annotations that are not copied to ReplicaSets
_OWN = {_REVISION, _HISTORY, _DESIRED, _MAX, "kubectl.kubernetes.io/last-applied-configuration"}
_OWN |= {"deprecated.deployment.rollback.to"}
_MOST_HISTORY = 2000  # characters of a revision history
_FAILURE = "ReplicaFailure"
_AVAILABLE = ("MinimumReplicasAvailable", "Deployment has minimum availability.")
_LACKING = ("MinimumReplicasUnavailable", "Deployment does not have minimum availability.")


class Deployments(OwnerController):
    """Creates one ReplicaSet for each template, and moves all replicas to the latest."""

    name = "deployment-controller"
    owners, things = DEPLOYMENTS, REPLICA_SETS

    async def reconcile_owner(self, key: str, obj: Object, made: list[Object]) -> None:
        """Create the ReplicaSet of the current template, then move replicas to it step by step."""
        sets = [one for one in made if "deletionTimestamp" not in one["metadata"]]
        sets.sort(key=_revision)
        wanted = owned.hash_template(obj["spec"]["template"])
        new = next((one for one in sets if one["metadata"].get("labels", {}).get(_HASH) == wanted), None)
        old = [one for one in sets if one is not new]
        revision, paused = max(map(_revision, old), default=0) + 1, obj["spec"].get("paused")
        if new is not None:
            await self._update(obj, new, revision)
        elif not paused:
            await self._make(obj, wanted, revision, _growth(obj, None, old))
            return  # the creation queues the Deployment again
        if new is not None and not paused:
            await self._step(obj, new, old)
            await self._forget(obj, old)
        else:
            active = [one for one in sets if _wanted(one)] or ([new] if new is not None else old[-1:])
            if len(active) == 1:
                await self._scale(obj, active[0], obj["spec"]["replicas"])
        await self._report(key, obj, new, old)

    async def _make(self, obj: Object, wanted: str, revision: int, replicas: int) -> None:
        spec, template = obj["spec"], obj["spec"]["template"]
        inner = template.get("metadata") or {}
        labels = {**(inner.get("labels") or {}), _HASH: wanted}
        selector = spec["selector"]
        found: Object = {
            "replicas": replicas,
            "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), _HASH: wanted}},
            "template": {**template, "metadata": {**inner, "labels": labels}},
        }
        if spec.get("minReadySeconds"):
            found["minReadySeconds"] = spec["minReadySeconds"]
        name = f"{obj['metadata']['name']}-{wanted}"
        annotations = {**_shared(obj), _REVISION: str(revision), **_scaled(obj)}
        await self.create_owned(
            obj, {"metadata": {"name": name, "labels": labels, "annotations": annotations}, "spec": found}
        )
        if replicas:
            await self._record_scaling(obj, name, 0, replicas)
        known = progress.read_conditions(obj)
        if progress.has_deadline(obj):
            said = f'Created new replica set "{name}"'
            known = progress.set_condition(known, "Progressing", "True", "NewReplicaSetCreated", said)
        await ask.report_status(self.api, DEPLOYMENTS, obj, {"conditions": known or None}, _marked(revision))

    async def _update(self, obj: Object, new: Object, revision: int) -> None:
        """Bring annotations and minReadySeconds of the new ReplicaSet up to date, and the Deployment's revision."""
        known = new["metadata"].get("annotations") or {}
        annotations = _shared(obj)
        if (before := _revision(new)) < revision:
            history = f"{known.get(_HISTORY, '')},{before}".lstrip(",")
            if len(history) > _MOST_HISTORY:
                history = history[-_MOST_HISTORY:].partition(",")[2]
            annotations |= {_REVISION: str(revision), _HISTORY: history}
        seconds = obj["spec"].get("minReadySeconds") or 0
        if not annotations.items() <= known.items() or seconds != (new["spec"].get("minReadySeconds") or 0):
            changes = {"metadata": {"annotations": annotations}, "spec": {"minReadySeconds": seconds}}
            await ask.change_object(self.api, REPLICA_SETS, new, changes)
        if _revision(obj) != (now := max(before, revision)):
            await ask.report_status(self.api, DEPLOYMENTS, obj, {}, _marked(now))

    async def _step(self, obj: Object, new: Object, old: list[Object]) -> None:
        """Move some replicas to the new ReplicaSet."""
        await self._scale(obj, new, _growth(obj, new, old))
        least = _limits(obj)[1]
        if (obj["spec"].get("strategy") or {}).get("type") == "Recreate":
            for one in old:
                await self._scale(obj, one, 0)
            return
        away = _wanted(new) - _able(new)
        down = sum(map(_wanted, [new, *old])) - least - away
        left = {one["metadata"]["name"]: _wanted(one) for one in old}
        for one in old:  # scale down unavailable pods first
            lost = min(max(down, 0), max(left[one["metadata"]["name"]] - _able(one), 0))
            left[one["metadata"]["name"]] -= lost
            down -= lost
        down = min(down, sum(map(_able, [new, *old])) - least)
        for one in old:
            lost = min(max(down, 0), left[one["metadata"]["name"]])
            left[one["metadata"]["name"]] -= lost
            down -= lost
            await self._scale(obj, one, left[one["metadata"]["name"]])

    async def _scale(self, obj: Object, one: Object, replicas: int) -> None:
        if _wanted(one) != replicas:
            changes = {"metadata": {"annotations": _scaled(obj)}, "spec": {"replicas": replicas}}
            await ask.change_object(self.api, REPLICA_SETS, one, changes)
            await self._record_scaling(obj, one["metadata"]["name"], _wanted(one), replicas)

    async def _record_scaling(self, obj: Object, name: str, before: int, after: int) -> None:
        message = f"Scaled {'up' if after > before else 'down'} replica set {name} from {before} to {after}"
        await ask.record_event(self.api, DEPLOYMENTS, obj, "ScalingReplicaSet", message, self.name)

    async def _forget(self, obj: Object, old: list[Object]) -> None:
        """Delete the oldest empty ReplicaSets beyond the revision history limit."""
        empty = [one for one in old if not _wanted(one) and not _count(one, "replicas")]
        kept = obj["spec"].get("revisionHistoryLimit")
        for one in empty[: max(0, len(empty) - (10 if kept is None else kept))]:
            await self.delete_owned(one)

    async def _report(self, key: str, obj: Object, new: Object | None, old: list[Object]) -> None:
        sets = [*old, *([new] if new is not None else [])]
        total, wanted = sum(_count(one, "replicas") for one in sets), obj["spec"]["replicas"]
        able, updated = sum(map(_able, sets)), _count(new, "replicas") if new is not None else 0
        counts = {
            "replicas": total,
            "updatedReplicas": updated,
            "readyReplicas": sum(_count(one, "readyReplicas") for one in sets),
            "availableReplicas": able,
            "unavailableReplicas": max(0, max(total, wanted) - able),
        }
        known = progress.read_conditions(obj)
        enough = ("True", *_AVAILABLE) if able >= _limits(obj)[1] else ("False", *_LACKING)
        known = progress.set_condition(known, "Available", *enough)
        known, rest = progress.judge_progress(known, obj, counts, new["metadata"]["name"] if new is not None else "")
        if rest:
            self.requeue_after(key, rest)
        failure = next((each for one in [*sets[-1:], *old] for each in _failures(one)), None)
        if failure is None:
            known = [one for one in known if one["type"] != _FAILURE]
        else:
            said = failure.get("reason") or "", failure.get("message") or ""
            known = progress.set_condition(known, _FAILURE, failure["status"], *said)
        status: Object = {name: number or None for name, number in counts.items()}
        status |= {"observedGeneration": obj["metadata"]["generation"], "conditions": known}
        if has("DeploymentReplicaSetTerminatingReplicas"):
            status["terminatingReplicas"] = sum(_count(one, "terminatingReplicas") for one in sets)
        await ask.report_status(self.api, DEPLOYMENTS, obj, status)


def _failures(one: Object) -> list[Object]:
    """Return the ReplicaFailure condition of a ReplicaSet."""
    return [each for each in (one.get("status") or {}).get("conditions") or () if each["type"] == _FAILURE]


def _growth(obj: Object, new: Object | None, old: list[Object]) -> int:
    """Return the number of replicas that the new ReplicaSet may have now."""
    wanted: int = obj["spec"]["replicas"]
    now = _wanted(new) if new is not None else 0
    if now >= wanted:
        return wanted
    if (obj["spec"].get("strategy") or {}).get("type") == "Recreate":
        return now if any(_wanted(one) or _count(one, "replicas") for one in old) else wanted
    room = _limits(obj)[0] - now - sum(map(_wanted, old))
    return now + max(0, min(room, wanted - now))


def _limits(obj: Object) -> tuple[int, int]:
    """Return the maximum number of pods, and the minimum of available ones, during a rollout."""
    wanted: int = obj["spec"]["replicas"]
    rolling = (obj["spec"].get("strategy") or {}).get("rollingUpdate")
    if rolling is None:
        return wanted, wanted
    surge = _share(rolling.get("maxSurge"), wanted, up=True)
    away = _share(rolling.get("maxUnavailable"), wanted, up=False)
    return wanted + surge, wanted - min(wanted, away or (0 if surge else 1))


def _share(value: Any, whole: int, *, up: bool) -> int:
    if not isinstance(value, str):
        return int(value or 0)
    parts = int(value.removesuffix("%")) * whole / 100
    return math.ceil(parts) if up else math.floor(parts)


def _revision(one: Object) -> int:
    text: str = (one["metadata"].get("annotations") or {}).get(_REVISION) or "0"
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def _marked(revision: int) -> Object:
    return {"annotations": {_REVISION: str(revision)}}


def _shared(obj: Object) -> Object:
    """Return the annotations that ReplicaSets have from their Deployment; `kubectl rollout undo` restores them."""
    known = obj["metadata"].get("annotations") or {}
    return {name: text for name, text in known.items() if name not in _OWN}


def _scaled(obj: Object) -> Object:
    """Return the annotations of a ReplicaSet about the size of its Deployment."""
    return {_DESIRED: str(obj["spec"]["replicas"]), _MAX: str(_limits(obj)[0])}


def _wanted(one: Object) -> int:
    return int(one["spec"].get("replicas") or 0)


def _count(one: Object, name: str) -> int:
    return int((one.get("status") or {}).get(name) or 0)


def _able(one: Object) -> int:
    return _count(one, "availableReplicas")
