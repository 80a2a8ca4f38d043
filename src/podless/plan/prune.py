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
from podless.plan.requests import JSON, SendRequest, find_builtin
from podless.remote.cluster import Refused
from podless.remote.resources import APIResource
from podless.runtime.jsonobject import Object

# The kinds that kubectl prunes, namespaced ones first.
PRUNED = [
    *(find_builtin("v1", kind) for kind in ("ConfigMap", "Endpoints", "PersistentVolumeClaim", "Pod")),
    *(find_builtin("v1", kind) for kind in ("ReplicationController", "Secret", "Service")),
    *(find_builtin("batch/v1", kind) for kind in ("Job", "CronJob")),
    find_builtin("networking.k8s.io/v1", "Ingress"),
    *(find_builtin("apps/v1", kind) for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")),
    *(find_builtin("v1", kind) for kind in ("Namespace", "PersistentVolume")),
]


class CannotPrune(Exception):
    """The API does not list the objects to prune. The text is kubectl's. identity: of the kind. code: HTTP status."""

    def __init__(self, endpoint: APIResource, namespace: str, refused: Refused) -> None:
        scope = "namespaced" if endpoint.namespaced else "nonNamespaced"
        super().__init__(f"error pruning {scope} object {endpoint.gvk}: {refused}")
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
    send: SendRequest, labels: str, namespaces: Sequence[str], applied: Collection[str]
) -> list[tuple[APIResource, Object]]:
    """Return the objects to delete: with the labels, created by kubectl apply, and not applied now.

    namespaces: of the applied objects. applied: uids. Raises CannotPrune, RemoteError.
    """
    pruned = []
    for endpoint in PRUNED:
        for namespace in namespaces if endpoint.namespaced else ("",):
            try:
                answered = await send("GET", endpoint.path(namespace), None, JSON, labelSelector=labels)
            except Refused as refused:
                if refused.code == 404:
                    continue
                raise CannotPrune(endpoint, namespace, refused) from None
            for item in answered.obj.get("items") or ():
                metadata = item["metadata"]
                if LAST_APPLIED in (metadata.get("annotations") or {}) and metadata["uid"] not in applied:
                    pruned.append((endpoint, {**item, "apiVersion": endpoint.api_version, "kind": endpoint.kind}))
    return pruned


async def delete_object(send: SendRequest, endpoint: APIResource, obj: Object, *, guarded: bool = False) -> None:
    """Delete an object with background propagation, as kubectl does. A missing object is no error.

    guarded: only in the state of `obj`. Raises Refused, RemoteError.
    """
    metadata = obj["metadata"]
    options: Object = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
    if guarded:
        options["preconditions"] = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
    try:
        await send("DELETE", endpoint.path(metadata.get("namespace") or "", metadata["name"]), options)
    except Refused as refused:
        if refused.code != 404:
            raise
