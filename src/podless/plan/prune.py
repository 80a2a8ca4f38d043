"""Prunes by a label selector, as `kubectl apply --prune -l` does, and reads from an API what any pruning would delete.

Source: k8s.io/kubectl pkg/cmd/apply/prune.go and pkg/util/prune/prune.go
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence

from podless.fields.kubectl import LAST_APPLIED
from podless.meta.errors import BadRequest
from podless.meta.selectors import parse_labels
from podless.plan.applyset import (
    PART_OF,
    ApplySetParent,
    parse_reference,
    split_kinds,
    split_namespaces,
    split_resources,
)
from podless.plan.baseline import Baseline
from podless.plan.manifests import Identity, Item
from podless.plan.options import CannotPlan, PlanOptions
from podless.plan.reader import APIReader
from podless.plan.requests import JSON, SendRequest, find_builtin
from podless.remote.cluster import Refused
from podless.remote.resources import APIResource
from podless.runtime.jsonobject import Object

# The kinds that kubectl prunes, namespaced ones first.
PRUNED = [
    find_builtin(api_version, kind)
    for api_version, kinds in (
        ("v1", "ConfigMap Endpoints PersistentVolumeClaim Pod ReplicationController Secret Service"),
        ("batch/v1", "Job CronJob"),
        ("networking.k8s.io/v1", "Ingress"),
        ("apps/v1", "DaemonSet Deployment ReplicaSet StatefulSet"),
        ("v1", "Namespace PersistentVolume"),
    )
    for kind in kinds.split()
]
FindResource = Callable[[str, str], Awaitable[APIResource | None]]
_EFFECT = "what would be pruned or goes with it is not in the plan"
_USUAL = {
    **dict.fromkeys(("secrets", "secret"), find_builtin("v1", "Secret")),
    **dict.fromkeys(("configmaps", "configmap", "cm"), find_builtin("v1", "ConfigMap")),
}  # kinds of parents that need no discovery


class CannotPrune(Exception):
    """The API does not list the objects to prune. The text is kubectl's. identity: of the kind. code: HTTP status."""

    def __init__(self, resource: APIResource, namespace: str, refused: Refused) -> None:
        scope = "namespaced" if resource.namespaced else "nonNamespaced"
        super().__init__(f"error pruning {scope} object {resource.gvk}: {refused}")
        self.identity = Identity.named(resource, namespace, "")
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
    for resource in PRUNED:
        for namespace in namespaces if resource.namespaced else ("",):
            try:
                answered = await send("GET", resource.path(namespace), None, JSON, labelSelector=labels)
            except Refused as refused:
                if refused.code == 404:
                    continue
                raise CannotPrune(resource, namespace, refused) from None
            for item in answered.obj.get("items") or ():
                metadata = item["metadata"]
                if LAST_APPLIED in (metadata.get("annotations") or {}) and metadata["uid"] not in applied:
                    pruned.append((resource, {**item, "apiVersion": resource.api_version, "kind": resource.kind}))
    return pruned


async def delete_object(send: SendRequest, resource: APIResource, obj: Object, *, guarded: bool = False) -> None:
    """Delete an object with background propagation, as kubectl does. A missing object is no error.

    guarded: only in the state of `obj`. Raises Refused, RemoteError.
    """
    metadata = obj["metadata"]
    options: Object = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
    if guarded:
        options["preconditions"] = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
    try:
        await send("DELETE", resource.path(metadata.get("namespace") or "", metadata["name"]), options)
    except Refused as refused:
        if refused.code != 404:
            raise


async def fetch_pruned(
    reader: APIReader,
    baseline: Baseline,
    labels: str,
    in_set: Collection[tuple[str, str, str]],
    namespaces: Sequence[str],
) -> None:
    """Read the objects with labels that the set no longer has, and the objects that their deletion deletes.

    in_set: resource, namespace and name of the set's objects.
    """
    listed = await reader.try_lists(PRUNED, namespaces, labels, effect=_EFFECT)
    applied = [entry for entry in listed if LAST_APPLIED in (entry[2]["metadata"].get("annotations") or {})]
    await _add_deleted(reader, baseline, applied, in_set)


