"""Reads objects that a set would delete, and their dependents: owned objects, and contents of namespaces."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from podless.fields.kubectl import LAST_APPLIED
from podless.plan.baseline import Baseline
from podless.plan.prune import PRUNED
from podless.plan.reader import APIReader
from podless.plan.resources import Resources
from podless.runtime.jsonobject import Object

EFFECT = "what would be pruned or goes with it is not in the plan"


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
    pruned = [
        obj
        for endpoint, namespace, obj in await reader.try_lists(PRUNED, namespaces, labels, effect=EFFECT)
        if (endpoint.resource, namespace, obj["metadata"]["name"]) not in in_set
        and LAST_APPLIED in (obj["metadata"].get("annotations") or {})
    ]
    baseline.objects += pruned
    if pruned:
        baseline.objects += await fetch_dependents(reader, pruned)


async def fetch_dependents(reader: APIReader, deleted: Sequence[Object]) -> list[Object]:
    """Return the metadata of all objects that are deleted with others: owned objects, and contents of namespaces."""
    namespaces = {str(obj["metadata"]["name"]) for obj in deleted if obj["kind"] == "Namespace"}
    cluster_wide = any(not obj["metadata"].get("namespace") for obj in deleted if obj["kind"] != "Namespace")
    spaces = {*namespaces, *(str(obj["metadata"]["namespace"]) for obj in deleted if obj["metadata"].get("namespace"))}
    endpoints = [item for item in await Resources(reader, EFFECT).list_deletable() if item.namespaced or cluster_wide]
    within = ("",) if cluster_wide else sorted(spaces)
    listed = await reader.try_lists(endpoints, within, effect=EFFECT, metadata=True)
    return choose_dependents([obj for _, _, obj in listed], deleted, namespaces)


def choose_dependents(
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
