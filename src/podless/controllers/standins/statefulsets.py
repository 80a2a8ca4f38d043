"""Creates the pods of StatefulSets in order, and their claims."""

from __future__ import annotations

from contextlib import suppress

from podless.apis.apps.group import STATEFUL_SETS
from podless.apis.core.group import CLAIMS, PODS
from podless.controllers.standins import owned, pods, requests
from podless.controllers.standins.owned import OwnerController, make_pod
from podless.meta.errors import AlreadyExists
from podless.runtime.jsonobject import Object

_POD, _INDEX = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"
_HASH = "controller.kubernetes.io/hash"


class StatefulSetController(OwnerController):
    """Creates pods with ordinals, and replaces them when the template changes."""

    name = "statefulset-controller"
    owners, dependent_kind = STATEFUL_SETS, PODS

    def may_adopt(self, owner: Object, obj: Object) -> bool:
        return pods.is_active(obj) and _pod_ordinal(owner["metadata"]["name"], obj) is not None

    async def reconcile_owner(self, key: str, obj: Object, owned_pods: list[Object]) -> None:
        spec, name = obj["spec"], obj["metadata"]["name"]
        digest = owned.hash_template(spec["template"])
        revision = f"{name}-{digest}"
        used = {(obj.get("status") or {}).get("currentRevision") or "", *map(pods.get_revision, owned_pods)}
        await self.record_revision(obj, revision, {_HASH: digest}, used)
        first = (spec.get("ordinals") or {}).get("start") or 0
        ordinals = range(first, first + spec["replicas"])
        existing = {number: pod for pod in owned_pods if (number := _pod_ordinal(name, pod)) is not None}
        if not await self._delete_finished(existing) and await self._create_missing(obj, ordinals, existing, revision):
            await self._delete_surplus(obj, ordinals, existing, revision)
        await self._report_status(key, obj, list(existing.values()), revision)

    async def _delete_finished(self, by_ordinal: dict[int, Object]) -> bool:
        """Delete finished pods, to be replaced. Return whether there were any."""
        finished = [pod for pod in by_ordinal.values() if pods.is_ended(pod) and not pods.is_terminating(pod)]
        for pod in finished:
            await self.delete_owned(pod)
        return bool(finished)

    async def _create_missing(self, obj: Object, ordinals: range, by_ordinal: dict[int, Object], revision: str) -> bool:
        """Create missing pods; if ordered, each after those before it are ready.

        Returns whether all pods exist and are ready.
        """
        ordered = obj["spec"].get("podManagementPolicy") != "Parallel"
        is_complete = True
        for number in ordinals:
            pod = by_ordinal.get(number)
            if pod is None:
                await self._create_pod(obj, number, revision)
            if pod is None or pods.is_terminating(pod) or not pods.is_ready(pod):
                is_complete = False
                if ordered:
                    break
        return is_complete

    async def _delete_surplus(self, obj: Object, ordinals: range, by_ordinal: dict[int, Object], revision: str) -> None:
        """Delete the last surplus pod, or else the last pod with an old template."""
        parallel = obj["spec"].get("podManagementPolicy") == "Parallel"
        extra = sorted((number for number in by_ordinal if number not in ordinals), reverse=True)
        for number in extra if parallel else extra[:1]:
            if not pods.is_terminating(by_ordinal[number]):
                await self.delete_owned(by_ordinal[number])
        strategy = obj["spec"].get("updateStrategy") or {}
        if extra or strategy.get("type") == "OnDelete":
            return
        partition = (strategy.get("rollingUpdate") or {}).get("partition") or 0
        for number in sorted(by_ordinal, reverse=True):
            if number >= partition and pods.get_revision(by_ordinal[number]) != revision:
                await self.delete_owned(by_ordinal[number])
                return

    async def _create_pod(self, obj: Object, number: int, revision: str) -> None:
        spec, metadata = obj["spec"], obj["metadata"]
        name = f"{metadata['name']}-{number}"
        labels = {pods.REVISION: revision, _POD: name, _INDEX: str(number)}
        pod = make_pod(spec["template"], labels, name=name, generateName=f"{metadata['name']}-")
        pod["spec"] |= {"hostname": name, "subdomain": spec.get("serviceName") or ""}
        claims = [(template["metadata"]["name"], template) for template in spec.get("volumeClaimTemplates") or ()]
        for title, claim in claims:
            await self._create_claim(obj, claim, f"{title}-{name}")
        if claims:
            names = {title for title, _ in claims}
            other_volumes = [volume for volume in pod["spec"].get("volumes") or () if volume["name"] not in names]
            bound = [{"name": title, "persistentVolumeClaim": {"claimName": f"{title}-{name}"}} for title, _ in claims]
            pod["spec"]["volumes"] = [*other_volumes, *bound]
        await self.create_owned(obj, pod)

    async def _create_claim(self, obj: Object, claim: Object, name: str) -> None:
        """Create a claim unless it exists. It is kept when the StatefulSet is deleted."""
        namespace = obj["metadata"]["namespace"]
        if (await self.api.load_collection(CLAIMS)).get(CLAIMS.key(namespace, name)) is not None:
            return
        given = claim["metadata"]
        labels = {**(given.get("labels") or {}), **(obj["spec"]["selector"].get("matchLabels") or {})}
        metadata = {"namespace": namespace, "name": name, "labels": labels}
        if given.get("annotations"):
            metadata["annotations"] = given["annotations"]
        with suppress(AlreadyExists):
            await requests.create_object(self.api, CLAIMS, {"metadata": metadata, "spec": claim["spec"]})

    async def _report_status(self, key: str, obj: Object, owned_pods: list[Object], revision: str) -> None:
        status = obj.get("status") or {}
        ready, available = self.count_pods(key, obj, owned_pods)
        updated = sum(pods.get_revision(pod) == revision for pod in owned_pods)
        is_complete = updated == len(owned_pods) == ready
        current = revision if is_complete or not status.get("currentRevision") else status["currentRevision"]
        counted: Object = {
            "observedGeneration": obj["metadata"]["generation"],
            "replicas": len(owned_pods),
            "readyReplicas": ready or None,
            "availableReplicas": available,
            "currentReplicas": sum(pods.get_revision(pod) == current for pod in owned_pods) or None,
            "updatedReplicas": updated or None,
            "currentRevision": current,
            "updateRevision": revision,
            "collisionCount": 0,
        }
        await requests.report_status(self.api, STATEFUL_SETS, obj, counted)


def _pod_ordinal(name: str, pod: Object) -> int | None:
    text: str = pod["metadata"]["name"].removeprefix(f"{name}-")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 11 else None
