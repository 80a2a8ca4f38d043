"""Reads an ApplySet of a running API: its parent, and the members that the set no longer has."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from podless.plan.applyset import (
    PART_OF,
    ApplySet,
    GroupKind,
    ParentReference,
    parse_reference,
    split_kinds,
    split_namespaces,
    split_resources,
)
from podless.plan.baseline import Baseline
from podless.plan.dependents import EFFECT, fetch_dependents
from podless.plan.reader import APIReader
from podless.plan.requests import Endpoint
from podless.plan.resources import Resources
from podless.runtime.jsonobject import Object

FindEndpoint = Callable[[str, str], Awaitable[Endpoint | None]]
_SECRETS = Endpoint("v1", "secrets", "Secret", True)
_CONFIG_MAPS = Endpoint("v1", "configmaps", "ConfigMap", True)
_USUAL = {
    **dict.fromkeys(("secrets", "secret"), _SECRETS),
    **dict.fromkeys(("configmaps", "configmap", "cm"), _CONFIG_MAPS),
}


async def find_parent(reader: APIReader, text: str, find: FindEndpoint) -> tuple[Endpoint, ParentReference] | None:
    """Return the endpoint of an ApplySet's parent, None if its kind is not served. Raises CannotPlan."""
    reference = parse_reference(text)
    endpoint = _USUAL.get(reference.resource) if not reference.group else None
    if endpoint is None:
        endpoint = await Resources(reader, EFFECT).find_resource(reference.resource, reference.group)
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
    resources = Resources(reader, EFFECT)
    endpoints = [await resources.find_kind(kind) for kind in split_kinds(annotations) or ()]
    endpoints += [await resources.find_resource(*resource) for resource in split_resources(annotations)]
    namespaces = sorted(split_namespaces(annotations, applyset.namespace))
    labels = f"{PART_OF}={applyset.id}"
    served = dict.fromkeys(filter(None, endpoints))
    members = [
        obj
        for endpoint, namespace, obj in await reader.try_lists(served, namespaces, labels, effect=EFFECT)
        if (endpoint.resource, namespace, obj["metadata"]["name"]) not in in_set
    ]
    baseline.objects += members
    if members:
        baseline.objects += await fetch_dependents(reader, members)


def _is_parent(obj: Object, applyset: ApplySet) -> bool:
    metadata, parent = obj["metadata"], applyset.parent
    identity = (obj["apiVersion"].rpartition("/")[0], obj["kind"], metadata.get("namespace") or "", metadata["name"])
    kind = GroupKind(parent.api_version.rpartition("/")[0], parent.kind)
    return bool(identity == (*kind, applyset.namespace, applyset.name))