async def find_parent(reader: APIReader, options: PlanOptions, find: FindResource) -> ApplySetParent | None:
    """Return the parent of an ApplySet, None if its kind is not served. Raises CannotPlan."""
    plural, group, name = parse_reference(options.applyset)
    resource = _USUAL.get(plural) if not group else None
    if resource is None:
        resource = await reader.make_discovery(_EFFECT).find_resource(plural, group)
        if resource is None:
            return None
        await find(resource.api_version, resource.kind)  # also reads its definition
    return ApplySetParent(resource, name, options.namespace if resource.namespaced else "")


async def fetch_members(
    reader: APIReader, baseline: Baseline, parent: ApplySetParent, in_set: Collection[tuple[str, str, str]]
) -> None:
    """Read the members that the set no longer has, and the objects that their deletion deletes.

    in_set: resource, namespace and name of the set's objects. The parent is read from the baseline.
    """
    obj = next((obj for obj in baseline.objects if Identity.of(obj).key == parent.identity.key), None)
    if obj is None:
        return
    annotations = obj["metadata"].get("annotations") or {}
    discovery = reader.make_discovery(_EFFECT)
    resources = [await discovery.find_kind(*kind) for kind in split_kinds(annotations) or ()]
    resources += [await discovery.find_resource(*resource) for resource in split_resources(annotations)]
    namespaces = sorted(split_namespaces(annotations, parent.namespace))
    labels = f"{PART_OF}={parent.id}"
    served = dict.fromkeys(filter(None, resources))
    listed = await reader.try_lists(served, namespaces, labels, effect=_EFFECT)
    await _add_deleted(reader, baseline, listed, in_set)


async def _add_deleted(
    reader: APIReader,
    baseline: Baseline,
    listed: Iterable[tuple[APIResource, str, Object]],
    in_set: Collection[tuple[str, str, str]],
) -> None:
    """Add objects that are not in the set, and their dependents. listed: with their resources and namespaces."""
    deleted = [
        obj
        for resource, namespace, obj in listed
        if (resource.full_name, namespace, obj["metadata"]["name"]) not in in_set
    ]
    baseline.objects += deleted
    if deleted:
        baseline.objects += await _fetch_dependents(reader, deleted)


async def _fetch_dependents(reader: APIReader, deleted: Sequence[Object]) -> list[Object]:
    """Return the metadata of all objects that are deleted with others: owned objects, and contents of namespaces."""
    namespaces = {str(obj["metadata"]["name"]) for obj in deleted if obj["kind"] == "Namespace"}
    cluster_wide = any(not obj["metadata"].get("namespace") for obj in deleted if obj["kind"] != "Namespace")
    spaces = {*namespaces, *(str(obj["metadata"]["namespace"]) for obj in deleted if obj["metadata"].get("namespace"))}
    resources = [
        resource
        for resource in await reader.make_discovery(_EFFECT).list_preferred()
        if resource.verbs >= {"list", "delete"} and resource.plural != "events"
        if resource.namespaced or cluster_wide
    ]
    within = ("",) if cluster_wide else sorted(spaces)
    listed = await reader.try_lists(resources, within, effect=_EFFECT, metadata=True)
    return _choose_dependents([obj for _, _, obj in listed], deleted, namespaces)


def _choose_dependents(
    objects: Iterable[Object], deleted: Iterable[Object], namespaces: Collection[str] = ()
) -> list[Object]:
    """Return the objects with a deleted owner (direct or not), or in a deleted namespace."""
    deleted_uids = {obj["metadata"].get("uid") for obj in deleted}
    remaining = [obj for obj in objects if obj["metadata"].get("uid") not in deleted_uids]
    dependents: list[Object] = []
    while True:
        found_now = [
            obj
            for obj in remaining
            if obj["metadata"].get("namespace") in namespaces
            or any(owner.get("uid") in deleted_uids for owner in obj["metadata"].get("ownerReferences") or ())
        ]
        if not found_now:
            return dependents
        dependents += found_now
        deleted_uids |= {obj["metadata"].get("uid") for obj in found_now}
        remaining = [obj for obj in remaining if obj["metadata"].get("uid") not in deleted_uids]
