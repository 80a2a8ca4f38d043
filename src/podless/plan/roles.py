"""Reads the roles and bindings of a user on a running API."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from podless.plan.baseline import Baseline
from podless.plan.reader import APIReader, ReadFailed
from podless.plan.requests import ActingUser, Endpoint
from podless.plan.result import UnreadPart
from podless.runtime.jsonobject import Object

_VERSION = "rbac.authorization.k8s.io/v1"
_CLUSTER_WIDE = (
    Endpoint(_VERSION, "clusterroles", "ClusterRole", False),
    Endpoint(_VERSION, "clusterrolebindings", "ClusterRoleBinding", False),
)
_NAMESPACED = (Endpoint(_VERSION, "roles", "Role", True), Endpoint(_VERSION, "rolebindings", "RoleBinding", True))
_EFFECT = "every write is planned as if the user were allowed to make it"


async def fetch_roles(reader: APIReader, baseline: Baseline, acting: ActingUser, namespaces: Sequence[str]) -> None:
    """Read all roles and bindings that can give a user rights in namespaces.

    If some cannot be read, a binding allows the user everything.
    """
    collections = [(endpoint, "") for endpoint in _CLUSTER_WIDE]
    collections += [(endpoint, namespace) for endpoint in _NAMESPACED for namespace in namespaces]

    async def list_roles(endpoint: Endpoint, namespace: str) -> bool:
        try:
            listed = await reader.list_objects(endpoint, namespace)
        except ReadFailed as error:
            in_namespace = f" in namespace {namespace}" if namespace else ""
            reader.missing.append(UnreadPart(f"{endpoint.resource}{in_namespace}", str(error), _EFFECT))
            return False
        baseline.objects += listed or []
        if not namespace and listed is not None:
            baseline.complete.append(endpoint)
        return True

    if not all(await asyncio.gather(*(list_roles(*collection) for collection in collections))):
        baseline.objects.append(_allow_everything(acting))


def _allow_everything(acting: ActingUser) -> Object:
    group = "rbac.authorization.k8s.io"
    return {
        "apiVersion": _VERSION,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "podless:plan", "uid": "podless-plan", "creationTimestamp": "1970-01-01T00:00:00Z"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": acting.name}],
    }
