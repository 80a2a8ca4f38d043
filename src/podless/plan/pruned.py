"""Reads the objects that a set would delete, by labels or as members of an ApplySet, and their dependents.

Dependents are owned objects, and the contents of namespaces.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence

from podless.fields.kubectl import LAST_APPLIED
from podless.plan.applyset import (
    PART_OF,
    ApplySet,
    ParentReference,
    parse_reference,
    split_kinds,
    split_namespaces,
    split_resources,
)
from podless.plan.baseline import Baseline
from podless.plan.prune import PRUNED
from podless.plan.reader import APIReader
from podless.plan.requests import find_builtin
from podless.remote.resources import APIResource
from podless.runtime.jsonobject import Object

FindEndpoint = Callable[[str, str], Awaitable[APIResource | None]]
_EFFECT = "what would be pruned or goes with it is not in the plan"
_USUAL = {
    **dict.fromkeys(("secrets", "secret"), find_builtin("v1", "Secret")),
    **dict.fromkeys(("configmaps", "configmap", "cm"), find_builtin("v1", "ConfigMap")),
}  # kinds of parents that need no discovery


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


async def find_parent(reader: APIReader, text: str, find: FindEndpoint) -> tuple[APIResource, ParentReference] | None:
    """Return the endpoint of an ApplySet's parent, None if its kind is not served. Raises CannotPlan."""
    reference = parse_reference(text)
    endpoint = _USUAL.get(reference.resource) if not reference.group else None
    if endpoint is None:
        endpoint = await reader.make_discovery(_EFFECT).find_resource(reference.resource, reference.group)
        if endpoint is not None:
            await find(endpoint.api_version, endpoint.kind)  # also reads its definition
    return None if endpoint is None else (endpoint, reference)


async def fetch_members(
    reader: APIReader, baseline: Baseline, applyset: ApplySet, in_set: Collection[tuple[str, str, str]]
) -> None:
    """Read the members that the set no longer has, and the objects that their deletion deletes.

    in_set: resource, namespace and name of the set's objects. The parent is read from the baseline.
    """
    parent = next((obj for obj in baseline.objects if _is_parent(obj, applyset)), None)
    if parent is None:
        return
    annotations = parent["metadata"].get("annotations") or {}
    discovery = reader.make_discovery(_EFFECT)
    endpoints = [await discovery.find_kind(*kind) for kind in split_kinds(annotations) or ()]
    endpoints += [await discovery.find_resource(*resource) for resource in split_resources(annotations)]
    namespaces = sorted(split_namespaces(annotations, applyset.namespace))
    labels = f"{PART_OF}={applyset.id}"
    served = dict.fromkeys(filter(None, endpoints))
    listed = await reader.try_lists(served, namespaces, labels, effect=_EFFECT)
    await _add_deleted(reader, baseline, listed, in_set)


def _is_parent(obj: Object, applyset: ApplySet) -> bool:
    metadata, parent = obj["metadata"], applyset.parent
    identity = (obj["apiVersion"].rpartition("/")[0], obj["kind"], metadata.get("namespace") or "", metadata["name"])
    return bool(identity == (parent.group, parent.kind, applyset.namespace, applyset.name))


async def _add_deleted(
    reader: APIReader,
    baseline: Baseline,
    listed: Iterable[tuple[APIResource, str, Object]],
    in_set: Collection[tuple[str, str, str]],
) -> None:
    """Add objects that are not in the set, and their dependents. listed: with their endpoints and namespaces."""
    deleted = [
        obj
        for endpoint, namespace, obj in listed
        if (endpoint.full_name, namespace, obj["metadata"]["name"]) not in in_set
    ]
    baseline.objects += deleted
    if deleted:
        baseline.objects += await _fetch_dependents(reader, deleted)


async def _fetch_dependents(reader: APIReader, deleted: Sequence[Object]) -> list[Object]:
    """Return the metadata of all objects that are deleted with others: owned objects, and contents of namespaces."""
    namespaces = {str(obj["metadata"]["name"]) for obj in deleted if obj["kind"] == "Namespace"}
    cluster_wide = any(not obj["metadata"].get("namespace") for obj in deleted if obj["kind"] != "Namespace")
    spaces = {*namespaces, *(str(obj["metadata"]["namespace"]) for obj in deleted if obj["metadata"].get("namespace"))}
    endpoints = [
        resource
        for resource in await reader.make_discovery(_EFFECT).list_preferred()
        if resource.verbs >= {"list", "delete"} and resource.plural != "events"
        if resource.namespaced or cluster_wide
    ]
    within = ("",) if cluster_wide else sorted(spaces)
    listed = await reader.try_lists(endpoints, within, effect=_EFFECT, metadata=True)
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
