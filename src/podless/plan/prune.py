"""Prunes by a label selector, as `kubectl apply --prune -l` does.

Source: k8s.io/kubectl pkg/cmd/apply/prune.go and pkg/util/prune/prune.go
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from podless.fields.kubectl import LAST_APPLIED
from podless.meta.errors import BadRequest
from podless.meta.selectors import parse_labels
from podless.plan.manifests import Identity, Item
from podless.plan.options import CannotPlan
from podless.plan.requests import JSON, Endpoint, Requester
from podless.remote.cluster import Refused
from podless.runtime.jsonobject import Object

# The kinds that kubectl prunes, namespaced ones first.
PRUNED = (
    Endpoint("v1", "configmaps", "ConfigMap", True),
    Endpoint("v1", "endpoints", "Endpoints", True),
    Endpoint("v1", "persistentvolumeclaims", "PersistentVolumeClaim", True),
    Endpoint("v1", "pods", "Pod", True),
    Endpoint("v1", "replicationcontrollers", "ReplicationController", True),
    Endpoint("v1", "secrets", "Secret", True),
    Endpoint("v1", "services", "Service", True),
    Endpoint("batch/v1", "jobs", "Job", True),
    Endpoint("batch/v1", "cronjobs", "CronJob", True),
    Endpoint("networking.k8s.io/v1", "ingresses", "Ingress", True),
    Endpoint("apps/v1", "daemonsets", "DaemonSet", True),
    Endpoint("apps/v1", "deployments", "Deployment", True),
    Endpoint("apps/v1", "replicasets", "ReplicaSet", True),
    Endpoint("apps/v1", "statefulsets", "StatefulSet", True),
    Endpoint("v1", "namespaces", "Namespace", False),
    Endpoint("v1", "persistentvolumes", "PersistentVolume", False),
)


class CannotPrune(Exception):
    """The API does not list the objects to prune. The text is kubectl's. identity: of the kind. code: HTTP status."""

    def __init__(self, endpoint: Endpoint, namespace: str, refused: Refused) -> None:
        group, _, version = endpoint.api_version.rpartition("/")
        scope = "namespaced" if endpoint.namespaced else "nonNamespaced"
        super().__init__(f"error pruning {scope} object {group}/{version}, Kind={endpoint.kind}: {refused}")
        self.identity = Identity(endpoint.api_version, endpoint.kind, namespace, "")
        self.code = refused.code


def choose_labelled(items: Sequence[Item], labels: str) -> list[Item]:
    """Return the items that a selector matches: kubectl applies only these. Raises CannotPlan for an invalid one."""
    try:
        selector = parse_labels(labels)
    except BadRequest as error:
        raise CannotPlan(f"--prune {labels}: {error}") from None
    return [item for item in items if selector.matches(item.metadata.get("labels") or {})]


async def find_pruned(
    asker: Requester, labels: str, namespaces: Sequence[str], applied: Collection[str]
) -> list[tuple[Endpoint, Object]]:
    """Return the objects to delete: with the labels, created by kubectl apply, and not applied now.

    namespaces: of the applied objects. applied: uids. Raises CannotPrune, RemoteError.
    """
    pruned = []
    for endpoint in PRUNED:
        for namespace in namespaces if endpoint.namespaced else ("",):
            try:
                answered = await asker.send_request("GET", endpoint.path(namespace), None, JSON, labelSelector=labels)
            except Refused as refused:
                if refused.code == 404:
                    continue
                raise CannotPrune(endpoint, namespace, refused) from None
            for item in answered.obj.get("items") or ():
                metadata = item["metadata"]
                if LAST_APPLIED in (metadata.get("annotations") or {}) and metadata["uid"] not in applied:
                    pruned.append((endpoint, {**item, "apiVersion": endpoint.api_version, "kind": endpoint.kind}))
    return pruned


async def delete_object(asker: Requester, endpoint: Endpoint, obj: Object, *, guarded: bool = False) -> None:
    """Delete an object with background propagation, as kubectl does. A missing object is no error.

    guarded: only in the state of `obj`. Raises Refused, RemoteError.
    """
    metadata = obj["metadata"]
    options: Object = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
    if guarded:
        options["preconditions"] = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
    try:
        await asker.send_request("DELETE", endpoint.path(metadata.get("namespace") or "", metadata["name"]), options)
    except Refused as refused:
        if refused.code != 404:
            raise
